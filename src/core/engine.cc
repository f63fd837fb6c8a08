#include "core/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "core/action/approvals.h"
#include "core/action/dispatch.h"
#include "core/action/explainer.h"
#include "core/action/signals.h"
#include "core/action/submission.h"
#include "core/action/transitions.h"
#include "core/fleet/reports.h"
#include "core/fleet/sync.h"
#include "core/model/model_edits.h"
#include "core/plan/plans.h"
#include "core/state.h"

namespace muster::core {
namespace {

Lookup asked_by(const Continuation& continuation) {
  if (const auto* submit = std::get_if<PendingSubmit>(&continuation)) return submit->asked;
  Lookup asked;
  for (const AgentAction& told : std::get<PendingReports>(continuation).actions) {
    asked.ids.push_back(told.id);
  }
  return asked;
}

void handle_lookup_done(Step& step, const LookupDone& done) {
  State& state = step.state;
  const auto pending = state.lookups.find(done.lookup);
  if (pending == state.lookups.end()) return;
  const Continuation continuation = std::move(pending->second);
  state.lookups.erase(pending);
  std::vector<ActionPtr> found = done.found;
  state.recently_ended.complete(asked_by(continuation), found);
  if (state.lookups.empty()) {
    state.recently_ended.clear();
  } else {
    state.recently_ended.forget_before(state.lookups.begin()->first);
  }
  if (const auto* submit = std::get_if<PendingSubmit>(&continuation)) {
    resume_submit(step, *submit, found);
  } else {
    resume_reports(step, done.lookup, std::get<PendingReports>(continuation), found);
  }
}

// Timers that are due are handled with every input, so that a busy engine is never late.
void handle_due_timers(Step& step) {
  while (const auto id = step.state.action_timers.take_due(step.now)) {
    handle_action_timer(step, *id);
  }
  while (const auto name = step.state.agent_timers.take_due(step.now)) {
    handle_agent_timer(step, *name);
  }
  while (auto key =
             step.state.idempotency.take_expired(step.now, step.state.options.idempotency_max)) {
    step.effects.writes.push_back(DropIdempotency{std::move(*key)});
  }
}

struct Dispatcher {
  Step& step;

