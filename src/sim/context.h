#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/planted_bug.h"
#include "sim/checks.h"
#include "sim/event_queue.h"
#include "sim/faults.h"
#include "sim/random.h"
#include "sim/swarm.h"

namespace muster::sim {

// A place at which a process may die: before or after something becomes durable, before a message
// is taken.
enum class Point : std::uint8_t {
  StoreWrite,
  StoreWritten,
  JournalWrite,
  JournalWritten,
  ToController,
  ToAgent,
};

// What every part of a simulated world shares. Owned by the World; single-threaded.
struct Context {
  Context(std::uint64_t seed_in, const Swarm& swarm_in, Bug bug_in, Timestamp start)
      : seed(seed_in),
        bug(bug_in),
        swarm(swarm_in),
        queue(start),
        random(mix(seed_in ^ 0x77)),
        began(start) {}

  const std::uint64_t seed;
  const Bug bug;
  const Swarm swarm;
  EventQueue queue;
  Random random;
  Digest digest;
  Checks checks;
  FaultTally faults;
  bool healed = false;   // no more faults
  Duration store_extra;  // what each commit of the controller takes beyond the usual
  const Timestamp began;

  // Told of every crash point; may crash the process that passes it. `node` is the index of the
  // controller or agent.
  std::function<void(Point, std::size_t node)> on_point;
  // Decides about a fault instead of chance and the swarm; empty: it does not.
  std::function<bool(Fault)> decide;
  // Gets each line of the trace; empty: no trace.
  std::function<void(std::string_view)> sink;

  // One line of the trace: who, one mark of what (docs/simulator.md has the legend), details.
  template <typename... Args>
  void note(std::string_view who, std::string_view mark, fmt::format_string<Args...> format,
            Args&&... args) {
    if (!sink) return;
    const double at = (queue.now() - began).as_seconds();
    sink(fmt::format("{:12.6f} {:<3} {:<2} {}", at, who, mark,
                     fmt::format(format, std::forward<Args>(args)...)));
  }

  // Asked wherever the fault could happen. True in the parts of a million that the swarm gives it,
  // and counts it.
  bool strikes(Fault fault) {
    const std::uint32_t parts = swarm.parts_of(fault);
    const auto by_chance = [&] { return parts != 0 && random.chance(parts); };
    if (healed || !(decide ? decide(fault) : by_chance())) return false;
    faults.add(fault);
    return true;
  }

  Duration disk_time() { return random.between(Duration::micros(50), swarm.disk_max); }
};

}  // namespace muster::sim
