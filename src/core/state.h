#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/action/action_table.h"
#include "core/action/recently_ended.h"
#include "core/effects.h"
#include "core/engine.h"
#include "core/fleet/agent_table.h"
#include "core/idempotency.h"
#include "core/input.h"
#include "core/model/model_state.h"
#include "core/timers.h"

// What the parts of the engine share: the tables, and the step that is under way. Each part is a
// set of functions over a Step; none keeps state of its own elsewhere.

namespace muster::core {

// What goes on when the store has answered a Lookup.
struct PendingReports {
  AgentName agent;
  SessionId session = 0;
  std::vector<AgentAction> actions;
};
// A submission and what the store was asked for it so far.
struct PendingSubmit {
  Submit submit;
  Lookup asked;
};
using Continuation = std::variant<PendingSubmit, PendingReports>;

struct State {
  EngineOptions options;
  ActionTable actions;
  AgentTable agents;
  IdempotencyTable idempotency;
  Timers<ActionId> action_timers;
  Timers<AgentName> agent_timers;
  std::set<std::pair<std::uint64_t, ActionId>> ready;  // engine actions that are due
  std::size_t jobs_running = 0;
  std::map<LookupId, Continuation> lookups;
  LookupId last_lookup = 0;
  RecentlyEnded recently_ended;  // what the answers to the lookups may not have yet
  std::map<ActionId, LookupId> reports_in_lookup;  // so that one id is asked for once at a time
  std::optional<ModelState> model;                 // nothing: it has no types
  std::map<std::uint64_t, PlanRecordPtr> plans;    // by number
  std::uint64_t last_plan = 0;
  std::uint64_t last_action_seq = 0;
  std::uint64_t last_event_seq = 0;
};

// An engine action that a worker of this controller holds. One without an owner was suspended when
// a former controller died: it waits for RESUME and holds nothing.
bool occupies_worker(const Action& action);

// What an event says beyond the action itself.
struct EventNote {
  std::string_view type;
  std::string actor = {};
  std::string reason = {};  // empty: the action's status_reason
};

// One step: time stands still, effects pile up. An action that changes several times in a step is
// written once, as it stands at the end.
class Step {
 public:
  Step(State& state_in, Timestamp now_in) : state(state_in), now(now_in) {}

  // Makes `next` the current version of an action: stamps revision and times, sets its timer,
  // writes it, and appends an event if there is a note. The old version is what the table has; a
  // final one may only be replaced if it was Lost.
  ActionPtr put(Action next, const EventNote* note);
  // Sets the timer of an action and puts it in the ready queue or takes it out, as its state says.
  void arm(const ActionPtr& action);
  void put_agent(Agent next, std::string_view event_type, std::string_view actor = {});
  void append_event(Event event);

  template <typename Message>
  void send(SessionId session, Message message) {
    effects.sends.push_back({session, std::move(message)});
  }
  void reply(RequestId request, Error error) {
    effects.replies.push_back({request, std::move(error)});
  }

  // The version that this step leaves behind. Null: the step did not touch it.
  ActionPtr written(const ActionId& id) const;
  // Brings the actions in replies up to what this step leaves behind.
  void refresh_replies();

  State& state;
  const Timestamp now;
  Effects effects;
  // Actions that ended in this step; their dependents are settled before the step is over.
  std::vector<ActionPtr> ended;

 private:
  std::unordered_map<ActionId, std::size_t> written_;  // index into effects.writes
};

}  // namespace muster::core
