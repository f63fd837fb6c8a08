#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "core/action/action.h"

namespace muster::core {

// One thing that an action waits for.
struct Blocker {
  std::string what;     // "dependency", "approval", "start_time", "retry", "worker", "agent",
                        // "queue", "signal", "hold", "execution"
  std::string subject;  // id or name of it
  std::string detail;   // for people
  Timestamp since;
  Timestamp until;  // when that wait ends by itself; unset: not by itself
};

// Why an action is not progressing, since when, what it waits for, and when it will next be tried
// or ended.
struct Explanation {
  ActionPtr action;
  std::string summary;
  std::vector<Blocker> blockers;
  Timestamp next_try;
  Timestamp deadline;
  std::string deadline_effect;  // what happens then
};

}  // namespace muster::core
