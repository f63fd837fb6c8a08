#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/inbox.h"
#include "agent/journal.h"
#include "agent/output_waiter.h"
#include "agent/step_release.h"
#include "base/backoff.h"
#include "base/result.h"
#include "base/time.h"
#include "core/agent/agent_core.h"
#include "core/hold_queue.h"
#include "exec/executor.h"
#include "rpc/link_client.h"

namespace muster::agent {

struct AgentLoopOptions {
  core::agent::AgentCoreOptions core;
  // No controller is configured, so nobody else will ever acknowledge what has ended: the agent
  // does it itself, or its journal would grow for ever.
  bool standalone = false;
  std::size_t inbox_max = 10'000;
  OutputWaiterOptions output;
  Backoff commit_backoff{.initial = Duration::millis(100), .max = Duration::seconds(5)};
  // While the journal refuses writes, callers of the local API wait this long for their answer.
  Duration hold_max = Duration::seconds(5);
  std::function<Timestamp()> clock;
  // The journal can never be written again (another process has taken it over). Called once, on the
  // loop's thread, which then ends.
  std::function<void(const Error&)> on_fatal;
};

struct JournalHealth {
  bool ok = true;
  std::string problem;
  Timestamp since;
};

// The shell around the agent's core: one thread that owns it. It takes a batch of inputs from the
// inbox, steps the core through them, commits all their journal writes in one transaction, and only
// then lets out, in order, what the steps asked for. When the journal cannot be written (a full
// disk) everything is held back and the same transaction is tried again with back-off: nothing is
// lost, nothing unjournalled happens, and the link's back-pressure and refusals of the local API
// keep memory bounded meanwhile.
//
// The loop listens to the executor and is fed by the link and the local API, all of which need it
// to exist; so it is made first, bound to them by start(), and must be destroyed last.
class AgentLoop final : public exec::ExecutorListener {
 public:
  AgentLoop(AgentLoopOptions options, Journal& journal);
  ~AgentLoop() override;

  // Recovers, then serves. `link` may be null; both must live until stop() has returned.
  void start(exec::Executor& executor, rpc::LinkClient* link);
  // Ends after the batch in hand; what was not taken yet is refused or dropped, as in a crash.
  // Running actions go on. May be called more than once.
  void stop();

  // Any thread. Requests are refused at once while the journal refuses writes.
  void request(LocalRequest request);
  void query(CoreQuery query);
  void read_output(OutputRequest request);
  // The link's inputs; blocks while the inbox is full.
  void post(InboxItem item);
  void post_all(std::vector<InboxItem> items);

  JournalHealth health() const;

  void on_ended(const core::ActionId& id, std::uint32_t attempt, exec::RunResult result) override;
  void on_suspended(const core::ActionId& id, std::uint32_t attempt, bool suspended) override;
  void on_output(const core::ActionId& id, std::uint32_t attempt) override;

 private:
  // What one item asks for once the batch is durable.
  struct Pending {
    core::agent::AgentEffects effects;
    std::optional<InboxItem> deferred;  // a read
    LinkChange link = LinkChange::None;
  };

  void run();
  void take_in(InboxItem item);
  void step(Timestamp now, const core::agent::AgentInput& input,
            LinkChange link = LinkChange::None);
  void take_effects(core::agent::AgentEffects effects, LinkChange link);
  void tick_if_due();
  bool settle();  // false: give up
  bool commit();
  void set_health(std::optional<JournalHealth> changed);
  void release(Pending& pending);
  void answer(core::agent::LocalReply& reply);
  void read_deferred(InboxItem& item);
  void refuse_waiting(const Error& error);
  Inbox::Clock::time_point wake_time() const;

  // Constant after start().
  const AgentLoopOptions options_;
  Journal& journal_;
  rpc::LinkClient* link_ = nullptr;

  Inbox inbox_;

  // Owned by the loop's thread.
  core::agent::AgentCore core_;
  std::optional<OutputWaiter> output_;
  std::optional<StepRelease> release_;
  core::HoldQueue<Pending> held_;
  std::vector<core::agent::JournalWrite> writes_;
  std::optional<std::uint64_t> new_term_;
  std::map<core::RequestId, std::function<void(Result<core::JournalEntryPtr>)>> replies_;
  core::RequestId next_request_ = 1;
  Timestamp last_now_;
  std::vector<core::agent::AgentMessage> outgoing_;  // of the batch, to leave together

  mutable std::mutex health_mutex_;
  JournalHealth health_;  // protected by health_mutex_

  std::thread thread_;
};

}  // namespace muster::agent
