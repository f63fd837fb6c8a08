#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/input.h"
#include "sim/context.h"
#include "sim/fleet.h"
#include "sim/model_maker.h"
#include "sim/request_maker.h"

namespace muster::sim {

// The people and programs outside: clients of the controller, who ask again with the same
// Idempotency-Key until they have an answer, and callers of the agents' local APIs.
class Workload {
 public:
  Workload(Context& context, Fleet& fleet);

  void start();
  // Nothing new is asked for from now on; whoever waits for an answer goes on asking.
  void wind_down() { winding_down_ = true; }
  // Cancels what repeats without an end.
  void sweep();
  bool is_done() const { return waiting_ == 0; }
  std::uint64_t actions() const { return actions_; }

  // For scenarios: asks for these actions at once, with this key.
  void submit(core::Submit submit);
  void edit(core::EditModel edit);
  void signal(core::SignalRequest request);
  void refresh();
  void schedule_locally(std::size_t agent, core::agent::Schedule action);

 private:
  // One request on its way, until it is answered for good.
  struct Call {
    ControllerProcess::Request request;
    std::uint32_t tries = 0;
    std::uint32_t tries_max = 0;  // 0: until it is answered
    bool answered = false;
  };
  using CallPtr = std::shared_ptr<Call>;
  struct LocalCall {
    std::size_t agent = 0;
    AgentProcess::LocalRequest request;
    std::uint32_t tries = 0;
    bool owns_id = true;  // nobody else uses the id, so a duplicate is its own
    bool answered = false;
  };
  using LocalCallPtr = std::shared_ptr<LocalCall>;

  void think(std::size_t client);
  void act(std::size_t client);
  void act_locally(std::size_t agent);
  void call(ControllerProcess::Request request, std::uint32_t tries_max);
  void send(const CallPtr& call);
  void answered(const CallPtr& call, const core::Reply& reply);
  void take_submitted(const core::Submit& submit, const core::SubmitReply& reply);
  void give_up(const CallPtr& call);
  void cancel(const core::ActionId& id);
  void send_local(const LocalCallPtr& call);
  void answered_local(const LocalCallPtr& call, const Result<core::JournalEntryPtr>& result);
  Duration latency();

  Context& context_;
  Fleet& fleet_;
  Random random_;
  RequestMaker maker_;
  ModelMaker model_maker_;
  std::size_t waiting_ = 0;
  std::uint64_t actions_ = 0;
  std::uint64_t last_key_ = 0;
  std::set<core::ActionId> endless_;  // that were cancelled
  bool winding_down_ = false;
};

}  // namespace muster::sim
