#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/time.h"
#include "core/action/action.h"
#include "core/agent/agent_io.h"
#include "core/effects.h"
#include "core/fleet/agent.h"
#include "core/input.h"

// Values that travel between controller and agent besides those of the two cores. api/agent.proto
// is the contract; wire_codec.h translates.

namespace muster::rpc {

struct LogRequest {
  std::uint64_t request = 0;
  core::ActionId id;
  std::uint32_t attempt = 0;  // 0: the newest
  std::uint64_t offset = 0;
  std::uint32_t limit = 256 << 10;
  bool wait = false;
};

struct LogChunk {
  std::uint64_t request = 0;
  std::uint64_t offset = 0;
  std::string data;
  bool end = false;
  bool known = false;
  bool truncated = false;
};

struct Welcome {
  std::uint64_t term = 0;
  std::string controller_id;
  Duration heartbeat_interval = Duration::seconds(5);
};

// What a link has carried since it started. Messages per frame tell how well they travel together.
struct LinkStats {
  std::uint64_t frames_sent = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t sessions = 0;  // open now

  bool operator==(const LinkStats&) const = default;
};

}  // namespace muster::rpc
