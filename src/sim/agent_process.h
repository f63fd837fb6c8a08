#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/journal.h"
#include "agent/step_release.h"
#include "core/agent/agent_core.h"
#include "core/hold_queue.h"
#include "sim/context.h"
#include "sim/network.h"
#include "sim/runners.h"
#include "store/memory_store.h"

namespace muster::sim {

class AgentProcess;

// An agent's side of one stream.
class ClientEnd final : public LinkEnd {
 public:
  ClientEnd(Context& context, Network& network, std::weak_ptr<AgentProcess> owner);
  void dial(const StreamPtr& stream, const core::AgentIdentity& identity);
  bool was_up() const { return up_; }
  Timestamp began() const { return began_; }

 private:
  Result<void> take(std::string_view bytes) override;
  std::string heartbeat() const override { return rpc::encode_agent_heartbeat(); }
  void ended(const std::string& reason) override;
  Result<void> take_message(rpc::FromController message, AgentProcess& owner);

  const std::weak_ptr<AgentProcess> owner_;
  bool up_ = false;
  Timestamp began_;
};

// One life of an agent: the real core over the real journal, the real rule of what may leave when,
// and the real frames, in simulated time. It follows the shell's thread (agent/agent_loop): a batch
// of inputs, one journal write, then everything that the batch asked for.
//
// Owned by its machine; whatever is scheduled holds it weakly, so that a crash is its destruction.
class AgentProcess final : public exec::ExecutorListener,
                           public std::enable_shared_from_this<AgentProcess> {
 public:
  using LocalRequest = std::variant<core::agent::LocalSchedule, core::agent::LocalSignal>;
  using LocalAnswer = std::function<void(const Result<core::JournalEntryPtr>&)>;
  using Clock = std::function<Timestamp()>;

  AgentProcess(Context& context, Network& network, Runners& runners, std::size_t agent,
               std::size_t controllers, Clock clock);

  // Opens the journal, recovers, and dials. Errors are the journal's.
  Result<void> start(store::MemoryStore& disk, core::agent::AgentCoreOptions options);
  void die(bool silent);

  void request(LocalRequest request, LocalAnswer answer);

  // Of the stream.
  void on_up(const rpc::Welcome& welcome);
  void post(core::agent::AgentInput input);
  void on_stream_ended(const ClientEnd& end, const std::string& reason);
  std::uint64_t highest_term() const { return highest_term_; }

  void on_ended(const core::ActionId& id, std::uint32_t attempt, exec::RunResult result) override;
  void on_suspended(const core::ActionId& id, std::uint32_t attempt, bool suspended) override;
  void on_output(const core::ActionId&, std::uint32_t) override {}

  bool is_idle() const { return inbox_.empty() && !busy_; }
  bool is_connected() const { return end_ && end_->was_up(); }
  const core::agent::AgentCore& core() const { return *core_; }

 private:
  struct Item {
    core::agent::AgentInput input;
    std::optional<rpc::Welcome> welcome;
  };
  struct Held {
    core::agent::AgentEffects effects;
    agent::LinkChange link = agent::LinkChange::None;
  };

  void wake(Duration delay);
  void work();
  void take_in(const Item& item);
  void take_effects(core::agent::AgentEffects effects, agent::LinkChange link);
  void tick_if_due();
  void settle();
  void write_journal();
  void written(const Result<void>& result);
  void release();
  void send(const core::agent::AgentMessage& message);
  void answer(core::agent::LocalReply& reply);
  void refuse_waiting(const Error& error);
  void arm_timer();
  void dial();
  std::string name() const { return agent_name(agent_); }

  Context& context_;
  Network& network_;
  Runners& runners_;
  const std::size_t agent_;
  const std::size_t controllers_;
  const Clock clock_;
  core::AgentIdentity identity_;

  std::optional<agent::Journal> journal_;
  std::optional<core::agent::AgentCore> core_;
  std::optional<agent::StepRelease> release_;
  core::HoldQueue<Held> held_;
  std::uint64_t ticket_ = 0;
  std::uint64_t durable_ = 0;
  std::deque<Item> inbox_;
  std::vector<core::agent::JournalWrite> writes_;
  std::optional<std::uint64_t> new_term_;
  std::uint64_t highest_term_ = 0;
  std::map<core::RequestId, LocalAnswer> answers_;
  core::RequestId next_request_ = 1;
  Timestamp last_now_;
  bool awake_ = false;
  bool busy_ = false;  // a journal write is under way
  Timestamp busy_since_;
  std::uint32_t write_attempt_ = 0;
  Timestamp timer_at_;
  bool dead_ = false;

  std::shared_ptr<ClientEnd> end_;
  std::size_t next_controller_ = 0;
  std::uint32_t dials_ = 0;
};

}  // namespace muster::sim
