#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/planted_bug.h"
#include "sim/checks.h"
#include "sim/context.h"
#include "sim/fault_injector.h"
#include "sim/fleet.h"
#include "sim/workload.h"

namespace muster::sim {

// What one run was, and what came of it.
struct Outcome {
  std::uint64_t seed = 0;
  std::optional<Violation> violation;
  std::uint64_t digest = 0;
  std::uint64_t steps = 0;
  std::uint64_t actions = 0;  // in the store at the end
  Duration simulated;
  FaultTally faults;
};

struct SeedOptions {
  std::uint64_t seed = 0;
  Bug bug = Bug::None;
  std::function<void(std::string_view)> sink;  // of the trace; empty: none
};

// One simulated world. First a phase with faults, in which only safety is asked for; then every
// fault heals and everything must come to rest within a bounded time.
class World {
 public:
  World(std::uint64_t seed, Swarm swarm, Bug bug);

  Context& context() { return context_; }
  Fleet& fleet() { return fleet_; }
  Workload& workload() { return workload_; }
  FaultInjector& injector() { return injector_; }

  // Starts the machines. Clients and faults are started by whoever wants them.
  void start() { fleet_.start_all(); }
  // Until the time has passed, or a promise is broken.
  void run_for(Duration length);
  void heal();
  // Until everything rests; if it does not, that breaks promise 6.
  void run_until_settled(Duration bound);
  // The last comparison.
  Outcome finish();

 private:
  // What keeps the world from rest, in words.
  std::vector<std::string> unsettled() const;

  Context context_;
  Fleet fleet_;
  Workload workload_;
  FaultInjector injector_;
};

// One run with everything that the seed asks for.
Outcome run_seed(const SeedOptions& options);

}  // namespace muster::sim
