#include "core/action/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/action/explainer.h"
#include "core/action/transitions.h"

namespace muster::core {
namespace {

std::string since_text(Timestamp since, Timestamp now) {
  return since.is_set() ? fmt::format(" for {}", format_age(now - since)) : "";
}

class Explainer {
 public:
  Explainer(const State& state, const ActionPtr& action, Timestamp now)
      : state_(state), action_(*action), now_(now) {
    result_.action = action;
    result_.next_try = action->next_try > now ? action->next_try : Timestamp{};
    result_.deadline = action->deadline;
  }

  Explanation run() {
    switch (action_.status) {
      case Status::Init:
        hold();
        break;
      case Status::PendingApprove:
        approval();
        break;
      case Status::Waiting:
        dependencies();
        break;
      case Status::Ready:
        worker();
        break;
      case Status::PendingSchedule:
        agent();
        break;
      case Status::New:
        queue();
        break;
      case Status::Running:
        execution();
        break;
      case Status::Suspended:
        suspension();
        break;
      case Status::WaitingLifecycleCompletion:
        result_.summary = "waiting for its lifecycle hook to be completed";
        break;
      case Status::Succeeded:
      case Status::Failed:
      case Status::Cancelled:
      case Status::Lost:
        result_.summary = "ended: " + action_.status_reason;
        break;
    }
    control();
    return std::move(result_);
  }

 private:
  // `since` is when what is waited for began to stand like that.
  void block(std::string what, std::string subject, std::string detail, Timestamp since,
             Timestamp until = {}) {
    result_.blockers.push_back(
        {std::move(what), std::move(subject), std::move(detail), since, until});
  }

  void hold() {
    result_.summary = "held by its requester";
    result_.deadline_effect = "it is cancelled";
    block("hold", action_.spec->requested_by, "RESUME releases it", action_.status_since);
  }

  void approval() {
    const auto& policy = *action_.spec->approval;
    result_.summary = fmt::format("has {} of {} approvals", action_.decisions.size(), policy.count);
    result_.deadline_effect = "the approval expires and it is cancelled";
    block("approval", "",
          policy.allow_requester
              ? fmt::format("{} more", policy.count - action_.decisions.size())
              : fmt::format("{} more, from somebody other than {}",
                            policy.count - action_.decisions.size(), action_.spec->requested_by),
          action_.status_since, action_.deadline);
  }

  void dependencies() {
    result_.summary = fmt::format("waiting for {} of {} dependencies",
                                  action_.depends_on_left.size(), action_.spec->depends_on.size());
    constexpr std::size_t kShown = 20;
    for (const ActionId& id : action_.depends_on_left) {
      if (result_.blockers.size() == kShown) break;
      const ActionPtr dependency = state_.actions.find(id);
      if (!dependency) {
        block("dependency", id.to_string(), "its record cannot be read", action_.status_since);
        continue;
      }
      block("dependency", id.to_string(),
            fmt::format("{} is {}{}: {}", describe(*dependency), name(dependency->status),
                        since_text(dependency->status_since, now_), dependency->status_reason),
            dependency->status_since);
    }
  }

  bool waits_for_time() {
    if (action_.next_try <= now_) return false;
    const bool retry = action_.tries > 0;
    result_.summary =
        fmt::format("{} in {}", retry ? "next try" : "starts", format_age(action_.next_try - now_));
    block(retry ? "retry" : "start_time", "", action_.status_reason, action_.status_since,
          action_.next_try);
    return true;
  }

  void worker() {
    result_.deadline_effect = "it fails: not started in time";
    if (waits_for_time()) return;
    result_.summary = "waiting for a free worker";
    block("worker", "",
          fmt::format("{} of {} workers are busy, {} actions are ready", state_.jobs_running,
                      state_.options.workers, state_.ready.size()),
          std::max(action_.status_since, action_.next_try));
  }

