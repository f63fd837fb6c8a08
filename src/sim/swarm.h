#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "sim/faults.h"
#include "sim/random.h"

namespace muster::sim {

// What a workload may contain.
enum class Feature : std::uint8_t {
  Dependencies,
  EngineKinds,
  Retries,
  Repeats,
  Approvals,
  Holds,
  Signals,
  ForcedCancels,
  StartTimes,
  ShortTimeouts,
  StubbornRuns,  // runs that take long to end when they are told to, or cannot be ended for a while
  FailingRuns,
  RetryAnswers,
  LocalActions,
  LocalSignals,
  IdConflicts,  // the same id on the agent and on the controller
  Refreshes,
  Derived,     // actions with a parent
  ModelEdits,  // of the deployment model
};
inline constexpr std::size_t kFeatures = static_cast<std::size_t>(Feature::ModelEdits) + 1;

// The shape of one run: which features and faults are on, and how often each fault comes. Drawn
// from the seed, so that different seeds look into different corners (swarm testing): a world in
// which everything goes wrong at once hides what one fault alone would show.
struct Swarm {
  std::size_t agents = 2;
  std::size_t clients = 2;
  std::size_t actions = 30;  // that clients ask for, about
  Duration length = Duration::minutes(5);
  Duration think_max = Duration::seconds(20);  // between two requests of a client
  Duration latency_max = Duration::millis(20);
  Duration disk_max = Duration::millis(5);
  std::array<bool, kFeatures> features{};
  // Faults that come by themselves: the mean time between two. Zero: never.
  std::array<Duration, kFaults> every{};
  // Faults that happen to a message, a write or a point: in parts of a million. Zero: never.
  std::array<std::uint32_t, kFaults> parts{};

  bool has(Feature feature) const { return features[static_cast<std::size_t>(feature)]; }
  Duration every_of(Fault fault) const { return every[static_cast<std::size_t>(fault)]; }
  std::uint32_t parts_of(Fault fault) const { return parts[static_cast<std::size_t>(fault)]; }
};

Swarm draw_swarm(Random& random);

}  // namespace muster::sim
