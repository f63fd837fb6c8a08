#include "store/commit_group.h"

#include <string_view>
#include <unordered_set>
#include <variant>

#include "store/record_codec.h"

namespace muster::store {
namespace {

// Which writes of a batch are overwritten by a later one of the same record. Walks backwards.
class LastWrites {
 public:
  bool is_last(const core::Write& write) {
    if (const auto* action = std::get_if<core::PutAction>(&write)) {
      return actions_.insert(action->action->id()).second;
    }
    if (const auto* agent = std::get_if<core::PutAgent>(&write)) {
      return agents_.insert(agent->agent->identity.name).second;
    }
    if (const auto* item = std::get_if<core::PutItem>(&write)) {
      return items_.insert(item->path.text()).second;
    }
    return true;
  }

 private:
  std::unordered_set<Uuid> actions_;
  std::unordered_set<std::string_view> agents_;
  std::unordered_set<std::string_view> items_;
};

}  // namespace

Batch encode_group(Term term, const std::vector<Submission>& submissions) {
  std::vector<const core::Write*> kept;
  LastWrites last_writes;
  for (auto submission = submissions.rbegin(); submission != submissions.rend(); ++submission) {
    for (auto write = submission->writes.rbegin(); write != submission->writes.rend(); ++write) {
      if (last_writes.is_last(*write)) kept.push_back(&*write);
    }
  }
  Batch batch;
  batch.term = term;
  batch.records.reserve(kept.size());
  for (auto write = kept.rbegin(); write != kept.rend(); ++write) append(batch, **write);
  return batch;
}

bool can_be_retried(const Error& error) {
  return error.code == ErrorCode::StoreUnavailable || error.code == ErrorCode::Unavailable;
}

}  // namespace muster::store
