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

#include "core/engine.h"
#include "core/hold_queue.h"
#include "sim/context.h"
#include "sim/job_bench.h"
#include "sim/network.h"
#include "store/commit_group.h"
#include "store/memory_store.h"

namespace muster::sim {

class ControllerProcess;

// A controller's side of one stream.
class ServerEnd final : public LinkEnd {
 public:
  ServerEnd(Context& context, Network& network, core::SessionId session,
            std::weak_ptr<ControllerProcess> owner);
  void accept_stream(const StreamPtr& stream) { begin(stream); }
  core::SessionId session() const { return session_; }
  const std::string& agent() const { return agent_; }

 private:
  Result<void> take(std::string_view bytes) override;
  std::string heartbeat() const override { return rpc::encode_controller_heartbeat(); }
  void ended(const std::string& reason) override;
  Result<void> take_message(rpc::FromAgent message, ControllerProcess& owner);

  const core::SessionId session_;
  const std::weak_ptr<ControllerProcess> owner_;
  std::string agent_;  // empty: no hello yet
};

// One life of a controller: the real engine, the real rule of what may leave when, the real records
// and the real frames, in simulated time. It follows the shell's threads (controller/engine_loop,
// store/committer) move by move: while one group is being committed, the next is computed.
//
// Owned by its machine; whatever is scheduled holds it weakly, so that a crash is its destruction.
class ControllerProcess : public std::enable_shared_from_this<ControllerProcess> {
 public:
  using Request = std::variant<core::Submit, core::SignalRequest, core::DecideRequest,
                               core::RefreshRequest, core::EditModel>;
  using Reply = std::function<void(const core::Reply&)>;
  // The machine's clock.
  using Clock = std::function<Timestamp()>;

  ControllerProcess(Context& context, Network& network, store::MemoryStore& store,
                    std::size_t machine, Clock clock);

  // Takes the store over, loads it and begins. Errors are the store's.
  Result<void> start(const core::EngineOptions& options);
  // Called when it ends by itself: it was fenced.
  void on_end(std::function<void(const Error&)> callback) { on_end_ = std::move(callback); }
  // Nothing more may leave, whatever is under way.
  void die(bool silent);

  void request(Request request, Reply reply);
  void post(core::Input input);
  std::shared_ptr<StreamEnd> accept(const StreamPtr& stream);

  const rpc::Welcome& welcome() const { return welcome_; }
  const core::Engine& engine() const { return *engine_; }
  bool is_idle() const { return inbox_.empty() && held_.size() == 0 && submissions_.empty(); }
  Timestamp engine_time() const { return last_now_; }
  void forget_session(core::SessionId session) { sessions_.erase(session); }

 private:
  void wake(Duration delay);
  void work();
  void arm_timer();
  Timestamp tell_time();
  void hold(core::Effects effects, std::vector<core::Write>& writes);
  void commit(std::vector<core::Write> writes);
  void start_commit();
  void write_batch();
  void written(const Result<void>& result);
  void store_problem(const Error& error);
  void release();
  void let_out(core::Effects& effects);
  void let_out(const core::AgentSend& send);
  std::string name() const { return fmt::format("c{}", machine_ + 1); }

  Context& context_;
  Network& network_;
  store::MemoryStore& store_;
  const std::size_t machine_;
  const Clock clock_;
  std::function<void(const Error&)> on_end_;
  rpc::Welcome welcome_;

  std::optional<core::Engine> engine_;
  core::HoldQueue<core::Effects> held_;
  std::deque<core::Input> inbox_;
  std::map<core::RequestId, Reply> replies_;
  core::RequestId last_request_ = 0;
  Timestamp last_now_;
  bool awake_ = false;
  Timestamp timer_at_;
  bool dead_ = false;

  std::vector<store::Submission> submissions_;
  store::Batch batch_;
  std::uint64_t batch_ticket_ = 0;
  std::uint32_t batch_attempt_ = 0;
  bool committing_ = false;
  std::uint64_t durable_ = 0;
  bool store_ok_ = true;

  std::map<core::SessionId, std::shared_ptr<ServerEnd>> sessions_;
  std::uint64_t last_session_ = 0;
  std::shared_ptr<JobBench> jobs_;
};

}  // namespace muster::sim
