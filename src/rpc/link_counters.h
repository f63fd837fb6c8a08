#pragma once

#include <atomic>
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

// A stream is dead when nothing was heard for this many heartbeat intervals.
inline constexpr std::int64_t kSilentIntervals = 3;

}  // namespace muster::rpc
