#include "core/action/dispatch.h"

#include <fmt/format.h>

#include "base/check.h"
#include "core/action/approvals.h"
#include "core/action/signals.h"
#include "core/action/transitions.h"
#include "core/kind/catalog.h"

namespace muster::core {
namespace {

// A repeated action that comes too late by a whole interval has missed its run. True: it was moved
// to its next nominal time and must not start now.
bool skip_missed_run(Step& step, const Action& action) {
  const ActionSpec& spec = *action.spec;
  if (spec.interval.is_zero() || spec.misfire != Misfire::Skip || action.tries > 0) return false;
  if (!action.next_try.is_set() || step.now < action.next_try + spec.interval) return false;
  Action next = action;
  next.next_try = next_nominal(spec, step.now);
  next.status_reason = fmt::format("missed its run at {}; next run at {}",
                                   format_rfc3339(action.next_try), format_rfc3339(next.next_try));
  const EventNote note{.type = "action.run"};
  make_dispatchable(step, std::move(next), &note);
  return true;
}

bool past_last_start(const Action& action, Timestamp now) {
  return action.spec->not_after.is_set() && now > action.spec->not_after;
}

void end_past_last_start(Step& step, const Action& action) {
  finish(
      step, action, action.runs > 0 ? Status::Succeeded : Status::Failed,
      fmt::format("not started before its stop time {}", format_rfc3339(action.spec->not_after)));
}

void start_job(Step& step, const Action& action) {
  measure_wait(step, action);
  Action next = action;
  next.status = Status::Running;
  next.status_reason = "executing on the controller";
  next.owner = step.state.options.instance_id;
  next.start_time = step.now;
  next.stop_time = {};
  next.next_try = {};
  // The worker enforces the timeout itself; this deadline only catches one that does not answer.
  next.deadline = step.now + next.spec->timeout + Duration::seconds(5);
  const EventNote note{.type = "action.status"};
  const ActionPtr started = step.put(std::move(next), &note);
  step.effects.jobs.push_back(StartJob{started});
}

std::string queue_timeout_reason(const Step& step, const Action& action) {
  const std::string limit = format_duration(action.spec->queue_timeout);
  if (action.spec->side == Side::Engine) {
    return fmt::format("not started within {}: no worker was free", limit);
  }
  const AgentPtr agent = step.state.agents.find(action.spec->target);
  if (!agent || agent->state != AgentState::Online) {
    return fmt::format("not started within {}: agent '{}' is {}", limit, action.spec->target,
                       agent ? name(agent->state) : "not known");
  }
  return fmt::format("not started within {}: still waiting on agent '{}'", limit,
                     action.spec->target);
}

void tell_agent_to_stop(Step& step, const Action& action, const std::string& reason) {
  const Session* session = step.state.agents.session_of(action.spec->target);
  if (action.spec->side != Side::Agent || session == nullptr || !session->ready) return;
  step.send(session->id, SendSignal{action.id(), action.attempt, Signal::Cancel, reason});
}

void execution_overran(Step& step, const Action& action) {
  const std::string reason =
      fmt::format("timed out after {}", format_duration(action.spec->timeout));
  const AgentPtr agent = step.state.agents.find(action.spec->target);
  const bool away = action.spec->side == Side::Agent && agent && agent->state != AgentState::Online;
  if (action.spec->side == Side::Engine) {
    step.effects.jobs.push_back(SignalJob{action.id(), action.attempt, Signal::Cancel});
  }
  tell_agent_to_stop(step, action, reason);
  execution_ended(step, action,
                  {.result = ExecuteResult::Timeout,
                   .reason = away ? fmt::format("{}; agent '{}' has been {} since {}", reason,
                                                agent->identity.name, name(agent->state),
                                                format_rfc3339(agent->state_since))
                                  : reason,
                   .outputs = action.outputs,
                   .start_time = {},
                   .stop_time = {}});
}

void dispatch_deadline_passed(Step& step, const Action& action) {
  const std::string reason = queue_timeout_reason(step, action);
  if (action.sent) tell_agent_to_stop(step, action, reason);
  execution_ended(step, action,
                  {.result = ExecuteResult::Timeout,
                   .reason = reason,
                   .outputs = action.outputs,
                   .start_time = {},
                   .stop_time = {}});
}

}  // namespace

void start_ready_jobs(Step& step) {
  State& state = step.state;
  while (state.jobs_running < state.options.workers && !state.ready.empty()) {
    const auto place = *state.ready.begin();
    const ActionPtr action = state.actions.find(place.second);
    MUSTER_CHECK(action && action->status == Status::Ready, "{} is in the ready queue",
                 place.second.to_string());
    if (past_last_start(*action, step.now)) {
      end_past_last_start(step, *action);
    } else if (!skip_missed_run(step, *action)) {
      start_job(step, *action);
    }
  }
}

void send_to_agent(Step& step, const ActionPtr& action) {
  const Session* session = step.state.agents.session_of(action->spec->target);
  if (session == nullptr || !session->ready || action->next_try > step.now) return;
  if (!action->sent) {
    if (past_last_start(*action, step.now)) {
      end_past_last_start(step, *action);
      return;
    }
    if (skip_missed_run(step, *action)) return;
  }
  const AgentPtr agent = step.state.agents.find(action->spec->target);
  ActionPtr sent = action;
  if (!action->sent || action->sent_journal != agent->identity.journal_id) {
    Action next = *action;
    next.sent = true;
    next.sent_journal = agent->identity.journal_id;
    next.owner = agent->identity.name;
    sent = step.put(std::move(next), nullptr);
  }
  // Not before a moment has passed: zero would mean that there is no limit.
  const Duration left = std::max(sent->deadline - step.now, Duration::millis(1));
  step.send(session->id, SendSchedule{sent, sent->deadline.is_set() ? left : Duration{}});
}

void send_dispatchable(Step& step) {
  // Only what this step touched can have become dispatchable: everything else was sent before, or
  // waits for its timer or its agent.
  for (std::size_t i = 0; i < step.effects.writes.size(); ++i) {
    const auto* put = std::get_if<PutAction>(&step.effects.writes[i]);
    if (put == nullptr) continue;
    const ActionPtr action = put->action;
    if (action->status == Status::PendingSchedule && !action->sent) send_to_agent(step, action);
  }
}

void handle_job_done(Step& step, const JobDone& done) {
  const ActionPtr action = step.state.actions.find(done.id);
  // A job that was given up, or of an attempt that is over, has nothing to say any more.
  if (!action || action->spec->side != Side::Engine || action->attempt != done.attempt ||
      (action->status != Status::Running && action->status != Status::Suspended)) {
    return;
  }
  execution_ended(step, *action,
                  {.result = done.result,
                   .reason = done.reason,
                   .outputs = done.outputs,
                   .start_time = {},
                   .stop_time = {}});
}

void handle_job_status(Step& step, const JobStatus& status) {
  const ActionPtr action = step.state.actions.find(status.id);
  if (!action || action->spec->side != Side::Engine || action->attempt != status.attempt) return;
  const Status wanted = status.suspended ? Status::Suspended : Status::Running;
  const Status from = status.suspended ? Status::Running : Status::Suspended;
  if (action->status != from) return;
  Action next = *action;
  next.status = wanted;
  if (status.suspended) {
    next.suspended_since = step.now;
    next.status_reason = action->control_reason;
  } else {
    // Time in suspension does not count against the timeout.
    next.deadline = next.deadline + (step.now - next.suspended_since);
    next.suspended_since = {};
    next.status_reason = "executing on the controller";
  }
  const Signal answered = status.suspended ? Signal::Suspend : Signal::Resume;
  if (next.control == answered) {
    next.control = Signal::None;
    next.control_reason.clear();
  }
  const EventNote note{.type = "action.status"};
  step.put(std::move(next), &note);
}

void handle_action_timer(Step& step, const ActionId& id) {
  const ActionPtr action = step.state.actions.find(id);
  if (!action) return;
  const bool deadline_passed = action->deadline.is_set() && action->deadline <= step.now;
  switch (action->status) {
    case Status::Init:
      if (deadline_passed) {
        finish(step, *action, Status::Cancelled,
               fmt::format("held for {} without being released",
                           format_duration(action->spec->queue_timeout)));
      }
      return;
    case Status::PendingApprove:
      if (deadline_passed) approval_expired(step, *action);
      return;
    case Status::Ready:
    case Status::PendingSchedule:
    case Status::New:
      if (deadline_passed) {
        dispatch_deadline_passed(step, *action);
      } else {
        // Its start time has come; putting it again moves it to the ready queue or its agent.
        step.put(Action(*action), nullptr);
      }
      return;
    case Status::Running:
      if (deadline_passed) execution_overran(step, *action);
      return;
    case Status::Suspended:
      if (action->suspended_since + step.state.options.suspend_max <= step.now) {
        cancel(step, *action,
               fmt::format("suspended for {}", format_duration(step.state.options.suspend_max)), {},
               true);
      }
      return;
    case Status::Waiting:
    case Status::WaitingLifecycleCompletion:
    case Status::Succeeded:
    case Status::Failed:
    case Status::Cancelled:
    case Status::Lost:
      return;
  }
}

void recover_job(Step& step, const ActionPtr& action) {
  const KindInfo* kind = KindCatalog::find(action->spec->kind);
  if (action->control == Signal::Cancel) {
    finish(step, *action, Status::Cancelled, action->control_reason);
    return;
  }
  if (kind != nullptr && kind->resumable && action->status == Status::Suspended) {
    Action next = *action;
    next.attempt = next.next_attempt();
    next.owner.clear();
    next.status_reason = "suspended when the controller restarted; RESUME starts it again";
    step.put(std::move(next), nullptr);
    return;
  }
  if (kind != nullptr && kind->resumable) {
    Action next = *action;
    next.attempt = next.next_attempt();
    next.control = Signal::None;
    next.control_reason.clear();
    next.owner.clear();
    next.suspended_since = {};
    next.next_try = {};
    next.status_reason = "the controller restarted; it starts again";
    const EventNote note{.type = "action.status"};
    make_dispatchable(step, std::move(next), &note);
    return;
  }
  execution_ended(
      step, *action,
      {.result = ExecuteResult::Error,
       .reason = fmt::format("the controller restarted while it ran; kind '{}' cannot be resumed",
                             action->spec->kind),
       .outputs = action->outputs,
       .start_time = {},
       .stop_time = {}});
}

}  // namespace muster::core
