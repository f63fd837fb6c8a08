#include <agent.pb.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/json.h"
#include "rpc/wire_codec.h"

namespace muster::rpc {
namespace {

namespace pb = ::muster::agent::v1;

// The labels, kinds and facts of an agent are kept in memory for good, so they are bounded as one.
constexpr std::size_t kProblemBytesMax = 1024;  // the rest is cut off
constexpr std::size_t kHelloBytesMax = std::size_t{256} << 10;
constexpr std::size_t kIdBytesMax = 128;
constexpr std::uint32_t kLogLimitMax = 256 << 10;
// Many times what a sender puts into a frame; a bound on what a small frame of empty messages can
// make the receiver allocate.
constexpr int kDecodedMessagesMax = 65'536;
// Bounds that leave room for arithmetic: the end of the year 9999, and a hundred years.
constexpr std::int64_t kTimeMax = 253'402'300'799'999'999;
constexpr Duration kDurationMax = Duration::days(36'500);
constexpr Duration kHeartbeatMax = Duration::hours(1);

Result<core::ActionId> decode_id(const std::string& bytes) {
  if (bytes.size() != Uuid::kSize) {
    return fail(ErrorCode::DecodeFailed, "action id has {} bytes, {} are needed", bytes.size(),
                Uuid::kSize);
  }
  return Uuid::from_bytes(bytes);
}

Result<std::uint32_t> decode_attempt(std::uint32_t attempt) {
  if (attempt < 1) return fail(ErrorCode::DecodeFailed, "attempt is 0, it counts from 1");
  return attempt;
}

Result<Timestamp> decode_time(std::string_view field, std::int64_t us) {
  if (us < 0 || us > kTimeMax) {
    return fail(ErrorCode::DecodeFailed, "{} is {}, it must be between 0 and {} microseconds",
                field, us, kTimeMax);
  }
  return Timestamp{us};
}

Result<Duration> decode_duration(std::string_view field, std::int64_t us, Duration max) {
  if (us < 0 || us > max.us) {
    return fail(ErrorCode::DecodeFailed, "{} is {}, it must be between 0 and {} microseconds",
                field, us, max.us);
  }
  return Duration::micros(us);
}

// The cores pass JSON on without reading it, so it is checked here, where it comes in.
Result<core::JsonText> decode_json(std::string_view field, std::string& text) {
  if (text.empty() || text == "{}") return core::JsonText("{}");
  Result<Json> value = parse_json(text);
  if (!value) {
    return fail(ErrorCode::DecodeFailed, "{}: {}", field, value.error().message);
  }
  if (!value->is_object()) {
    return fail(ErrorCode::DecodeFailed, "{} is a JSON {}, it must be an object", field,
                value->type_name());
  }
  return std::move(text);
}

Result<core::Status> decode_status(pb::ActionStatus status) {
  switch (status) {
    case pb::NEW:
      return core::Status::New;
    case pb::RUNNING:
      return core::Status::Running;
    case pb::SUSPENDED:
      return core::Status::Suspended;
    case pb::DONE:
      return core::Status::Succeeded;
    case pb::FAILED:
      return core::Status::Failed;
    case pb::CANCELLED:
      return core::Status::Cancelled;
    default:
      return fail(ErrorCode::DecodeFailed, "action status {} is not known",
                  static_cast<int>(status));
  }
}

Result<core::ExecuteResult> decode_result(pb::ExecuteResult result) {
  switch (result) {
    case pb::OK:
      return core::ExecuteResult::Ok;
    case pb::ERROR:
      return core::ExecuteResult::Error;
    case pb::RETRY:
      return core::ExecuteResult::Retry;
    case pb::CANCEL:
      return core::ExecuteResult::Cancel;
    case pb::TIMEOUT:
      return core::ExecuteResult::Timeout;
    default:
      return fail(ErrorCode::DecodeFailed, "execute result {} is not known",
                  static_cast<int>(result));
  }
}

Result<core::Signal> decode_signal_kind(pb::SignalKind signal) {
  switch (signal) {
    case pb::SIGNAL_CANCEL:
      return core::Signal::Cancel;
    case pb::SIGNAL_SUSPEND:
      return core::Signal::Suspend;
    case pb::SIGNAL_RESUME:
      return core::Signal::Resume;
    default:
      return fail(ErrorCode::DecodeFailed, "signal {} is not known", static_cast<int>(signal));
  }
}

Result<core::AgentAction> decode_action(pb::ActionState& state) {
  core::AgentAction action;
  MUSTER_TRY_ASSIGN(action.id, decode_id(state.id()));
  MUSTER_TRY_ASSIGN(action.attempt, decode_attempt(state.attempt()));
  if (state.origin() != pb::CONTROLLER && state.origin() != pb::AGENT) {
    return fail(ErrorCode::DecodeFailed, "origin {} is not known",
                static_cast<int>(state.origin()));
  }
  action.origin = state.origin() == pb::AGENT ? core::Origin::Agent : core::Origin::Controller;
  MUSTER_TRY_ASSIGN(action.status, decode_status(state.status()));
  if (core::is_final(action.status)) {
    MUSTER_TRY_ASSIGN(action.result, decode_result(state.result()));
  }
  action.reason = std::move(*state.mutable_reason());
  MUSTER_TRY_ASSIGN(action.start_time, decode_time("start_time", state.start_time()));
  MUSTER_TRY_ASSIGN(action.stop_time, decode_time("stop_time", state.stop_time()));
  MUSTER_TRY_ASSIGN(action.outputs, decode_json("outputs", *state.mutable_outputs()));
  action.name = std::move(*state.mutable_name());
  action.kind = std::move(*state.mutable_kind());
  MUSTER_TRY_ASSIGN(action.inputs, decode_json("inputs", *state.mutable_inputs()));
  MUSTER_TRY_ASSIGN(action.timeout, decode_duration("timeout", state.timeout(), kDurationMax));
  action.requested_by = std::move(*state.mutable_requested_by());
  MUSTER_TRY_ASSIGN(action.created_at, decode_time("created_at", state.created_at()));
  return action;
}

// Says which action was wrong, once its id is known to be one.
Result<core::AgentAction> decode_named_action(pb::ActionState& state) {
  Result<core::AgentAction> action = decode_action(state);
  if (!action && state.id().size() == Uuid::kSize) {
    const std::string subject = "action " + Uuid::from_bytes(state.id()).to_string();
    return fail(std::move(action.error()).wrap(subject));
  }
  return action;
}

Result<core::AgentIdentity> decode_hello(pb::Hello& hello) {
  if (hello.protocol() != kProtocolVersion) {
    return fail(ErrorCode::DecodeFailed, "protocol version {} is not supported, {} is",
                hello.protocol(), kProtocolVersion);
  }
  if (!is_agent_name(hello.name())) {
    return fail(
        ErrorCode::DecodeFailed,
        "agent name '{}' is not 1 to 63 of [A-Za-z0-9._-] that start with a letter or digit",
        hello.name().substr(0, 80));
  }
  if (hello.journal_id().empty() || hello.journal_id().size() > kIdBytesMax) {
    return fail(ErrorCode::DecodeFailed, "journal_id has {} bytes, 1 to {} are allowed",
                hello.journal_id().size(), kIdBytesMax);
  }
  if (hello.instance_id().size() > kIdBytesMax) {
    return fail(ErrorCode::DecodeFailed, "instance_id has {} bytes, at most {} are allowed",
                hello.instance_id().size(), kIdBytesMax);
  }
  if (const std::size_t size = hello.ByteSizeLong(); size > kHelloBytesMax) {
    return fail(ErrorCode::DecodeFailed, "hello has {} bytes, at most {} are allowed", size,
                kHelloBytesMax);
  }
  core::AgentIdentity identity;
  identity.name = hello.name();
  identity.journal_id = hello.journal_id();
  identity.instance_id = hello.instance_id();
  for (const auto& [key, value] : hello.labels()) identity.labels.emplace(key, value);
  identity.kinds.assign(hello.kinds().begin(), hello.kinds().end());
  const pb::Facts& facts = hello.facts();
  identity.facts.os = facts.os();
  identity.facts.os_version = facts.os_version();
  identity.facts.arch = facts.arch();
  identity.facts.kernel = facts.kernel();
  identity.facts.hostname = facts.hostname();
  identity.facts.addresses.assign(facts.addresses().begin(), facts.addresses().end());
  identity.facts.version = facts.version();
  identity.term_seen = hello.term_seen();
  return identity;
}

Result<core::AgentSyncPage> decode_sync_page(pb::SyncPage& wire) {
  core::AgentSyncPage page;
  page.sync = wire.sync();
  page.last = wire.last();
  page.actions.reserve(static_cast<std::size_t>(wire.actions_size()));
  for (pb::ActionState& state : *wire.mutable_actions()) {
    MUSTER_TRY_ASSIGN(core::AgentAction action, decode_named_action(state));
    page.actions.push_back(std::move(action));
  }
  return page;
}

Result<Welcome> decode_welcome(pb::Welcome& wire) {
  Welcome welcome;
  welcome.term = wire.term();
  welcome.controller_id = std::move(*wire.mutable_controller_id());
  MUSTER_TRY_ASSIGN(
      welcome.heartbeat_interval,
      decode_duration("heartbeat_interval", wire.heartbeat_interval(), kHeartbeatMax));
  if (welcome.heartbeat_interval.is_zero()) {
    return fail(ErrorCode::DecodeFailed, "heartbeat_interval is 0, it must be positive");
  }
  return welcome;
}

Result<core::agent::Schedule> decode_schedule(pb::Schedule& wire) {
  core::agent::Schedule schedule;
  MUSTER_TRY_ASSIGN(schedule.id, decode_id(wire.id()));
  MUSTER_TRY_ASSIGN(schedule.attempt, decode_attempt(wire.attempt()));
  schedule.name = std::move(*wire.mutable_name());
  schedule.kind = std::move(*wire.mutable_kind());
  MUSTER_TRY_ASSIGN(schedule.inputs, decode_json("inputs", *wire.mutable_inputs()));
  MUSTER_TRY_ASSIGN(schedule.timeout, decode_duration("timeout", wire.timeout(), kDurationMax));
  schedule.requested_by = std::move(*wire.mutable_requested_by());
  MUSTER_TRY_ASSIGN(schedule.created_at, decode_time("created_at", wire.created_at()));
  MUSTER_TRY_ASSIGN(schedule.start_within,
                    decode_duration("start_within", wire.start_within(), kDurationMax));
  return schedule;
}

Result<core::agent::SignalFromController> decode_signal(pb::Signal& wire) {
  core::agent::SignalFromController signal;
  MUSTER_TRY_ASSIGN(signal.id, decode_id(wire.id()));
  MUSTER_TRY_ASSIGN(signal.attempt, decode_attempt(wire.attempt()));
  MUSTER_TRY_ASSIGN(signal.signal, decode_signal_kind(wire.signal()));
  signal.reason = std::move(*wire.mutable_reason());
  return signal;
}

Result<LogRequest> decode_log_request(const pb::LogRequest& wire) {
  LogRequest request;
  request.request = wire.request();
  MUSTER_TRY_ASSIGN(request.id, decode_id(wire.id()));
  request.attempt = wire.attempt();
  request.offset = wire.offset();
  if (wire.limit() > kLogLimitMax) {
    return fail(ErrorCode::DecodeFailed, "limit is {}, at most {} is allowed", wire.limit(),
                kLogLimitMax);
  }
  request.limit = wire.limit() == 0 ? kLogLimitMax : wire.limit();
  request.wait = wire.wait();
  return request;
}

LogChunk decode_log_chunk(pb::LogChunk& wire) {
  return {.request = wire.request(),
          .offset = wire.offset(),
          .data = std::move(*wire.mutable_data()),
          .end = wire.end(),
          .known = wire.known(),
          .truncated = wire.truncated()};
}

template <typename Variant, typename Value>
Result<Variant> as(std::string_view context, Result<Value> value) {
  if (!value) return fail(std::move(value.error()).wrap(context));
  return Variant(std::move(*value));
}

Result<FromAgent> decode_message(pb::AgentMessage& message) {
  switch (message.message_case()) {
    case pb::AgentMessage::kHello:
      return as<FromAgent>("hello", decode_hello(*message.mutable_hello()));
    case pb::AgentMessage::kSyncPage:
      return as<FromAgent>("sync page", decode_sync_page(*message.mutable_sync_page()));
    case pb::AgentMessage::kReport:
      return as<FromAgent>("report",
                           decode_named_action(*message.mutable_report()->mutable_action()));
    case pb::AgentMessage::kHeartbeat:
      return FromAgent(Heartbeat{message.heartbeat().problem().substr(0, kProblemBytesMax)});
    case pb::AgentMessage::kLogChunk:
      return FromAgent(decode_log_chunk(*message.mutable_log_chunk()));
    case pb::AgentMessage::MESSAGE_NOT_SET:
      break;
  }
  return FromAgent();
}

Result<FromController> decode_message(pb::ControllerMessage& message) {
  switch (message.message_case()) {
    case pb::ControllerMessage::kWelcome:
      return as<FromController>("welcome", decode_welcome(*message.mutable_welcome()));
    case pb::ControllerMessage::kSchedule:
      return as<FromController>("schedule", decode_schedule(*message.mutable_schedule()));
    case pb::ControllerMessage::kSignal:
      return as<FromController>("signal", decode_signal(*message.mutable_signal()));
    case pb::ControllerMessage::kAck: {
      core::agent::Ack ack;
      MUSTER_TRY_ASSIGN(ack.id, decode_id(message.ack().id()));
      MUSTER_TRY_ASSIGN(ack.attempt, decode_attempt(message.ack().attempt()));
      return FromController(ack);
    }
    case pb::ControllerMessage::kSyncRequest:
      return FromController(core::agent::SyncRequest{.sync = message.sync_request().sync()});
    case pb::ControllerMessage::kHeartbeat:
      return FromController(Heartbeat{});
    case pb::ControllerMessage::kLogRequest:
      return as<FromController>("log request", decode_log_request(message.log_request()));
    case pb::ControllerMessage::MESSAGE_NOT_SET:
      break;
  }
  return FromController();
}

template <typename Frame, typename WireFrame>
Result<Frame> decode_frame(std::string_view name, std::string_view bytes) {
  if (bytes.size() > kFrameAcceptedMax) {
    return fail(ErrorCode::DecodeFailed, "{} has {} bytes, at most {} are allowed", name,
                bytes.size(), kFrameAcceptedMax);
  }
  WireFrame wire;
  if (!wire.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::DecodeFailed, "{} bytes are not a {} of protocol {}", bytes.size(), name,
                kProtocolVersion);
  }
  if (wire.messages_size() > kDecodedMessagesMax) {
    return fail(ErrorCode::DecodeFailed, "{} has {} messages, at most {} are allowed", name,
                wire.messages_size(), kDecodedMessagesMax);
  }
  Frame frame;
  frame.seq = wire.seq();
  frame.messages.reserve(static_cast<std::size_t>(wire.messages_size()));
  for (auto& message : *wire.mutable_messages()) {
    MUSTER_TRY_ASSIGN(auto value, decode_message(message));
    frame.messages.push_back(std::move(value));
  }
  return frame;
}

}  // namespace

bool is_agent_name(std::string_view name) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 63 && is_alphanumeric(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
         });
}

Result<AgentFrame> decode_agent_frame(std::string_view bytes) {
  return decode_frame<AgentFrame, pb::AgentFrame>("AgentFrame", bytes);
}

Result<ControllerFrame> decode_controller_frame(std::string_view bytes) {
  return decode_frame<ControllerFrame, pb::ControllerFrame>("ControllerFrame", bytes);
}

Result<bool> FrameSequence::accept(std::uint64_t seq) {
  if (seq == 0) return fail(ErrorCode::DecodeFailed, "frame has number 0, they count from 1");
  if (seq <= last_) return false;
  if (seq != last_ + 1) {
    return fail(ErrorCode::DecodeFailed, "frame {} came after frame {}, something was lost", seq,
                last_);
  }
  last_ = seq;
  return true;
}

}  // namespace muster::rpc
