#pragma once

#include <string>

#include "core/state.h"

// The moves of the action state machine that several parts make. Whatever changes an action's
// status goes through here or through a handler that switches over every status.

namespace muster::core {

// Approvals, dependencies and hold are behind it: Ready or PendingSchedule, now or at next_try.
// `note` may be null where the caller reports the change itself.
void make_dispatchable(Step& step, Action action, const EventNote* note);

// What follows when nothing holds the action back but its approval and dependencies.
void enter_after_hold(Step& step, Action action, const EventNote& note);
void enter_after_approval(Step& step, Action action, const EventNote& note);

// A final status. Dependents are settled at the end of the step.
void finish(Step& step, const Action& action, Status status, std::string reason,
            const std::string& actor = {});

// How one execution ended.
struct ExecutionEnd {
  ExecuteResult result = ExecuteResult::Ok;
  std::string reason;
  JsonText outputs = "{}";
  Timestamp start_time;  // unset: as recorded
  Timestamp stop_time;   // unset: now
};

// Maps the result: a retry, the next run of a repeated action, or a final status.
void execution_ended(Step& step, const Action& action, const ExecutionEnd& end);

// To be called with an action that is about to run: how long it waited for that.
void measure_wait(Step& step, const Action& action);

// Wakes or ends what depended on the actions that ended in this step, and cancels what derived from
// those that were cancelled, until nothing more follows.
void settle_ended(Step& step);

// The next nominal time of a repeated action, strictly after `after`.
Timestamp next_nominal(const ActionSpec& spec, Timestamp after);

// "exec-7 (1b2c3d4e)".
std::string describe(const Action& action);

}  // namespace muster::core
