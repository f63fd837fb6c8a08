#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/agent/agent_io.h"
#include "core/effects.h"
#include "exec/executor.h"
#include "sim/check_acknowledged.h"
#include "sim/check_model.h"
#include "sim/check_runs.h"
#include "sim/views.h"
#include "store/store.h"

namespace muster::sim {

struct Violation {
  int promise = 0;  // of design.md, section 10
  std::string what;
};

// All checkers together. They stand apart from the system: they are told what can be observed at
// its edges, in the order in which it happens, and keep their own books. The first violation stays.
class Checks {
 public:
  // REQUIRES: before anything of an agent is told.
  void set_agents(std::size_t count) { journals_.resize(count); }

  // The controller's store has applied a batch; `highest` is the newest term given out.
  void on_batch(const store::Batch& batch, store::Term highest);
  // Effects leave a controller.
  void on_reply(const core::Reply& reply);
  void on_send(const std::string& agent, const core::AgentSend& send);
  void on_job(const core::StartJob& job);
  void on_event(const core::Event& event);
  // A client has its answer.
  void on_submitted(const std::string& key, const std::vector<core::ActionId>& ids);
  void on_cancelled(const core::Action& told);
  void on_edited(const std::string& key, const core::ModelReply& reply);

  void on_journal(std::size_t agent, const store::Batch& batch);
  void on_journal_lost(std::size_t agent);
  void on_message(std::size_t agent, const core::agent::AgentMessage& message);
  void on_local_reply(std::size_t agent, const core::agent::LocalReply& reply);
  void on_local_acknowledged(std::size_t agent, const core::ActionId& id);
  // A process starts, and ends, on an agent's host.
  void on_run_start(std::size_t agent, const exec::RunSpec& spec);
  // A start was asked for of something that has traces of an earlier one.
  void on_run_repeated(std::size_t agent, const exec::RunSpec& spec);
  void on_run_end(std::size_t agent, const core::ActionId& id, std::uint32_t attempt,
                  core::ExecuteResult result);

  // After the faults have healed: what does not rest yet.
  std::vector<std::string> unsettled(const std::set<std::size_t>& gone) const;
  void never_settled(const std::vector<std::string>& left, Duration waited);
  void at_end(const std::set<std::size_t>& gone);

  const std::optional<Violation>& violation() const { return violation_; }
  const RecordView& records() const { return records_; }
  const JournalView& journal(std::size_t agent) const { return journals_[agent]; }

 private:
  void expect(int promise, Wrong wrong);
  std::size_t agent_called(const std::string& name) const;
  Start start_of(std::size_t agent, const exec::RunSpec& spec) const;
  void on_start(const Start& start);

  RecordView records_;
  std::vector<JournalView> journals_;
  CheckAcknowledged acknowledged_;
  CheckRuns runs_;
  CheckModel model_;
  std::optional<Violation> violation_;
};

// The name of the agent with this index, and back.
std::string agent_name(std::size_t agent);

}  // namespace muster::sim
