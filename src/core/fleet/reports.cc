#include "core/fleet/reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/action/transitions.h"
#include "core/fleet/sync.h"

namespace muster::core {
namespace {

void acknowledge(Step& step, SessionId session, const AgentAction& told) {
  step.send(session, SendAck{told.id, told.attempt});
}

// The controller has given this execution up; the agent should too.
void stop_on_agent(Step& step, SessionId session, const AgentAction& told,
                   const std::string& reason) {
  if (is_final(told.status)) {
    acknowledge(step, session, told);
  } else {
    step.send(session, SendSignal{told.id, told.attempt, Signal::Cancel, reason});
  }
}

void report_conflict(Step& step, const AgentAction& told, const std::string& reason) {
  step.append_event(Event{.seq = 0,
                          .at = {},
                          .type = "action.conflict",
                          .subject = told.id.to_string(),
                          .name = told.name,
                          .kind = told.kind,
                          .target = {},
                          .status = std::string(name(told.status)),
                          .reason = reason,
                          .actor = {},
                          .revision = 0});
}

std::shared_ptr<const ActionSpec> adopted_spec(Step& step, const AgentName& agent,
                                               const AgentAction& told) {
  auto spec = std::make_shared<ActionSpec>();
  spec->id = told.id;
  spec->seq = ++step.state.last_action_seq;
  spec->name = told.name.empty() ? fmt::format("{}-{}", told.kind, told.id.short_id()) : told.name;
  spec->kind = told.kind;
  spec->target = agent;
  spec->side = Side::Agent;
  spec->origin = told.origin;
  spec->requested_by = told.requested_by;
  spec->inputs = told.inputs;
  spec->timeout = told.timeout.is_zero() ? step.state.options.default_timeout : told.timeout;
  spec->queue_timeout = step.state.options.default_queue_timeout;
  spec->created_at = told.created_at.is_set() ? told.created_at : step.now;
  return spec;
}

// The agent tells of an action of its own that is not the one in this record, under the same id.
bool is_another(const ActionSpec& spec, const AgentAction& told) {
  if (told.origin != Origin::Agent) return false;
  return spec.origin != Origin::Agent || spec.kind != told.kind || spec.inputs != told.inputs;
}

// The agent has an action of its own under an id that the controller uses too: the agent wins.
void take_over(Step& step, Action& action, const AgentAction& told) {
  ActionSpec spec = *action.spec;
  spec.origin = Origin::Agent;
  spec.kind = told.kind;
  spec.name = told.name.empty() ? spec.name : told.name;
  spec.inputs = told.inputs;
  spec.requested_by = told.requested_by;
  if (!told.timeout.is_zero()) spec.timeout = told.timeout;
  // What the controller's own request waited for is not what the agent's action waits for.
  spec.retry = {};
  spec.interval = {};
  spec.not_before = {};
  spec.not_after = {};
  spec.approval.reset();
  spec.depends_on.clear();
  action.depends_on_left.clear();
  action.deadline = step.now + spec.queue_timeout;
  // The agent counts from 1 again, but what this id has executed must not start a second time.
  action.attempt_floor = std::max(action.attempt_floor, action.attempt);
  action.attempt = told.attempt;
  action.tries = 0;
  action.runs = 0;
  action.spec = std::make_shared<const ActionSpec>(std::move(spec));
  report_conflict(step, told, "the agent has an action of its own with this id; the agent wins");
}

Timestamp execution_deadline(const Step& step, const Action& action) {
  return action.start_time + action.spec->timeout + step.state.options.overrun_grace;
}

void told_running(Step& step, Action next, const AgentAction& told) {
  measure_wait(step, next);
  const bool resumed = next.status == Status::Suspended;
  next.start_time = told.start_time.is_set() ? told.start_time : step.now;
  next.stop_time = {};
  next.status = Status::Running;
  next.status_reason = fmt::format("executing on agent '{}'", next.spec->target);
  // Time in suspension does not count against the timeout.
  next.deadline =
      resumed ? next.deadline + (step.now - next.suspended_since) : execution_deadline(step, next);
  next.suspended_since = {};
  if (next.control == Signal::Resume) {
    next.control = Signal::None;
    next.control_reason.clear();
  }
  const EventNote note{.type = "action.status"};
  step.put(std::move(next), &note);
}

void told_suspended(Step& step, Action next, const AgentAction& told) {
  if (next.status != Status::Running) {
    next.start_time = told.start_time.is_set() ? told.start_time : step.now;
    next.deadline = execution_deadline(step, next);
  }
  next.status = Status::Suspended;
  next.suspended_since = step.now;
  next.status_reason = next.control == Signal::Suspend ? next.control_reason : "suspended";
  if (next.control == Signal::Suspend) {
    next.control = Signal::None;
    next.control_reason.clear();
  }
  const EventNote note{.type = "action.status"};
  step.put(std::move(next), &note);
}

void told_new(Step& step, Action next) {
  next.status = Status::New;
  next.status_reason = fmt::format("in the queue of agent '{}'", next.spec->target);
  const EventNote note{.type = "action.status"};
  step.put(std::move(next), &note);
}

// An unfinished record takes what the agent says.
void follow(Step& step, Action next, SessionId session, const AgentAction& told, bool changed) {
  // Whatever the controller believed, this attempt is on the agent.
  const AgentPtr agent = step.state.agents.find(next.spec->target);
  next.sent = true;
  next.sent_journal = agent->identity.journal_id;
  next.owner = next.spec->target;
  next.next_try = {};
  switch (told.status) {
    case Status::New:
      if (changed || next.status == Status::PendingSchedule) told_new(step, std::move(next));
      return;
    case Status::Running:
      if (changed || next.status != Status::Running) told_running(step, std::move(next), told);
      return;
    case Status::Suspended:
      if (changed || next.status != Status::Suspended) told_suspended(step, std::move(next), told);
      return;
    case Status::Succeeded:
    case Status::Failed:
    case Status::Cancelled:
      execution_ended(step, next,
                      {.result = told.result,
                       .reason = told.reason,
                       .outputs = told.outputs,
                       .start_time = told.start_time,
                       .stop_time = told.stop_time});
      acknowledge(step, session, told);
      return;
    default:
      return;
  }
}

void adopt(Step& step, const AgentName& agent, SessionId session, const AgentAction& told) {
  if (told.kind.empty()) {
    // A bare report of something nobody knows. If it is unfinished, the next sync brings the rest.
    if (is_final(told.status)) acknowledge(step, session, told);
    return;
  }
  Action action;
  action.spec = adopted_spec(step, agent, told);
  action.attempt = told.attempt;
  action.status = Status::PendingSchedule;
  action.deadline = step.now + action.spec->queue_timeout;
  const EventNote note{.type = "action.created",
                       .actor = told.requested_by,
                       .reason = fmt::format("adopted from agent '{}'", agent)};
  const ActionPtr adopted = step.put(std::move(action), &note);
  follow(step, *adopted, session, told, true);
}

// The history knows it: it has ended.
void settle_with_history(Step& step, SessionId session, const AgentAction& told,
                         const ActionPtr& recorded) {
  const bool overwritten = planted(step.state.options.bug, Bug::FinalStatusOverwritten);
  // Another action under the id of a lost one says nothing of that one's outcome.
  if ((recorded->status != Status::Lost && !overwritten) || recorded->attempt != told.attempt ||
      is_another(*recorded->spec, told)) {
    stop_on_agent(step, session, told, "the controller has recorded its end already");
    return;
  }
  // A lost action that is still running is left alone until it ends; then its outcome counts.
  if (!is_final(told.status)) return;
  Action next = *recorded;
  if (overwritten) next.status = Status::Lost;
  ++next.revision;
  next.outputs = told.outputs;
  if (told.start_time.is_set()) next.start_time = told.start_time;
  if (told.stop_time.is_set()) next.stop_time = told.stop_time;
  finish(step, next, told.status,
         told.reason.empty() ? "found again after it was lost"
                             : fmt::format("found again after it was lost: {}", told.reason));
  acknowledge(step, session, told);
}

}  // namespace

void apply_agent_action(Step& step, const AgentName& agent, SessionId session,
                        const AgentAction& told, std::vector<AgentAction>& unknown) {
  const ActionPtr action = step.state.actions.find(told.id);
  if (!action) {
    unknown.push_back(told);
    return;
  }
  if (action->spec->side != Side::Agent || action->spec->target != agent) {
    report_conflict(
        step, told,
        fmt::format("agent '{}' reports an action with an id that belongs to {} on '{}'", agent,
                    describe(*action), action->spec->target));
    if (is_final(told.status)) acknowledge(step, session, told);
    return;
  }
  Action next = *action;
  bool changed = false;
  const bool conflict = is_another(*next.spec, told);
  if (conflict && !planted(step.state.options.bug, Bug::AgentLosesOnConflict)) {
    take_over(step, next, told);
    changed = true;
  }
  if (told.attempt < next.attempt) {
    stop_on_agent(step, session, told, "a newer attempt has replaced it");
    return;
  }
  if (told.attempt > next.attempt) {
    next.attempt = told.attempt;
    changed = true;
  }
  follow(step, std::move(next), session, told, changed);
}

void look_up_unknown(Step& step, const AgentName& agent, SessionId session,
                     std::vector<AgentAction> unknown) {
  State& state = step.state;
  Lookup effect;
  PendingReports pending{agent, session, {}};
  for (AgentAction& told : unknown) {
    // A second report of the same action joins the first, so that they are settled in order.
    const auto asked = state.reports_in_lookup.find(told.id);
    if (asked != state.reports_in_lookup.end()) {
      auto* earlier = std::get_if<PendingReports>(&state.lookups.at(asked->second));
      if (earlier->session == session) {
        earlier->actions.push_back(std::move(told));
        continue;
      }
    }
    if (effect.lookup == 0) effect.lookup = ++state.last_lookup;
    state.reports_in_lookup[told.id] = effect.lookup;
    effect.ids.push_back(told.id);
    pending.actions.push_back(std::move(told));
  }
  if (effect.lookup == 0) return;
  state.lookups.emplace(effect.lookup, std::move(pending));
  step.effects.lookups.push_back(std::move(effect));
}

void resume_reports(Step& step, LookupId lookup, const PendingReports& pending,
                    const std::vector<ActionPtr>& found) {
  for (const AgentAction& told : pending.actions) {
    const auto asked = step.state.reports_in_lookup.find(told.id);
    if (asked != step.state.reports_in_lookup.end() && asked->second == lookup) {
      step.state.reports_in_lookup.erase(asked);
    }
  }
  // If the agent is gone or has a new session, its next sync tells all of this again.
  if (step.state.agents.agent_of(pending.session) != pending.agent) return;
  for (const AgentAction& told : pending.actions) {
    if (step.state.actions.find(told.id)) {
      std::vector<AgentAction> unknown;
      apply_agent_action(step, pending.agent, pending.session, told, unknown);
      continue;
    }
    ActionPtr recorded = step.written(told.id);  // it ended a moment ago, in this very step
    for (const ActionPtr& action : found) {
      if (!recorded && action->id() == told.id) recorded = action;
    }
    if (recorded) {
      settle_with_history(step, pending.session, told, recorded);
    } else {
      adopt(step, pending.agent, pending.session, told);
    }
  }
}

}  // namespace muster::core
