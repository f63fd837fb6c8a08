#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/planted_bug.h"
#include "base/result.h"
#include "base/time.h"
#include "core/action/explain.h"
#include "core/effects.h"
#include "core/input.h"
#include "core/model/model_state.h"

namespace muster::core {

struct EngineOptions {
  std::string instance_id;  // owner of the engine actions that run here
  Duration default_timeout = Duration::seconds(3600);
  Duration default_queue_timeout = Duration::days(1);
  Duration overrun_grace = Duration::seconds(90);  // beyond a timeout that the agent should enforce
  Duration suspend_max = Duration::days(1);
  Duration heartbeat_deadline = Duration::seconds(15);
  Duration unknown_deadline = Duration::seconds(60);  // after a start; then Offline
  Duration sync_interval = Duration::minutes(5);
  Duration idempotency_for = Duration::days(1);
  std::size_t workers = 32;             // engine actions at once
  std::size_t actions_max = 2'000'000;  // live
  std::size_t batch_max = 10'000;       // actions of one request
  std::size_t idempotency_max = 1'000'000;
  std::size_t agents_max = 100'000;
  model::SchemaPtr schema = nullptr;  // of the model; null: there is no model
  std::size_t model_items_max = 2'000'000;
  std::size_t model_revisions_max = 1000;  // kept
  std::size_t plans_max = 100;             // kept
  Bug bug = Bug::None;                     // for tests of the simulator
};

struct EngineStats {
  std::vector<std::pair<Status, std::size_t>> live_by_status;
  std::size_t agents_online = 0;
  std::size_t agents_offline = 0;
  std::size_t agents_unknown = 0;
  std::size_t jobs_running = 0;
  std::uint64_t last_event = 0;
};

// The controller's decisions: a deterministic state machine. One input in, effects out; the same
// state and input always give the same effects. It has no thread, clock, randomness or I/O and is
// owned by one thread of the shell.
//
// The engine only wires its parts together; each part has its own files:
//   action/action_table   live actions and their indexes
//   action/transitions    every change of an action's status goes through here
//   action/dependency_graph, action/submission, action/dispatch, action/signals, action/approvals
//   fleet/agent_table, fleet/sync
//   model/model_edits     the deployment model
//   timers, idempotency, events
//
// Start: restore_*() every record, then start() once, then step().
class Engine {
 public:
  explicit Engine(EngineOptions options);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  void restore_action(ActionPtr action);
  void restore_agent(AgentPtr agent);
  void restore_idempotency(PutIdempotency record);
  void restore_model(RestoredModel model);
  void restore_plan(PlanRecordPtr plan);
  void restore_event_seq(std::uint64_t last);
  void restore_action_seq(std::uint64_t last);

  // Settles what the last controller left: engine actions that ran are resumed or failed, agents
  // are unknown until they connect, timers are set again.
  Effects start(Timestamp now);
  Effects step(Timestamp now, const Input& input);

  // When a Tick is due at the latest.
  std::optional<Timestamp> next_deadline() const;

  // Null: not live (it may be in the history).
  ActionPtr find_action(const ActionId& id) const;
  AgentPtr find_agent(const AgentName& name) const;
  std::vector<AgentPtr> agents() const;  // by name
  // Live actions of an agent that have not ended, in queue order.
  std::vector<ActionPtr> agent_queue(const AgentName& name, std::size_t limit) const;
  // The session of an agent that is online.
  std::optional<SessionId> session_of(const AgentName& name) const;
  std::optional<ModelView> model() const;
  // Null: there is none.
  PlanRecordPtr find_plan(std::uint64_t number) const;
  std::vector<PlanRecordPtr> plans() const;  // newest first
  std::optional<Explanation> explain(const ActionId& id, Timestamp now) const;
  EngineStats stats() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace muster::core
