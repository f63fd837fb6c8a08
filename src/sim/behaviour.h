#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/action/status.h"

namespace muster::sim {

// How one execution of an action goes. It follows from the action's inputs, whose text carries the
// behaviour of each attempt, so that no part of the system can influence it.
struct Behaviour {
  Duration takes;
  core::ExecuteResult result = core::ExecuteResult::Ok;
  Duration ends_after;  // being told to end; with the result CANCEL
};

// `inputs` as make_inputs() makes them; anything else takes no time and succeeds.
Behaviour behaviour_of(std::string_view inputs, std::uint32_t attempt);

// What inputs may ask for.
struct BehaviourRange {
  std::uint64_t number = 0;  // unique, so that the inputs of two actions always differ
  Duration takes_max = Duration::seconds(10);
  bool fails = false;
  bool asks_for_retry = false;
  bool stubborn = false;
};
std::string make_inputs(const BehaviourRange& range, std::uint64_t salt);

}  // namespace muster::sim
