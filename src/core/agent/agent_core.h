#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/planted_bug.h"
#include "base/result.h"
#include "base/time.h"
#include "core/agent/agent_io.h"

namespace muster::core::agent {

struct AgentCoreOptions {
  std::vector<std::string> kinds;  // what the executor can run
  std::size_t queue_max = 10'000;  // unfinished entries; more are refused
  std::size_t sync_page_max = 256;
  std::size_t keep_finished = 1000;  // acknowledged ones kept for the local API and logs
  Duration keep_finished_for = Duration::days(14);
  Duration default_timeout = Duration::seconds(3600);
  // The runner enforces the timeout; beyond this much more the core declares the run ended.
  Duration overrun_grace = Duration::seconds(60);
  // A run that is suspended for longer is cancelled. Longer than the controller's limit: it is for
  // runs that no controller watches over.
  Duration suspend_max = Duration::days(2);
  Bug bug = Bug::None;  // for tests of the simulator
};

// The agent's decisions: a durable queue of actions, one of which runs at a time, in the order of
// their arrival. A deterministic state machine without threads, clock, or I/O, owned by one thread
// of the shell, which feeds it inputs and performs its effects (agent_io.h has the contract).
//
//  - Journal before acknowledgement: the report that answers a Schedule leaves after its PutEntry.
//  - Journal before start: StartRun leaves after the PutEntry that says Running.
//  - (id, attempt) starts at most once: a Schedule that is known, or older, only gets a report.
//  - A final entry never changes; it stays until it is acknowledged, then by retention. An entry of
//    the agent's own is acknowledged by the controller too, and kept until then.
//  - CANCEL of a New entry ends it at once; of a running one it goes to the runner, and the entry
//    ends when the runner says so. A run that ends Ok in spite of it has succeeded.
//  - What the controller has given up waiting for does not start: an entry that is not started
//    within its time ends as Failed, with result Timeout, when its turn comes.
//  - Nothing starts before the executor has said that the run before ended. A run that does not end
//    within its timeout and `overrun_grace` is cancelled; after a further `overrun_grace` its entry
//    is Failed with result Timeout, so that the controller can go on, but the queue stays blocked
//    until RunEnded, and a newer attempt of it is not taken. Such an entry keeps control Cancel in
//    the journal: after a restart the core attaches to it again, with a StartRun{recovered} of an
//    entry that is final. That one must never start anything: where the executor has no trace of
//    the run, the shell answers with RunEnded.
//  - The time of a run is counted in small steps, of which one that a jump of the clock made too
//    long is cut: setting a clock must not end a run. Time suspended does not count, and has a
//    limit of its own, `suspend_max`; after a restart both counts begin again.
//
// Start: restore() every entry of the journal, then recover() once, then step().
class AgentCore {
 public:
  explicit AgentCore(AgentCoreOptions options);

  void restore(JournalEntryPtr entry);
  AgentEffects recover(Timestamp now);
  AgentEffects step(Timestamp now, const AgentInput& input);

  // When a tick is due at the latest.
  std::optional<Timestamp> next_deadline() const;

  // For the local API. Unfinished in the order in which they will run, the running one first;
  // finished newest first.
  std::vector<JournalEntryPtr> queue() const;
  std::vector<JournalEntryPtr> finished(std::size_t limit) const;
  JournalEntryPtr find(const ActionId& id) const;  // null: unknown

 private:
  // The executor's one run. It stays taken until the executor says RunEnded, even when the entry
  // was declared Failed before that.
  struct Slot {
    enum class Stage : std::uint8_t {
      InTime,
      CancelSent,  // it overran, and was told to end
      Abandoned,   // it did not; the entry is final, the run is not known to have ended
    };
    ActionId id;
    std::uint32_t attempt = 1;
    Stage stage = Stage::InTime;
    Duration left;         // of the time of the stage
    Timestamp counted_at;  // up to when `left`, or `pause_left`, was counted
    bool paused = false;   // suspended: `left` is not counted
    Duration pause_left;   // of the suspension
  };
  using QueueKey = std::pair<std::uint64_t, ActionId>;                 // seq
  using FinishedKey = std::tuple<Timestamp, std::uint64_t, ActionId>;  // stop_time, seq

  // agent_core.cc: the table and its indexes, admission, the slot.
  void on(Timestamp now, const Schedule& input, AgentEffects& out);
  void on(Timestamp now, const LocalSchedule& input, AgentEffects& out);
  void on(Timestamp now, const RunEnded& input, AgentEffects& out);
  void on(Timestamp now, const AgentTick& input, AgentEffects& out);
  Result<void> check_admission(const std::string& kind) const;
  JournalEntryPtr make_entry(Timestamp now, const Schedule& action, Origin origin);
  void admit(Timestamp now, JournalEntryPtr entry, AgentEffects& out);
  void refuse(Timestamp now, const JournalEntryPtr& entry, const Error& why, AgentEffects& out);
  void start(Timestamp now, const JournalEntryPtr& entry, AgentEffects& out);
  void start_next(Timestamp now, AgentEffects& out);
  void end_late(Timestamp now, const JournalEntryPtr& entry, AgentEffects& out);
  void attach(Timestamp now, const JournalEntryPtr& entry, AgentEffects& out);
  JournalEntryPtr entry_to_attach() const;
  void put(JournalEntryPtr entry, AgentEffects& out);
  void drop(const JournalEntryPtr& entry, AgentEffects& out);
  void index(const JournalEntryPtr& entry);
  void unindex(const JournalEntryPtr& entry);
  bool in_slot(const JournalEntry& entry) const;
  std::size_t unfinished_count() const;

  // agent_signals.cc: signals, suspension, overrun.
  void on(Timestamp now, const SignalFromController& input, AgentEffects& out);
  void on(Timestamp now, const LocalSignal& input, AgentEffects& out);
  void on(Timestamp now, const RunSuspended& input, AgentEffects& out);
  Result<void> apply_signal(Timestamp now, const JournalEntryPtr& entry, Signal signal,
                            std::string reason, AgentEffects& out);
  Duration run_time(const JournalEntry& entry) const;
  void count_time(Timestamp now);
  std::optional<Timestamp> overrun_deadline() const;
  void check_overrun(Timestamp now, AgentEffects& out);

  // agent_sync.cc: reports, the whole view, acknowledgement, retention.
  void on(Timestamp now, const LinkUp& input, AgentEffects& out);
  void on(Timestamp now, const LinkDown& input, AgentEffects& out);
  void on(Timestamp now, const Ack& input, AgentEffects& out);
  void on(Timestamp now, const SyncRequest& input, AgentEffects& out);
  void send_view(std::uint64_t sync, AgentEffects& out) const;
  void expire(Timestamp now, AgentEffects& out);
  std::optional<Timestamp> expiry_deadline() const;

  const AgentCoreOptions options_;
  std::unordered_map<ActionId, JournalEntryPtr> entries_;  // never iterated
  std::set<QueueKey> queue_;                               // not final, not in the slot
  std::set<FinishedKey> kept_;       // final and not acknowledged, or still in the slot
  std::set<FinishedKey> expirable_;  // final and acknowledged
  std::optional<Slot> slot_;
  std::uint64_t next_seq_ = 1;
};

// The part of an entry that the controller is told; with `spec`, also what it adopts it from.
AgentAction to_agent_action(const JournalEntry& entry, bool spec);

}  // namespace muster::core::agent
