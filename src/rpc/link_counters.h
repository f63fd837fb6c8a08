#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/time.h"
#include "rpc/link.h"

namespace muster::rpc {

// Counted by every session of a link, read by anybody.
struct LinkCounters {
  std::atomic<std::uint64_t> frames_sent{0};
  std::atomic<std::uint64_t> messages_sent{0};
  std::atomic<std::uint64_t> frames_received{0};
  std::atomic<std::uint64_t> messages_received{0};

  LinkStats read(std::uint64_t sessions) const {
    return {.frames_sent = frames_sent.load(),
            .messages_sent = messages_sent.load(),
            .frames_received = frames_received.load(),
            .messages_received = messages_received.load(),
            .sessions = sessions};
  }
};

// Since an arbitrary point; does not jump when the wall clock is set.
inline Duration monotonic_now() {
  return Duration::micros(std::chrono::duration_cast<std::chrono::microseconds>(
                              std::chrono::steady_clock::now().time_since_epoch())
                              .count());
}

// A stream is dead when nothing was heard for this many heartbeat intervals.
inline constexpr std::int64_t kSilentIntervals = 3;

}  // namespace muster::rpc
