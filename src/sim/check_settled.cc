#include "sim/check_settled.h"

#include <fmt/format.h>

namespace muster::sim {
namespace {

constexpr std::size_t kShownMax = 5;

}  // namespace

std::vector<std::string> unsettled(const RecordView& records,
                                   const std::vector<JournalView>& journals,
                                   const std::set<std::size_t>& gone) {
  std::vector<std::string> left;
  for (const auto& [id, action] : records.all()) {
    if (action->is_final()) continue;
    if (left.size() < kShownMax) {
      left.push_back(fmt::format("action {} ({} on '{}') is {}: {}", id.to_string(),
                                 action->spec->kind, action->spec->target,
                                 core::name(action->status), action->status_reason));
    }
  }
  for (std::size_t agent = 0; agent < journals.size(); ++agent) {
    if (gone.contains(agent)) continue;
    for (const auto& [id, entry] : journals[agent].all()) {
      if (entry->is_final() && entry->acked) continue;
      if (left.size() < kShownMax) {
        left.push_back(fmt::format("action {} is {} in the journal of agent {}{}", id.to_string(),
                                   core::name(entry->status), agent,
                                   entry->is_final() ? " and not acknowledged" : ""));
      }
    }
  }
  return left;
}

}  // namespace muster::sim
