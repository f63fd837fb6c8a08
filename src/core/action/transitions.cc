#include "core/action/transitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "core/action/signals.h"

namespace muster::core {
namespace {

Status dispatchable_status(const ActionSpec& spec) {
  return spec.side == Side::Engine ? Status::Ready : Status::PendingSchedule;
}

std::string reason_of(const ExecutionEnd& end) {
  if (!end.reason.empty()) return end.reason;
  switch (end.result) {
    case ExecuteResult::Ok:
      return "completed";
    case ExecuteResult::Error:
      return "failed without a reason";
    case ExecuteResult::Retry:
      return "asked to be tried again";
    case ExecuteResult::Cancel:
      return "cancelled";
    case ExecuteResult::Timeout:
      return "timed out";
  }
  return {};
}

// How many executions one run may have when they end like this.
std::uint32_t attempts_allowed(const Action& action, ExecuteResult result) {
  // Whoever asked for the end of the action does not want another try, and a timeout always ends
  // it.
  if (action.control == Signal::Cancel) return 1;
  switch (result) {
    case ExecuteResult::Error:
      return action.spec->retry.attempts;
    case ExecuteResult::Retry:
      return action.spec->retry.attempts > 1 ? action.spec->retry.attempts : kRetryAnswerAttempts;
    case ExecuteResult::Ok:
    case ExecuteResult::Cancel:
    case ExecuteResult::Timeout:
      return 1;
  }
  return 1;
}

// Puts the action back to the start of its way, as a new attempt.
void start_over(Action& action) {
  action.attempt = action.next_attempt();
  action.sent = false;
  action.sent_journal.clear();
  action.owner.clear();
  action.control = Signal::None;
  action.control_reason.clear();
  action.suspended_since = {};
}

// The reason of the end, with what only the controller knows: who asked for it and why, or that the
// tries are used up.
std::string describe_end(const Action& action, const ExecutionEnd& end, std::uint32_t allowed) {
  const std::string reason = reason_of(end);
  const bool repeated = !action.spec->interval.is_zero();  // says who cancelled it by itself
  if (end.result == ExecuteResult::Cancel && action.control == Signal::Cancel && !repeated) {
    if (reason.find(action.control_reason) != std::string::npos) return reason;
    return end.reason.empty() ? action.control_reason
                              : fmt::format("{}; {}", action.control_reason, reason);
  }
  if (allowed > 1 && action.tries >= allowed) {
    return fmt::format("{}; given up after {} attempts", reason, action.tries);
  }
  return reason;
}

void measure_execution(Step& step, const Action& action, ExecuteResult result) {
  if (!action.start_time.is_set() || action.stop_time < action.start_time) return;
  step.effects.measurements.push_back({.what = Measurement::What::Execution,
                                       .kind = action.spec->kind,
                                       .duration = action.stop_time - action.start_time,
                                       .result = result});
}

bool repeats_again(const Action& action, const ExecutionEnd& end, Timestamp next) {
  if (action.spec->interval.is_zero() || end.result == ExecuteResult::Cancel ||
      action.control == Signal::Cancel) {
    return false;
  }
  return !action.spec->not_after.is_set() || next <= action.spec->not_after;
}

// When the run after this one starts: at the next nominal time, or at once if one was missed and
// the action wants it made up for.
Timestamp next_run_at(const Action& action, Timestamp now) {
  const ActionSpec& spec = *action.spec;
  const Timestamp began = action.start_time.is_set() ? action.start_time : action.next_try;
  if (spec.misfire == Misfire::RunOnce && next_nominal(spec, began) <= now) return now;
  return next_nominal(spec, now);
}

void dependency_succeeded(Step& step, const Action& dependent, const ActionId& dependency) {
  Action next = dependent;
  std::erase(next.depends_on_left, dependency);
  if (next.depends_on_left.empty() && next.status == Status::Waiting) {
    const EventNote note{.type = "action.status"};
    next.status_reason = "all dependencies succeeded";
    make_dispatchable(step, std::move(next), &note);
    return;
  }
  if (next.status == Status::Waiting) {
    next.status_reason = fmt::format("waiting for {} of {} dependencies",
                                     next.depends_on_left.size(), next.spec->depends_on.size());
  }
  step.put(std::move(next), nullptr);
}

void dependency_ended_badly(Step& step, const Action& dependent, const Action& dependency) {
  // The reason names the dependency and its own reason, so that the cause of a long chain can be
  // read at its end.
  const std::string what = dependency.status == Status::Cancelled ? "was cancelled"
                           : dependency.status == Status::Lost    ? "was lost"
                                                                  : "failed";
  const std::string root = dependency.status_reason.starts_with("dependency ")
                               ? dependency.status_reason
                               : fmt::format("dependency {} {}: {}", describe(dependency), what,
                                             dependency.status_reason);
  finish(step, dependent,
         dependency.status == Status::Cancelled ? Status::Cancelled : Status::Failed, root);
}

}  // namespace

std::string describe(const Action& action) {
  return fmt::format("{} ({})", action.spec->name, action.id().short_id());
}

void measure_wait(Step& step, const Action& action) {
  const bool waited = action.status == Status::Ready || action.status == Status::PendingSchedule ||
                      action.status == Status::New;
  if (!waited || !action.deadline.is_set()) return;
  // The deadline counts from the moment when it became dispatchable.
  const Timestamp due = action.deadline - action.spec->queue_timeout;
  if (due > step.now) return;
  step.effects.measurements.push_back(
      {.what = Measurement::What::Wait, .kind = action.spec->kind, .duration = step.now - due});
}

Timestamp next_nominal(const ActionSpec& spec, Timestamp after) {
  const Timestamp base = spec.not_before.is_set() ? spec.not_before : spec.created_at;
  if (after < base) return base;
  const std::int64_t passed = (after - base).us / spec.interval.us;
  return base + spec.interval * (passed + 1);
}

void make_dispatchable(Step& step, Action action, const EventNote* note) {
  const ActionSpec& spec = *action.spec;
  action.status = dispatchable_status(spec);
  const Timestamp due = std::max(action.next_try, step.now);
  action.deadline = due + spec.queue_timeout;
  if (action.next_try > step.now) {
    action.status_reason = action.status_reason.empty()
                               ? fmt::format("starts at {}", format_rfc3339(action.next_try))
                               : action.status_reason;
  }
  step.put(std::move(action), note);
}

void enter_after_approval(Step& step, Action action, const EventNote& note) {
  if (!action.depends_on_left.empty()) {
    action.status = Status::Waiting;
    action.deadline = {};
    action.status_reason =
        fmt::format("waiting for {} of {} dependencies", action.depends_on_left.size(),
                    action.spec->depends_on.size());
    step.put(std::move(action), &note);
    return;
  }
  make_dispatchable(step, std::move(action), &note);
}

void enter_after_hold(Step& step, Action action, const EventNote& note) {
  if (action.spec->approval) {
    action.status = Status::PendingApprove;
    action.deadline = step.now + action.spec->approval->expires_in;
    action.status_reason = fmt::format("needs {} approval{}", action.spec->approval->count,
                                       action.spec->approval->count == 1 ? "" : "s");
    step.put(std::move(action), &note);
    return;
  }
  enter_after_approval(step, std::move(action), note);
}

void finish(Step& step, const Action& action, Status status, std::string reason,
            const std::string& actor) {
  MUSTER_CHECK(is_final(status), "finish with {}", name(status));
  MUSTER_CHECK(!action.is_final() || action.status == Status::Lost, "{} is {} already",
               describe(action), name(action.status));
  Action next = action;
  next.status = status;
  next.status_reason = std::move(reason);
  next.control = Signal::None;
  next.control_reason.clear();
  next.owner.clear();
  next.deadline = {};
  next.next_try = {};
  next.suspended_since = {};
  if (!next.stop_time.is_set() || next.stop_time < next.start_time) next.stop_time = step.now;
  const EventNote note{.type = "action.status", .actor = actor};
  step.put(std::move(next), &note);
}

void execution_ended(Step& step, const Action& action, const ExecutionEnd& end) {
  Action next = action;
  ++next.tries;
  next.outputs = end.outputs;
  if (end.start_time.is_set()) next.start_time = end.start_time;
  next.stop_time = end.stop_time.is_set() ? end.stop_time : step.now;
  const std::uint32_t allowed = attempts_allowed(next, end.result);
  const std::string reason = describe_end(next, end, allowed);
  // What was given up before it started has no duration; its times are of an earlier attempt.
  const bool ran = end.start_time.is_set() || action.status == Status::Running ||
                   action.status == Status::Suspended;
  if (ran) measure_execution(step, next, end.result);

  if (next.tries < allowed) {
    const Duration delay = next.spec->retry.backoff.delay(next.tries);
    next.next_try = step.now + delay;
    if (!next.spec->not_after.is_set() || next.next_try <= next.spec->not_after) {
      next.status_reason = fmt::format("attempt {} ended: {}; next try in {}", next.attempt, reason,
                                       format_duration(delay));
      step.effects.measurements.push_back(
          {.what = Measurement::What::Retry, .kind = next.spec->kind});
      start_over(next);
      const EventNote note{.type = "action.status"};
      make_dispatchable(step, std::move(next), &note);
      return;
    }
  }

  const Timestamp next_run =
      next.spec->interval.is_zero() ? Timestamp{} : next_run_at(next, step.now);
  if (repeats_again(next, end, next_run)) {
    ++next.runs;
    next.tries = 0;
    next.next_try = next_run;
    next.status_reason = fmt::format("run {} {}: {}; next run at {}", next.runs,
                                     end.result == ExecuteResult::Ok ? "succeeded" : "failed",
                                     reason, format_rfc3339(next_run));
    start_over(next);
    const EventNote note{.type = "action.run"};
    make_dispatchable(step, std::move(next), &note);
    return;
  }
  if (!next.spec->interval.is_zero()) {
    ++next.runs;
    if (next.control == Signal::Cancel) {
      // The run may have ended well, but it was the repetition that was cancelled.
      finish(step, next, Status::Cancelled,
             fmt::format("{}; the last run ended: {}", next.control_reason, reason));
      return;
    }
  }
  finish(step, next, final_status(end.result), reason);
}

void settle_ended(Step& step) {
  // Ending one action may end others; the list grows while it is walked.
  for (std::size_t i = 0; i < step.ended.size(); ++i) {
    const ActionPtr ended = step.ended[i];
    for (const ActionId& id : ended->depended_by) {
      const ActionPtr dependent = step.state.actions.find(id);
      if (!dependent) continue;
      const auto& left = dependent->depends_on_left;
      if (std::find(left.begin(), left.end(), ended->id()) == left.end()) continue;
      const bool released = planted(step.state.options.bug, Bug::DependentsReleasedOnFailure) &&
                            ended->status == Status::Failed;
      if (ended->status == Status::Succeeded || released) {
        dependency_succeeded(step, *dependent, ended->id());
      } else {
        dependency_ended_badly(step, *dependent, *ended);
      }
    }
    if (ended->status == Status::Cancelled) {
      for (const ActionPtr& child : step.state.actions.children(ended->id())) {
        cancel(step, *child, fmt::format("parent {} was cancelled", describe(*ended)), {}, false);
      }
    }
  }
  step.ended.clear();
}

}  // namespace muster::core
