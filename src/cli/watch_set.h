#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "cli/exit_code.h"

namespace muster::cli {

// One awaited action as far as it is known.
struct WatchedAction {
  std::string id;
  std::string name;
  std::string kind;
  std::string target;
  std::string status;  // "UNKNOWN": the controller no longer knows it
  std::string reason;
  std::string control;
  std::int64_t revision = 0;
  Timestamp created_at;
  Timestamp start_time;
  Timestamp stop_time;
  Json document;  // the last full answer; null before one came

  bool is_final() const;
  // Of the execution where there was one, else since it was created.
  Duration elapsed(Timestamp now) const;
  std::string label() const;  // the name, or the kind and the short id
};

// The awaited actions, in the order in which they were asked for, kept up to date from snapshots
// and events. What is older than what is known changes nothing, so the two may overlap in any way;
// an action that has ended stays as it is.
class WatchSet {
 public:
  // From an answer of the API, full or slim. Adds the action if it is new. Answers with the action
  // where something a person would see has changed, else null. The pointer lives until the next
  // action is added.
  const WatchedAction* apply_snapshot(const Json& action);
  const WatchedAction* apply_event(const Json& event);
  const WatchedAction* mark_unknown(std::string_view id);

  const std::vector<WatchedAction>& actions() const { return actions_; }
  std::vector<std::string> unfinished_ids() const;
  bool all_final() const;
  // Some action needs approval and every unfinished one waits, for that or for a dependency.
  bool stuck_at_approval() const;
  Tally tally() const;

 private:
  WatchedAction* find(const std::string& id);

  std::vector<WatchedAction> actions_;
  std::map<std::string, std::size_t> index_;  // by id
};

}  // namespace muster::cli
