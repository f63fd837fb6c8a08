#include "cli/watch_set.h"

#include <algorithm>

#include "cli/fields.h"

namespace muster::cli {
namespace {

constexpr std::string_view kUnknown = "UNKNOWN";

struct Seen {
  std::string status;
  std::string reason;
  std::string control;
};

bool differs(const WatchedAction& action, const Seen& seen) {
  return action.status != seen.status || action.reason != seen.reason ||
         action.control != seen.control;
}

}  // namespace

bool WatchedAction::is_final() const { return status == kUnknown || is_final_status(status); }

Duration WatchedAction::elapsed(Timestamp now) const {
  const Timestamp from = start_time.is_set() ? start_time : created_at;
  const Timestamp to = is_final() && stop_time.is_set() ? stop_time : now;
  if (!from.is_set() || to < from) return {};
  return to - from;
}

std::string WatchedAction::label() const { return name.empty() ? kind + "-" + short_id(id) : name; }

WatchedAction* WatchSet::find(const std::string& id) {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &actions_[found->second];
}

const WatchedAction* WatchSet::apply_snapshot(const Json& json) {
  const std::string id = json_text(json, "id");
  WatchedAction* action = find(id);
  const bool is_new = action == nullptr;
  if (is_new) {
    index_.emplace(id, actions_.size());
    actions_.emplace_back();
    action = &actions_.back();
    action->id = id;
  }
  const std::int64_t revision = json_int(json, "revision");
  if (!is_new && revision < action->revision) return nullptr;
  const Seen before{action->status, action->reason, action->control};
  action->revision = revision;
  action->name = json_text(json, "name");
  action->kind = json_text(json, "action");
  action->target = json_text(json, "target");
  action->status = json_text(json, "status");
  action->reason = json_text(json, "status_reason");
  action->control = json_text(json, "control");
  action->created_at = json_time(json, "created_at");
  action->start_time = json_time(json, "start_time");
  action->stop_time = json_time(json, "stop_time");
  action->document = json;
  return is_new || differs(*action, before) ? action : nullptr;
}

const WatchedAction* WatchSet::apply_event(const Json& event) {
  WatchedAction* action = find(json_text(event, "subject"));
  const std::string type = json_text(event, "type");
  if (action == nullptr || !type.starts_with("action.") || action->is_final()) return nullptr;
  const std::int64_t revision = json_int(event, "revision");
  if (revision < action->revision) return nullptr;
  const Seen before{action->status, action->reason, action->control};
  action->revision = revision;
  const std::string status = json_text(event, "status");
  const Timestamp at = json_time(event, "at");
  if (!status.empty() && status != action->status) {
    if (status == "RUNNING" && before.status != "SUSPENDED") action->start_time = at;
    if (is_final_status(status)) action->stop_time = at;
    action->status = status;
    action->reason = json_text(event, "reason");
  } else if (type == "action.status") {
    action->reason = json_text(event, "reason");
  }
  return differs(*action, before) ? action : nullptr;
}

const WatchedAction* WatchSet::mark_unknown(std::string_view id) {
  WatchedAction* action = find(std::string(id));
  if (action == nullptr || action->is_final()) return nullptr;
  action->status = kUnknown;
  action->reason = "the controller no longer knows this action";
  return action;
}

std::vector<std::string> WatchSet::unfinished_ids() const {
  std::vector<std::string> ids;
  for (const WatchedAction& action : actions_) {
    if (!action.is_final()) ids.push_back(action.id);
  }
  return ids;
}

bool WatchSet::all_final() const {
  return std::all_of(actions_.begin(), actions_.end(),
                     [](const WatchedAction& action) { return action.is_final(); });
}

bool WatchSet::stuck_at_approval() const {
  bool needs_approval = false;
  for (const WatchedAction& action : actions_) {
    if (action.is_final()) continue;
    if (action.status == "PENDING_APPROVE")
      needs_approval = true;
    else if (action.status != "WAITING")
      return false;
  }
  return needs_approval;
}

Tally WatchSet::tally() const {
  Tally tally;
  for (const WatchedAction& action : actions_) {
    if (action.status == "SUCCEEDED" || action.status == "DONE")
      ++tally.succeeded;
    else if (action.status == "FAILED")
      ++tally.failed;
    else if (action.status == "LOST")
      ++tally.lost;
    else if (action.status == "CANCELLED")
      ++tally.cancelled;
    else if (action.status == kUnknown)
      ++tally.unknown;
    else
      ++tally.unfinished;
  }
  return tally;
}

}  // namespace muster::cli
