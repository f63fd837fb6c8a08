#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "core/effects.h"
#include "core/input.h"
#include "sim/behaviour.h"
#include "sim/context.h"

namespace muster::sim {

// The workers of one controller's life: executes engine actions in simulated time, obeys signals,
// and forgets everything with its controller, as threads do.
class JobBench : public std::enable_shared_from_this<JobBench> {
 public:
  JobBench(Context& context, std::function<void(core::Input)> report)
      : context_(context), report_(std::move(report)) {}

  void run(const core::Job& job);
  void stop();

 private:
  using Key = std::pair<core::ActionId, std::uint32_t>;
  struct Work {
    Behaviour behaviour;
    Duration left;
    Timestamp since;      // `left` counts from here, unless suspended
    bool sleeps = false;  // can be cancelled and suspended
    bool times_out = false;
    bool suspended = false;
    std::uint64_t turn = 0;  // an end that was planned in an earlier turn does not count
  };

  void start(const core::Action& action);
  void signal(const core::SignalJob& signal);
  void plan_end(const Key& key, Work& work);
  void end(const Key& key, core::ExecuteResult result);

  Context& context_;
  const std::function<void(core::Input)> report_;
  std::map<Key, Work> works_;
  bool stopped_ = false;
};

}  // namespace muster::sim
