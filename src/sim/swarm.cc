#include "sim/swarm.h"

#include <initializer_list>

namespace muster::sim {
namespace {

constexpr std::uint32_t kPercent = 10'000;

void set_every(Swarm& swarm, Random& random, Fault fault, std::uint32_t odds, Duration low,
               Duration high) {
  if (!random.chance(odds)) return;
  swarm.every[static_cast<std::size_t>(fault)] = random.between(low, high);
}

void set_parts(Swarm& swarm, Random& random, Fault fault, std::uint32_t odds, std::int64_t low,
               std::int64_t high) {
  if (!random.chance(odds)) return;
  swarm.parts[static_cast<std::size_t>(fault)] =
      static_cast<std::uint32_t>(random.between(low, high));
}

void draw_timed_faults(Swarm& swarm, Random& random) {
  const auto s = [](std::int64_t n) { return Duration::seconds(n); };
  set_every(swarm, random, Fault::ControllerCrash, 40 * kPercent, s(20), s(200));
  set_every(swarm, random, Fault::ControllerReplaced, 25 * kPercent, s(40), s(200));
  set_every(swarm, random, Fault::AgentCrash, 40 * kPercent, s(10), s(120));
  set_every(swarm, random, Fault::HostReboot, 20 * kPercent, s(40), s(200));
  set_every(swarm, random, Fault::HostGone, 10 * kPercent, s(60), s(200));
  set_every(swarm, random, Fault::JournalLost, 20 * kPercent, s(40), s(200));
  set_every(swarm, random, Fault::RunnerKilled, 20 * kPercent, s(10), s(100));
  set_every(swarm, random, Fault::Partition, 30 * kPercent, s(20), s(120));
  set_every(swarm, random, Fault::PartitionOneWay, 20 * kPercent, s(20), s(120));
  set_every(swarm, random, Fault::Disconnect, 40 * kPercent, s(5), s(60));
  set_every(swarm, random, Fault::StoreFull, 20 * kPercent, s(40), s(200));
  set_every(swarm, random, Fault::StoreSlow, 20 * kPercent, s(30), s(200));
  set_every(swarm, random, Fault::JournalFull, 20 * kPercent, s(40), s(200));
  set_every(swarm, random, Fault::ControllerClockJump, 15 * kPercent, s(40), s(200));
  set_every(swarm, random, Fault::AgentClockJump, 20 * kPercent, s(20), s(200));
}

void draw_counted_faults(Swarm& swarm, Random& random) {
  set_parts(swarm, random, Fault::ControllerCrashAt, 25 * kPercent, 1'000, 20'000);
  set_parts(swarm, random, Fault::AgentCrashAt, 25 * kPercent, 1'000, 20'000);
  set_parts(swarm, random, Fault::MessageLost, 20 * kPercent, 1'000, 20'000);
  set_parts(swarm, random, Fault::MessageDuplicated, 25 * kPercent, 1'000, 50'000);
  set_parts(swarm, random, Fault::MessageReordered, 15 * kPercent, 1'000, 20'000);
  set_parts(swarm, random, Fault::MessageDelayed, 40 * kPercent, 5'000, 100'000);
  set_parts(swarm, random, Fault::RequestLost, 50 * kPercent, 20'000, 300'000);
  set_parts(swarm, random, Fault::StoreRefuses, 20 * kPercent, 5'000, 100'000);
  set_parts(swarm, random, Fault::StoreTimeoutApplied, 20 * kPercent, 5'000, 100'000);
  set_parts(swarm, random, Fault::StoreTimeoutLost, 20 * kPercent, 5'000, 100'000);
  set_parts(swarm, random, Fault::StoreAppliesLate, 20 * kPercent, 5'000, 100'000);
  set_parts(swarm, random, Fault::JournalRefuses, 20 * kPercent, 5'000, 100'000);
  set_parts(swarm, random, Fault::JournalTimeoutApplied, 20 * kPercent, 5'000, 100'000);
}

}  // namespace

Swarm draw_swarm(Random& random) {
  Swarm swarm;
  swarm.agents = static_cast<std::size_t>(random.between(1, 4));
  swarm.clients = static_cast<std::size_t>(random.between(1, 4));
  swarm.actions = static_cast<std::size_t>(random.between(8, 60));
  swarm.length = random.between(Duration::minutes(2), Duration::minutes(8));
  swarm.think_max = random.between(Duration::seconds(2), Duration::seconds(30));
  swarm.latency_max = random.between(Duration::millis(1), Duration::millis(300));
  swarm.disk_max = random.between(Duration::millis(1), Duration::millis(50));
  for (bool& feature : swarm.features) feature = random.chance(55 * kPercent);
  draw_timed_faults(swarm, random);
  draw_counted_faults(swarm, random);
  return swarm;
}

}  // namespace muster::sim
