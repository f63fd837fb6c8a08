#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/agent_io.h"
#include "core/input.h"
#include "sim/random.h"
#include "sim/swarm.h"

namespace muster::sim {

// Draws what is asked for, as the features of the swarm allow.
class RequestMaker {
 public:
  RequestMaker(const Swarm& swarm, Random random) : swarm_(swarm), random_(random) {}

  core::Submit make_submit(const std::string& who, Timestamp now);
  std::optional<core::SignalRequest> make_signal(const std::string& who);
  std::optional<core::DecideRequest> make_decision();
  core::RefreshRequest make_refresh(const std::string& who);
  // The flag tells whether the id is used by the controller too.
  std::pair<core::agent::LocalSchedule, bool> make_local(std::size_t agent, Timestamp now);
  std::optional<core::agent::LocalSignal> make_local_signal(std::size_t agent);

  // An action exists and can be referred to.
  void remember(const core::ActionRequest& request, const core::ActionId& id);
  void remember_local(std::size_t agent, const core::ActionId& id);

 private:
  struct Known {
    core::ActionId id;
    std::string target;
    bool needs_approval = false;
  };

  core::ActionRequest make_action(Timestamp now);
  void add_timing(core::ActionRequest& request, Timestamp now);
  void add_gates(core::ActionRequest& request);
  std::string inputs(bool may_take_long);
  core::ActionId fresh_id();
  bool sometimes(Feature feature, std::uint32_t percent) {
    return swarm_.has(feature) && random_.chance(percent * 10'000);
  }

  const Swarm& swarm_;
  Random random_;
  std::uint64_t last_number_ = 0;
  std::vector<Known> known_;
  std::vector<std::pair<std::size_t, core::ActionId>> local_;
};

}  // namespace muster::sim
