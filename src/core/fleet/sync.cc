#include "core/fleet/sync.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/action/dispatch.h"
#include "core/action/signals.h"
#include "core/action/transitions.h"
#include "core/fleet/reports.h"

namespace muster::core {
namespace {

void arm_timer(Step& step, const AgentName& name, const Session& session) {
  Timestamp next = session.last_heard + step.state.options.heartbeat_deadline;
  if (session.next_sync.is_set()) next = std::min(next, session.next_sync);
  step.state.agent_timers.set(name, next);
}

void set_state(Step& step, const AgentPtr& agent, AgentState state, std::string reason) {
  Agent next = *agent;
  next.state = state;
  next.state_reason = std::move(reason);
  next.state_since = step.now;
  step.put_agent(std::move(next), "agent.state");
}

void go_offline(Step& step, const AgentName& name, const std::string& reason) {
  if (const Session* session = step.state.agents.session_of(name)) {
    Agent next = *step.state.agents.find(name);
    next.last_seen = session->last_heard;
    step.state.agents.put(std::make_shared<const Agent>(std::move(next)));
  }
  step.state.agents.close(name);
  step.state.agent_timers.clear(name);
  if (planted(step.state.options.bug, Bug::LostOnUnreachable)) {
    for (const auto& [seq, id] : std::map(step.state.actions.of_agent(name))) {
      const ActionPtr action = step.state.actions.find(id);
      if (is_on_agent(action->status)) finish(step, *action, Status::Lost, reason);
    }
  }
  set_state(step, step.state.agents.find(name), AgentState::Offline, reason);
}

void begin_sync(Step& step, Session& session) {
  session.syncing = true;
  session.seen.clear();
  ++session.sync;
  step.send(session.id, SendSyncRequest{session.sync});
}

// The agent's view is complete: what it should know and does not is lost or sent (again); what it
// knows and was asked to do is asked again.
void complete_sync(Step& step, const AgentName& name) {
  Session& session = *step.state.agents.session_of(name);
  const std::set<ActionId> seen = std::move(session.seen);
  session.seen.clear();
  session.syncing = false;
  session.ready = true;
  session.next_sync = step.now + step.state.options.sync_interval;
  arm_timer(step, name, session);

  const std::string journal = step.state.agents.find(name)->identity.journal_id;
  const auto queue = step.state.actions.of_agent(name);
  for (const auto& [seq, id] : queue) {
    const ActionPtr action = step.state.actions.find(id);
    if (!action) continue;
    if (seen.contains(id)) {
      resend_control(step, *action);
      continue;
    }
    switch (action->status) {
      case Status::New:
      case Status::Running:
      case Status::Suspended:
        finish(step, *action, Status::Lost, fmt::format("agent '{}' no longer knows it", name));
        break;
      case Status::PendingSchedule:
        if (action->control == Signal::Cancel) {
          finish(step, *action, Status::Cancelled, action->control_reason);
        } else if (action->sent && action->sent_journal != journal) {
          // It may have run and been forgotten: sending it again could run it twice.
          finish(step, *action, Status::Lost,
                 fmt::format("agent '{}' lost its journal after it was sent", name));
        } else {
          send_to_agent(step, action);
        }
        break;
      default:
        break;
    }
  }
}

bool identity_changed(const Agent& agent, const AgentIdentity& identity) {
  return !(agent.identity == identity);
}

}  // namespace

void handle_connected(Step& step, const AgentConnected& connected) {
  const AgentName& name = connected.identity.name;
  AgentTable& agents = step.state.agents;
  const AgentPtr known = agents.find(name);
  if (!known && agents.size() >= step.state.options.agents_max) {
    step.send(connected.session,
              CloseSession{
                  fmt::format("there are {} agents already, which is the limit", agents.size())});
    return;
  }
  if (const Session* current = agents.session_of(name)) {
    if (known->identity.journal_id != connected.identity.journal_id) {
      step.send(connected.session,
                CloseSession{fmt::format(
                    "the name '{}' is used by another agent that is online (on host '{}')", name,
                    known->identity.facts.hostname)});
      return;
    }
    step.send(current->id, CloseSession{"replaced by a newer connection of the same agent"});
  }
  Session& session = agents.open(name, connected.session);
  session.last_heard = step.now;
  arm_timer(step, name, session);

  Agent next = known ? *known : Agent{};
  if (!known) next.registered_at = step.now;
  const bool changed = !known || identity_changed(*known, connected.identity);
  const bool was_online = known && known->state == AgentState::Online;
  next.identity = connected.identity;
  next.last_seen = step.now;
  next.state = AgentState::Online;
  if (!was_online) next.state_since = step.now;
  next.state_reason = known && known->identity.journal_id != connected.identity.journal_id
                          ? "connected with a new journal; what it knew before is gone"
                          : "connected";
  if (changed || !was_online) {
    step.put_agent(std::move(next), known ? "agent.state" : "agent.registered");
  }
}

void handle_disconnected(Step& step, const AgentDisconnected& disconnected) {
  const AgentName name = step.state.agents.agent_of(disconnected.session);
  if (name.empty()) return;
  go_offline(step, name, fmt::format("disconnected: {}", disconnected.reason));
}

void handle_heartbeat(Step& step, const AgentHeartbeat& heartbeat) {
  const AgentName name = step.state.agents.agent_of(heartbeat.session);
  if (name.empty()) return;
  // The timer is not moved on every beat: when it fires it looks at last_heard.
  Session& session = *step.state.agents.session_of(name);
  session.last_heard = step.now;
  if (session.problem == heartbeat.problem) return;
  if (session.problem.empty() || heartbeat.problem.empty()) {
    session.problem_since = heartbeat.problem.empty() ? Timestamp{} : step.now;
  }
  session.problem = heartbeat.problem;
  Agent next = *step.state.agents.find(name);
  next.last_seen = step.now;
  next.state_reason = heartbeat.problem.empty()
                          ? "connected; it can work again"
                          : fmt::format("connected, but it cannot work: {}", heartbeat.problem);
  step.put_agent(std::move(next), "agent.state");
}

void handle_report(Step& step, const AgentReport& report) {
  const AgentName name = step.state.agents.agent_of(report.session);
  if (name.empty()) return;
  step.state.agents.session_of(name)->last_heard = step.now;
  std::vector<AgentAction> unknown;
  apply_agent_action(step, name, report.session, report.action, unknown);
  look_up_unknown(step, name, report.session, std::move(unknown));
}

void handle_sync_page(Step& step, const AgentSyncPage& page) {
  const AgentName name = step.state.agents.agent_of(page.session);
  if (name.empty()) return;
  Session& session = *step.state.agents.session_of(name);
  session.last_heard = step.now;
  if (!session.syncing || page.sync != session.sync) return;
  std::vector<AgentAction> unknown;
  for (const AgentAction& action : page.actions) {
    apply_agent_action(step, name, page.session, action, unknown);
    // An agent that still tells of an older attempt does not have the current one. What is not
    // known here counts as seen: it may be adopted before the last page comes.
    const ActionPtr known = step.state.actions.find(action.id);
    if (!known || action.attempt >= known->attempt) session.seen.insert(action.id);
  }
  look_up_unknown(step, name, page.session, std::move(unknown));
  if (page.last) complete_sync(step, name);
}

void handle_refresh(Step& step, const RefreshRequest& request) {
  std::vector<AgentName> names;
  if (request.agent.empty()) {
    names = step.state.agents.online_names();
  } else {
    const AgentPtr agent = step.state.agents.find(request.agent);
    if (!agent) {
      step.reply(request.request,
                 Error{ErrorCode::NotFound, fmt::format("no agent is called '{}'", request.agent)});
      return;
    }
    if (step.state.agents.session_of(request.agent) == nullptr) {
      step.reply(
          request.request,
          Error{ErrorCode::Conflict,
                fmt::format("agent '{}' is {} since {}; it syncs when it connects", request.agent,
                            core::name(agent->state), format_rfc3339(agent->state_since))});
      return;
    }
    names.push_back(request.agent);
  }
  for (const AgentName& name : names) {
    Session& session = *step.state.agents.session_of(name);
    if (!session.syncing) begin_sync(step, session);
    const AgentPtr agent = step.state.agents.find(name);
    step.append_event(Event{.seq = 0,
                            .at = {},
                            .type = "agent.sync",
                            .subject = name,
                            .name = {},
                            .kind = {},
                            .target = {},
                            .status = std::string(core::name(agent->state)),
                            .reason = "refresh asked",
                            .actor = request.who,
                            .revision = agent->revision});
  }
  step.effects.replies.push_back({request.request, RefreshReply{std::move(names)}});
}

void handle_agent_timer(Step& step, const AgentName& name) {
  const AgentPtr agent = step.state.agents.find(name);
  if (!agent) return;
  Session* session = step.state.agents.session_of(name);
  if (session == nullptr) {
    if (agent->state == AgentState::Unknown) {
      set_state(step, agent, AgentState::Offline, "has not connected since the controller started");
    }
    return;
  }
  if (session->last_heard + step.state.options.heartbeat_deadline <= step.now) {
    const std::string reason =
        fmt::format("nothing heard for {}", format_age(step.now - session->last_heard));
    step.send(session->id, CloseSession{reason});
    go_offline(step, name, reason);
    return;
  }
  if (session->next_sync.is_set() && session->next_sync <= step.now) {
    session->next_sync = step.now + step.state.options.sync_interval;
    if (!session->syncing) begin_sync(step, *session);
  }
  arm_timer(step, name, *session);
}

}  // namespace muster::core
