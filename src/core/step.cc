#include "base/check.h"
#include "core/state.h"

namespace muster::core {
namespace {

// When this action must be looked at next.
Timestamp timer_of(const Action& action, const EngineOptions& options, Timestamp now) {
  // The deadline of the execution stands still meanwhile, and is moved on when it resumes.
  if (action.status == Status::Suspended) return action.suspended_since + options.suspend_max;
  const bool waits_for_time =
      action.status == Status::Ready || (action.status == Status::PendingSchedule && !action.sent);
  if (waits_for_time && action.next_try > now) return action.next_try;
  if (planted(options.bug, Bug::DeadlineForgotten) && action.spec->side == Side::Agent) return {};
  return action.deadline;
}

}  // namespace

bool occupies_worker(const Action& action) {
  return action.spec->side == Side::Engine && !action.owner.empty() &&
         (action.status == Status::Running || action.status == Status::Suspended);
}

ActionPtr Step::put(Action next, const EventNote* note) {
  const ActionPtr old = state.actions.find(next.id());
  if (old) {
    next.revision = old->revision + 1;
    if (old->status != next.status) next.status_since = now;
  } else {
    next.status_since = now;
  }
  next.updated_at = now;
  auto action = std::make_shared<const Action>(std::move(next));

  // The tables that follow from status are kept in step here and nowhere else.
  if (old && occupies_worker(*old)) --state.jobs_running;
  if (occupies_worker(*action)) ++state.jobs_running;
  state.actions.put(action);
  arm(action);
  if (action->is_final()) {
    ended.push_back(action);
    if (!state.lookups.empty()) state.recently_ended.add(state.last_lookup, action);
  }

  const auto [written, first] = written_.emplace(action->id(), effects.writes.size());
  if (first) {
    effects.writes.push_back(PutAction{action});
  } else {
    effects.writes[written->second] = PutAction{action};
  }

  if (note != nullptr) {
    append_event(Event{.seq = 0,
                       .at = {},
                       .type = std::string(note->type),
                       .subject = action->id().to_string(),
                       .name = action->spec->name,
                       .kind = action->spec->kind,
                       .target = action->spec->target,
                       .status = std::string(name(action->status)),
                       .reason = note->reason.empty() ? action->status_reason : note->reason,
                       .actor = note->actor,
                       .revision = action->revision});
  }
  return action;
}

void Step::arm(const ActionPtr& action) {
  const auto place = std::make_pair(action->spec->seq, action->id());
  state.ready.erase(place);
  if (action->status == Status::Ready && action->next_try <= now) state.ready.insert(place);
  if (action->is_final()) {
    state.action_timers.clear(action->id());
  } else {
    state.action_timers.set(action->id(), timer_of(*action, state.options, now));
  }
}

void Step::put_agent(Agent next, std::string_view event_type, std::string_view actor) {
  const AgentPtr old = state.agents.find(next.identity.name);
  next.revision = old ? old->revision + 1 : 1;
  auto agent = std::make_shared<const Agent>(std::move(next));
  state.agents.put(agent);
  effects.writes.push_back(PutAgent{agent});
  append_event(Event{.seq = 0,
                     .at = {},
                     .type = std::string(event_type),
                     .subject = agent->identity.name,
                     .name = {},
                     .kind = {},
                     .target = {},
                     .status = std::string(name(agent->state)),
                     .reason = agent->state_reason,
                     .actor = std::string(actor),
                     .revision = agent->revision});
}

ActionPtr Step::written(const ActionId& id) const {
  const auto found = written_.find(id);
  return found == written_.end() ? nullptr
                                 : std::get<PutAction>(effects.writes[found->second]).action;
}

void Step::refresh_replies() {
  const auto refresh = [this](ActionPtr& action) {
    if (ActionPtr latest = written(action->id())) action = std::move(latest);
  };
  for (Reply& reply : effects.replies) {
    if (auto* one = std::get_if<ActionReply>(&reply.body)) refresh(one->action);
    if (auto* many = std::get_if<SubmitReply>(&reply.body)) {
      for (ActionPtr& action : many->actions) refresh(action);
    }
  }
}

void Step::append_event(Event event) {
  event.seq = ++state.last_event_seq;
  event.at = now;
  effects.writes.push_back(AppendEvent{std::move(event)});
}

}  // namespace muster::core