  void operator()(const Submit& input) const { handle_submit(step, input); }
  void operator()(const SignalRequest& input) const { handle_signal(step, input); }
  void operator()(const DecideRequest& input) const { handle_decision(step, input); }
  void operator()(const RefreshRequest& input) const { handle_refresh(step, input); }
  void operator()(const EditModel& input) const { handle_edit(step, input); }
  void operator()(const KeepPlan& input) const { handle_keep_plan(step, input); }
  void operator()(const RemovePlan& input) const { handle_remove_plan(step, input); }
  void operator()(const ModelAnswered& input) const { handle_answered(step, input); }
  void operator()(const RevisionsRead& input) const { handle_revisions_read(step, input); }
  void operator()(const AgentConnected& input) const { handle_connected(step, input); }
  void operator()(const AgentDisconnected& input) const { handle_disconnected(step, input); }
  void operator()(const AgentHeartbeat& input) const { handle_heartbeat(step, input); }
  void operator()(const AgentReport& input) const { handle_report(step, input); }
  void operator()(const AgentSyncPage& input) const { handle_sync_page(step, input); }
  void operator()(const JobDone& input) const { handle_job_done(step, input); }
  void operator()(const JobStatus& input) const { handle_job_status(step, input); }
  void operator()(const LookupDone& input) const { handle_lookup_done(step, input); }
  void operator()(const Tick&) const {}
};

// The record does not follow every heartbeat.
AgentPtr with_last_seen(const State& state, const AgentPtr& agent) {
  const Session* session = state.agents.session_of(agent->identity.name);
  if (session == nullptr) return agent;
  Agent current = *agent;
  current.last_seen = session->last_heard;
  return std::make_shared<const Agent>(std::move(current));
}

// A dependency that is left is live, because whatever ends settles its dependents with the same
// write. One that is not there had a record that could not be read: it never will succeed.
std::optional<ActionId> find_lost_dependency(const State& state, const Action& action) {
  for (const ActionId& id : action.depends_on_left) {
    if (!state.actions.find(id)) return id;
  }
  return std::nullopt;
}

// Follows every consequence to its end.
Effects conclude(Step& step) {
  do {
    settle_ended(step);
    send_dispatchable(step);
    start_ready_jobs(step);
  } while (!step.ended.empty());
  step.refresh_replies();
  return std::move(step.effects);
}

}  // namespace

struct Engine::Parts {
  State state;
};

Engine::Engine(EngineOptions options) : parts_(std::make_unique<Parts>()) {
  State& state = parts_->state;
  state.options = std::move(options);
  if (state.options.schema) {
    state.model.emplace(state.options.schema, model::empty_model(*state.options.schema));
  }
}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::restore_action(ActionPtr action) {
  State& state = parts_->state;
  state.last_action_seq = std::max(state.last_action_seq, action->spec->seq);
  if (occupies_worker(*action)) ++state.jobs_running;
  state.actions.put(action);
}

void Engine::restore_agent(AgentPtr agent) {
  Agent unknown = *agent;
  unknown.state = AgentState::Unknown;
  unknown.state_reason = "has not connected since the controller started";
  parts_->state.agents.put(std::make_shared<const Agent>(std::move(unknown)));
}

void Engine::restore_idempotency(PutIdempotency record) {
  if (planted(parts_->state.options.bug, Bug::KeyForgotten)) return;
  parts_->state.idempotency.put(record);
}

void Engine::restore_model(RestoredModel restored) {
  MUSTER_CHECK(parts_->state.model, "a model without its types");
  ModelState& state = *parts_->state.model;
  state.tree = std::move(restored.tree);
  state.revision = restored.revision;
  state.kept = std::move(restored.kept);
  state.migrated = std::move(restored.migrated);
  state.rewrite = std::move(restored.rewrite);
  state.pack_changes = std::move(restored.pack_changes);
}

void Engine::restore_plan(PlanRecordPtr plan) {
  State& state = parts_->state;
  state.last_plan = std::max(state.last_plan, plan->number);
  state.plans.insert_or_assign(plan->number, std::move(plan));
}

void Engine::restore_event_seq(std::uint64_t last) { parts_->state.last_event_seq = last; }

void Engine::restore_action_seq(std::uint64_t last) {
  parts_->state.last_action_seq = std::max(parts_->state.last_action_seq, last);
}

Effects Engine::start(Timestamp now) {
  Step step(parts_->state, now);
  start_model(step);
  for (const AgentPtr& agent : parts_->state.agents.all()) {
    Agent next = *agent;
    next.state_since = now;
    parts_->state.agents.put(std::make_shared<const Agent>(std::move(next)));
    parts_->state.agent_timers.set(agent->identity.name,
                                   now + parts_->state.options.unknown_deadline);
  }
  const std::vector<ActionPtr> live = parts_->state.actions.all();
  // Looked for before anything ends here, which leaves the table too.
  std::vector<std::pair<ActionPtr, ActionId>> orphans;
  for (const ActionPtr& action : live) {
    if (const auto lost = find_lost_dependency(parts_->state, *action)) {
      orphans.emplace_back(action, *lost);
    }
  }
  for (const ActionPtr& action : live) {
    if (occupies_worker(*action)) {
      recover_job(step, action);
    } else {
      step.arm(action);
    }
  }
  for (const auto& [action, lost] : orphans) {
    finish(step, *action, Status::Failed,
           fmt::format("dependency {}: its record cannot be read", lost.to_string()));
  }
  return conclude(step);
}

Effects Engine::step(Timestamp now, const Input& input) {
  Step step(parts_->state, now);
  // The input first: what has just ended or spoken up does not time out.
  std::visit(Dispatcher{step}, input);
  settle_ended(step);
  handle_due_timers(step);
  return conclude(step);
}

std::optional<Timestamp> Engine::next_deadline() const {
  std::optional<Timestamp> next;
  for (const auto& candidate :
       {parts_->state.action_timers.next(), parts_->state.agent_timers.next(),
        parts_->state.idempotency.next_expiry()}) {
    if (candidate && (!next || *candidate < *next)) next = candidate;
  }
  return next;
}

ActionPtr Engine::find_action(const ActionId& id) const { return parts_->state.actions.find(id); }

AgentPtr Engine::find_agent(const AgentName& name) const {
  const AgentPtr agent = parts_->state.agents.find(name);
  return agent ? with_last_seen(parts_->state, agent) : nullptr;
}

std::vector<AgentPtr> Engine::agents() const {
  std::vector<AgentPtr> result;
  for (const AgentPtr& agent : parts_->state.agents.all()) {
    result.push_back(with_last_seen(parts_->state, agent));
  }
  return result;
}

std::vector<ActionPtr> Engine::agent_queue(const AgentName& name, std::size_t limit) const {
  std::vector<ActionPtr> result;
  for (const auto& [seq, id] : parts_->state.actions.of_agent(name)) {
    if (result.size() == limit) break;
    result.push_back(parts_->state.actions.find(id));
  }
  return result;
}

std::optional<SessionId> Engine::session_of(const AgentName& name) const {
  const Session* session = parts_->state.agents.session_of(name);
  if (session == nullptr) return std::nullopt;
  return session->id;
}

std::optional<ModelView> Engine::model() const {
  if (!parts_->state.model) return std::nullopt;
  const ModelState& state = *parts_->state.model;
  return ModelView{*state.schema, state.tree, state.revision};
}

PlanRecordPtr Engine::find_plan(std::uint64_t number) const {
  const auto found = parts_->state.plans.find(number);
  return found == parts_->state.plans.end() ? nullptr : found->second;
}

std::vector<PlanRecordPtr> Engine::plans() const {
  std::vector<PlanRecordPtr> plans;
  for (auto each = parts_->state.plans.rbegin(); each != parts_->state.plans.rend(); ++each) {
    plans.push_back(each->second);
  }
  return plans;
}

std::optional<Explanation> Engine::explain(const ActionId& id, Timestamp now) const {
  const ActionPtr action = parts_->state.actions.find(id);
  if (!action) return std::nullopt;
  return core::explain(parts_->state, action, now);
}

EngineStats Engine::stats() const {
  EngineStats stats;
  for (auto status = Status::Init; status <= Status::WaitingLifecycleCompletion;
       status = static_cast<Status>(static_cast<int>(status) + 1)) {
    stats.live_by_status.emplace_back(status, parts_->state.actions.count(status));
  }
  for (const AgentPtr& agent : parts_->state.agents.all()) {
    switch (agent->state) {
      case AgentState::Online:
        ++stats.agents_online;
        break;
      case AgentState::Offline:
        ++stats.agents_offline;
        break;
      case AgentState::Unknown:
        ++stats.agents_unknown;
        break;
    }
  }
  stats.jobs_running = parts_->state.jobs_running;
  stats.last_event = parts_->state.last_event_seq;
  return stats;
}

}  // namespace muster::core
