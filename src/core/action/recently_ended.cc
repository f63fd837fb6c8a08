#include "core/action/recently_ended.h"

#include <algorithm>

namespace muster::core {
namespace {

bool is_asked_for(const Lookup& asked, const Action& action) {
  const auto has = [](const auto& list, const auto& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  if (has(asked.ids, action.id()) || has(asked.names, action.spec->name)) return true;
  if (asked.prefixes.empty()) return false;
  const std::string id = action.id().to_string();
  return std::any_of(asked.prefixes.begin(), asked.prefixes.end(),
                     [&](const std::string& prefix) { return id.starts_with(prefix); });
}

}  // namespace

void RecentlyEnded::forget_before(LookupId oldest) {
  while (!ended_.empty() && ended_.front().newest < oldest) ended_.pop_front();
}

void RecentlyEnded::complete(const Lookup& asked, std::vector<ActionPtr>& found) const {
  for (const Entry& entry : ended_) {
    if (!is_asked_for(asked, *entry.action)) continue;
    bool is_known = false;
    for (ActionPtr& other : found) {
      if (other->id() != entry.action->id()) continue;
      is_known = true;
      if (other->revision < entry.action->revision) other = entry.action;
    }
    if (!is_known) found.push_back(entry.action);
  }
}

}  // namespace muster::core
