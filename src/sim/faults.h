#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::sim {

// Everything that can go wrong in a simulated world. Each seed switches a random part of these on,
// with rates of its own (swarm.h).
enum class Fault : std::uint8_t {
  ControllerCrash,        // at a moment of its own
  ControllerCrashAt,      // at a store write or a message
  ControllerReplaced,     // a second one takes over while the first one still runs
  AgentCrash,             // its runs go on
  AgentCrashAt,           // at a journal write or a message
  HostReboot,             // the agent and all its runs die, without a word to anybody
  HostGone,               // and never come back
  JournalLost,            // the agent comes back with an empty journal
  RunnerKilled,           // a run dies without a result
  MessageLost,            // one frame is missing in the stream
  MessageDuplicated,      // one frame comes twice
  MessageReordered,       // one frame overtakes the one before
  MessageDelayed,         // one frame, and all behind it, comes late
  Partition,              // nothing passes, in both directions
  PartitionOneWay,        // nothing passes in one direction
  Disconnect,             // a stream breaks
  RequestLost,            // a client's request, or its answer, is lost
  StoreRefuses,           // one commit fails and is not applied
  StoreTimeoutApplied,    // one commit times out, but was applied
  StoreTimeoutLost,       // one commit times out, and was not applied
  StoreAppliesLate,       // one commit times out, and is applied later or never
  StoreFull,              // every commit fails for a while
  StoreSlow,              // every commit takes long for a while
  JournalRefuses,         // one journal write fails
  JournalTimeoutApplied,  // one journal write fails, but was applied
  JournalFull,            // every journal write fails for a while
  ControllerClockJump,    // forward or back
  AgentClockJump,
};
inline constexpr std::size_t kFaults = static_cast<std::size_t>(Fault::AgentClockJump) + 1;

std::string_view name(Fault fault);  // "controller-crash"

// How often each happened.
class FaultTally {
 public:
  void add(Fault fault, std::uint64_t count = 1) {
    counts_[static_cast<std::size_t>(fault)] += count;
  }
  std::uint64_t of(Fault fault) const { return counts_[static_cast<std::size_t>(fault)]; }
  void merge(const FaultTally& other) {
    for (std::size_t i = 0; i < kFaults; ++i) counts_[i] += other.counts_[i];
  }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts_) sum += count;
    return sum;
  }

 private:
  std::array<std::uint64_t, kFaults> counts_{};
};

}  // namespace muster::sim