  void agent() {
    result_.deadline_effect = "it fails: not started in time";
    if (waits_for_time()) return;
    const AgentPtr agent = state_.agents.find(action_.spec->target);
    const Session* session = state_.agents.session_of(action_.spec->target);
    if (!agent || session == nullptr) {
      const std::string detail =
          agent ? fmt::format("agent '{}' is {}{}: {}", action_.spec->target, name(agent->state),
                              since_text(agent->state_since, now_), agent->state_reason)
                : fmt::format("agent '{}' is not known", action_.spec->target);
      result_.summary = action_.sent ? detail + "; the action was sent and may have reached it"
                                     : detail + "; it is sent when the agent connects";
      block("agent", action_.spec->target, detail,
            agent ? agent->state_since : action_.status_since);
      return;
    }
    if (!session->problem.empty()) {
      result_.summary = trouble(*session);
      block("agent", action_.spec->target, result_.summary, session->problem_since);
      return;
    }
    result_.summary = session->ready ? "sent; the agent has not confirmed it yet"
                                     : "the agent has connected and is telling what it knows";
    // The last change of a record that was sent is the sending.
    block("agent", action_.spec->target, result_.summary,
          session->ready ? action_.updated_at : agent->state_since);
  }

  std::string trouble(const Session& session) const {
    return fmt::format("agent '{}' is connected but cannot work{}: {}", action_.spec->target,
                       since_text(session.problem_since, now_), session.problem);
  }

  void queue() {
    result_.deadline_effect = "it fails: not started in time";
    std::size_t position = 1;
    ActionPtr running;
    for (const auto& [seq, id] : state_.actions.of_agent(action_.spec->target)) {
      const ActionPtr other = state_.actions.find(id);
      if (other->status == Status::Running || other->status == Status::Suspended) running = other;
      if (seq < action_.spec->seq && other->status == Status::New) ++position;
    }
    result_.summary =
        fmt::format("number {} in the queue of agent '{}'", position, action_.spec->target);
    block("queue", running ? running->id().to_string() : action_.spec->target,
          running ? fmt::format("{} is {}{}", describe(*running), name(running->status),
                                since_text(running->status_since, now_))
                  : "the agent is about to start the next one",
          running ? running->status_since : action_.status_since);
    away();
  }

  void execution() {
    result_.summary = fmt::format("executing{}", since_text(action_.start_time, now_));
    result_.deadline_effect = "it is stopped and fails: timed out";
    block("execution", action_.owner, action_.status_reason, action_.start_time, action_.deadline);
    away();
  }

  void suspension() {
    result_.summary = fmt::format("suspended{}", since_text(action_.suspended_since, now_));
    result_.deadline = action_.suspended_since + state_.options.suspend_max;
    result_.deadline_effect = "it is cancelled";
    block("signal", "RESUME", "RESUME lets it go on", action_.suspended_since, result_.deadline);
    away();
  }

  // What the controller shows may be out of date while the agent is away, or cannot write down what
  // happens.
  void away() {
    if (action_.spec->side != Side::Agent) return;
    const Session* session = state_.agents.session_of(action_.spec->target);
    if (session != nullptr && !session->problem.empty()) {
      result_.summary += "; " + trouble(*session);
      block("agent", action_.spec->target, trouble(*session), session->problem_since);
    }
    const AgentPtr agent = state_.agents.find(action_.spec->target);
    if (!agent || agent->state == AgentState::Online) return;
    const std::string detail =
        fmt::format("agent '{}' is {}{}; this is what it last told", agent->identity.name,
                    name(agent->state), since_text(agent->state_since, now_));
    result_.summary += "; " + detail;
    block("agent", agent->identity.name, detail, agent->state_since);
  }

  void control() {
    if (action_.control == Signal::None) return;
    const bool reachable = action_.spec->side == Side::Engine ||
                           state_.agents.session_of(action_.spec->target) != nullptr;
    const std::string detail =
        reachable ? fmt::format("{}; waiting for the process to obey", action_.control_reason)
                  : fmt::format("{}; queued until agent '{}' connects", action_.control_reason,
                                action_.spec->target);
    block("signal", std::string(name(action_.control)), detail, action_.updated_at);
    result_.summary += "; " + detail;
  }

  const State& state_;
  const Action& action_;
  const Timestamp now_;
  Explanation result_;
};

}  // namespace

Explanation explain(const State& state, const ActionPtr& action, Timestamp now) {
  return Explainer(state, action, now).run();
}

}  // namespace muster::core
