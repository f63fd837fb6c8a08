#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "rpc/link.h"

// Between the values of the two cores and the bytes of api/agent.proto. Neither protobuf nor gRPC
// shows here, so that a simulated network can carry the real encoding.
//
// Encoding cannot fail: what a core says is representable, and text that is not UTF-8 is repaired.
// Decoding trusts nothing and answers DecodeFailed with what is wrong. Pure functions, any thread.

namespace muster::rpc {

inline constexpr std::uint32_t kProtocolVersion = 1;

// What one frame may be at most, on both sides.
inline constexpr std::size_t kFrameAcceptedMax = std::size_t{32} << 20;
// Senders keep frames smaller: after this much a new frame begins. A message that is larger than
// this travels alone.
inline constexpr std::size_t kFrameBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kFrameMessagesMax = 1000;

struct Heartbeat {
  std::string problem = {};  // an agent's: what keeps it from working; empty: nothing

  bool operator==(const Heartbeat&) const = default;
};

// What can arrive. monostate is a message of a newer version, to be ignored. The `session` of a
// sync page is 0: only the receiver knows it.
using FromAgent = std::variant<std::monostate, core::AgentIdentity, core::AgentSyncPage,
                               core::AgentAction, Heartbeat, LogChunk>;
using FromController =
    std::variant<std::monostate, Welcome, core::agent::Schedule, core::agent::SignalFromController,
                 core::agent::Ack, core::agent::SyncRequest, Heartbeat, LogRequest>;

// 1 to 63 of [A-Za-z0-9._-], the first a letter or digit.
bool is_agent_name(std::string_view name);

// --- Agent to controller. Each answer is one encoded AgentMessage. ---

std::string encode_hello(const core::AgentIdentity& identity);
// Mostly one; a sync page that would be larger than kFrameBytesMax becomes several, of which the
// last carries the mark of the original.
std::vector<std::string> encode_agent_message(const core::agent::AgentMessage& message);
std::string encode_log_chunk(const LogChunk& chunk);
std::string encode_agent_heartbeat(std::string_view problem = {});

// --- Controller to agent. Each answer is one encoded ControllerMessage. ---

std::string encode_welcome(const Welcome& welcome);
// Nothing for CloseSession, which is the end of the stream and not a message.
std::optional<std::string> encode_send(const core::AgentSend& send);
std::string encode_log_request(const LogRequest& request);
std::string encode_controller_heartbeat();

// --- Frames. Both directions have the same layout. ---

std::string encode_frame(std::uint64_t seq, std::span<const std::string> messages);

struct AgentFrame {
  std::uint64_t seq = 0;
  std::vector<FromAgent> messages;
};
struct ControllerFrame {
  std::uint64_t seq = 0;
  std::vector<FromController> messages;
};
Result<AgentFrame> decode_agent_frame(std::string_view bytes);
Result<ControllerFrame> decode_controller_frame(std::string_view bytes);

// The numbering rule of one direction, at the receiver: frames count from 1 without gaps.
class FrameSequence {
 public:
  // True: the next one, to be taken. False: seen before, to be ignored. Error: a gap, so something
  // was lost and the stream must end.
  Result<bool> accept(std::uint64_t seq);
  std::uint64_t last() const { return last_; }

 private:
  std::uint64_t last_ = 0;
};

}  // namespace muster::rpc
