#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "controller/controller.h"
#include "core/engine.h"
#include "core/hold_queue.h"
#include "store/committer.h"

namespace muster::controller {

// The Controller over a real engine, store and clock. Inputs are taken in groups: each group is
// stepped through, its writes go to the committer as one ticket, and whatever else follows is held
// until that ticket is durable. While the committer writes one group, the next is computed; when
// there is nothing to compute, the loop commits a small group itself.
//
// Threads: `mutex_` guards what callers and the committer touch; everything under "loop thread
// only" belongs to the loop.
class EngineLoop final : public Controller {
 public:
  EngineLoop(ControllerOptions options, store::Store& store, Outlets& outlets, core::Engine engine);
  ~EngineLoop() override;

  void begin(store::Term term, core::Effects first);

  void request(Request request, ReplyCallback callback) override;
  void post(core::Input input) override;
  void post_all(std::vector<core::Input> inputs) override;
  void query(std::function<void(const core::Engine&, Timestamp)> read) override;
  ControllerHealth health() const override;
  store::Store& store() override { return store_; }
  void stop() override;
  void on_fatal(std::function<void(Error)> callback) override;

 private:
  using Read = std::function<void(const core::Engine&, Timestamp)>;
  using Item = std::variant<core::Input, Read>;
  using Held = std::variant<core::Effects, Read>;

  void run();
  bool wait_for_work(std::vector<Item>& taken);
  void work(std::vector<Item> items);
  void hold(core::Effects effects, std::vector<core::Write>& writes);
  void commit(std::vector<core::Write> writes);
  void release();
  void release_effects(const core::Effects& effects);
  void answer(const core::Reply& reply);
  void post_first(core::Input answer);
  Timestamp tell_time();
  core::Submit prepare(core::Submit submit);

  void note_durable(std::uint64_t ticket);
  void committed(std::uint64_t ticket);
  void store_problem(const Error& error);
  void store_recovered();
  void fatal(const Error& error);

  const ControllerOptions options_;
  store::Store& store_;
  Outlets& outlets_;

  mutable std::mutex mutex_;
  std::condition_variable work_;      // for the loop
  std::condition_variable has_room_;  // for those who post
  std::deque<Item> inbox_;
  std::map<core::RequestId, ReplyCallback> callbacks_;
  core::RequestId last_request_ = 0;
  std::uint64_t durable_ = 0;
  ControllerHealth health_;
  std::function<void(Error)> on_fatal_;
  std::optional<Error> fatal_;
  bool stopping_ = false;

  // Loop thread only.
  core::Engine engine_;
  core::HoldQueue<Held> held_;
  Timestamp last_now_;

  std::unique_ptr<store::Committer> committer_;
  std::thread thread_;
};

}  // namespace muster::controller
