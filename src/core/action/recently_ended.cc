#include "core/action/recently_ended.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace muster::core {
namespace {

// The same question, quick to answer for one action after the other.
class Question {
 public:
  explicit Question(const Lookup& asked)
      : ids_(asked.ids.begin(), asked.ids.end()),
        names_(asked.names.begin(), asked.names.end()),
        prefixes_(asked.prefixes) {}

  bool is_about(const Action& action) const {
    if (ids_.contains(action.id()) || names_.contains(action.spec->name)) return true;
    if (prefixes_.empty()) return false;
    const std::string id = action.id().to_string();
    return std::any_of(prefixes_.begin(), prefixes_.end(),
                       [&](const std::string& prefix) { return id.starts_with(prefix); });
  }

 private:
  const std::unordered_set<ActionId> ids_;
  const std::unordered_set<std::string> names_;
  const std::vector<std::string>& prefixes_;
};

}  // namespace

void RecentlyEnded::forget_before(LookupId oldest) {
  while (!ended_.empty() && ended_.front().newest < oldest) ended_.pop_front();
}

void RecentlyEnded::complete(const Lookup& asked, std::vector<ActionPtr>& found) const {
  if (ended_.empty()) return;
  std::unordered_map<ActionId, std::vector<std::size_t>> places;  // one may be found twice
  for (std::size_t i = 0; i < found.size(); ++i) places[found[i]->id()].push_back(i);
  const Question question(asked);
  for (const Entry& entry : ended_) {
    if (!question.is_about(*entry.action)) continue;
    std::vector<std::size_t>& known = places[entry.action->id()];
    if (known.empty()) {
      known.push_back(found.size());
      found.push_back(entry.action);
    }
    for (const std::size_t place : known) {
      if (found[place]->revision < entry.action->revision) found[place] = entry.action;
    }
  }
}

}  // namespace muster::core
