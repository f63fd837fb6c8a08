#include <agent.pb.h>

#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "rpc/wire_codec.h"

namespace muster::rpc {
namespace {

namespace pb = ::muster::agent::v1;

template <typename... Handlers>
struct Overload : Handlers... {
  using Handlers::operator()...;
};

std::string json_or_empty_object(const core::JsonText& text) {
  return text.empty() ? "{}" : to_utf8(text);
}

pb::ActionStatus to_wire(core::Status status) {
  switch (status) {
    case core::Status::New:
      return pb::NEW;
    case core::Status::Running:
      return pb::RUNNING;
    case core::Status::Suspended:
      return pb::SUSPENDED;
    case core::Status::Succeeded:
      return pb::DONE;
    case core::Status::Failed:
      return pb::FAILED;
    case core::Status::Cancelled:
      return pb::CANCELLED;
    case core::Status::Init:
    case core::Status::PendingApprove:
    case core::Status::Waiting:
    case core::Status::Ready:
    case core::Status::PendingSchedule:
    case core::Status::WaitingLifecycleCompletion:
    case core::Status::Lost:
      break;
  }
  check_failed("status of an action on an agent",
               fmt::format("status {} does not exist on agents", static_cast<int>(status)),
               std::source_location::current());
}

pb::ExecuteResult to_wire(core::ExecuteResult result) {
  switch (result) {
    case core::ExecuteResult::Ok:
      return pb::OK;
    case core::ExecuteResult::Error:
      return pb::ERROR;
    case core::ExecuteResult::Retry:
      return pb::RETRY;
    case core::ExecuteResult::Cancel:
      return pb::CANCEL;
    case core::ExecuteResult::Timeout:
      return pb::TIMEOUT;
  }
  return pb::EXECUTE_RESULT_UNSPECIFIED;
}

pb::SignalKind to_wire(core::Signal signal) {
  switch (signal) {
    case core::Signal::None:
      break;
    case core::Signal::Cancel:
      return pb::SIGNAL_CANCEL;
    case core::Signal::Suspend:
      return pb::SIGNAL_SUSPEND;
    case core::Signal::Resume:
      return pb::SIGNAL_RESUME;
  }
  check_failed("signal to an agent", "signal None cannot be sent", std::source_location::current());
}

void fill(pb::ActionState& state, const core::AgentAction& action) {
  state.set_id(std::string(action.id.bytes()));
  state.set_attempt(action.attempt);
  state.set_origin(action.origin == core::Origin::Agent ? pb::AGENT : pb::CONTROLLER);
  state.set_status(to_wire(action.status));
  if (core::is_final(action.status)) state.set_result(to_wire(action.result));
  state.set_reason(to_utf8(action.reason));
  state.set_start_time(action.start_time.us);
  state.set_stop_time(action.stop_time.us);
  state.set_outputs(json_or_empty_object(action.outputs));
  state.set_name(to_utf8(action.name));
  state.set_kind(to_utf8(action.kind));
  state.set_inputs(json_or_empty_object(action.inputs));
  state.set_timeout(action.timeout.us);
  state.set_requested_by(to_utf8(action.requested_by));
  state.set_created_at(action.created_at.us);
}

std::vector<std::string> encode_sync_page(const core::agent::SendSyncPage& page) {
  std::vector<std::string> result;
  pb::AgentMessage message;
  message.mutable_sync_page()->set_sync(page.sync);
  std::size_t bytes = 0;
  for (const core::AgentAction& action : page.actions) {
    pb::ActionState state;
    fill(state, action);
    const std::size_t size = state.ByteSizeLong();
    if (bytes > 0 && bytes + size > kFrameBytesMax) {
      result.push_back(message.SerializeAsString());
      message.mutable_sync_page()->clear_actions();
      bytes = 0;
    }
    bytes += size;
    *message.mutable_sync_page()->add_actions() = std::move(state);
  }
  message.mutable_sync_page()->set_last(page.last);
  result.push_back(message.SerializeAsString());
  return result;
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out += static_cast<char>(value);
}

}  // namespace

std::string encode_hello(const core::AgentIdentity& identity) {
  pb::AgentMessage message;
  pb::Hello& hello = *message.mutable_hello();
  hello.set_protocol(kProtocolVersion);
  hello.set_name(to_utf8(identity.name));
  hello.set_journal_id(to_utf8(identity.journal_id));
  hello.set_instance_id(to_utf8(identity.instance_id));
  for (const auto& [key, value] : identity.labels) {
    (*hello.mutable_labels())[to_utf8(key)] = to_utf8(value);
  }
  for (const std::string& kind : identity.kinds) hello.add_kinds(to_utf8(kind));
  pb::Facts& facts = *hello.mutable_facts();
  facts.set_os(to_utf8(identity.facts.os));
  facts.set_os_version(to_utf8(identity.facts.os_version));
  facts.set_arch(to_utf8(identity.facts.arch));
  facts.set_kernel(to_utf8(identity.facts.kernel));
  facts.set_hostname(to_utf8(identity.facts.hostname));
  for (const std::string& address : identity.facts.addresses) {
    facts.add_addresses(to_utf8(address));
  }
  facts.set_version(to_utf8(identity.facts.version));
  hello.set_term_seen(identity.term_seen);
  return message.SerializeAsString();
}

std::vector<std::string> encode_agent_message(const core::agent::AgentMessage& message) {
  if (const auto* page = std::get_if<core::agent::SendSyncPage>(&message)) {
    return encode_sync_page(*page);
  }
  pb::AgentMessage report;
  fill(*report.mutable_report()->mutable_action(),
       std::get<core::agent::SendReport>(message).action);
  std::vector<std::string> result;
  result.push_back(report.SerializeAsString());
  return result;
}

std::string encode_log_chunk(const LogChunk& chunk) {
  pb::AgentMessage message;
  pb::LogChunk& wire = *message.mutable_log_chunk();
  wire.set_request(chunk.request);
  wire.set_offset(chunk.offset);
  wire.set_data(chunk.data);
  wire.set_end(chunk.end);
  wire.set_known(chunk.known);
  wire.set_truncated(chunk.truncated);
  return message.SerializeAsString();
}

std::string encode_agent_heartbeat(std::string_view problem) {
  pb::AgentMessage message;
  message.mutable_heartbeat()->set_problem(to_utf8(std::string(problem)));
  return message.SerializeAsString();
}

std::string encode_welcome(const Welcome& welcome) {
  pb::ControllerMessage message;
  pb::Welcome& wire = *message.mutable_welcome();
  wire.set_term(welcome.term);
  wire.set_controller_id(to_utf8(welcome.controller_id));
  wire.set_heartbeat_interval(welcome.heartbeat_interval.us);
  return message.SerializeAsString();
}

std::optional<std::string> encode_send(const core::AgentSend& send) {
  pb::ControllerMessage message;
  const auto fill_message = Overload{
      [&](const core::SendSchedule& schedule) {
        const core::ActionSpec& spec = *schedule.action->spec;
        pb::Schedule& wire = *message.mutable_schedule();
        wire.set_id(std::string(spec.id.bytes()));
        wire.set_attempt(schedule.action->attempt);
        wire.set_name(to_utf8(spec.name));
        wire.set_kind(to_utf8(spec.kind));
        wire.set_inputs(json_or_empty_object(spec.inputs));
        wire.set_timeout(spec.timeout.us);
        wire.set_requested_by(to_utf8(spec.requested_by));
        wire.set_created_at(spec.created_at.us);
        wire.set_start_within(schedule.start_within.us);
        return true;
      },
      [&](const core::SendSignal& signal) {
        pb::Signal& wire = *message.mutable_signal();
        wire.set_id(std::string(signal.id.bytes()));
        wire.set_attempt(signal.attempt);
        wire.set_signal(to_wire(signal.signal));
        wire.set_reason(to_utf8(signal.reason));
        return true;
      },
      [&](const core::SendAck& ack) {
        pb::Ack& wire = *message.mutable_ack();
        wire.set_id(std::string(ack.id.bytes()));
        wire.set_attempt(ack.attempt);
        return true;
      },
      [&](const core::SendSyncRequest& request) {
        message.mutable_sync_request()->set_sync(request.sync);
        return true;
      },
      [](const core::CloseSession&) { return false; },
  };
  if (!std::visit(fill_message, send.message)) return std::nullopt;
  return message.SerializeAsString();
}

std::string encode_log_request(const LogRequest& request) {
  pb::ControllerMessage message;
  pb::LogRequest& wire = *message.mutable_log_request();
  wire.set_request(request.request);
  wire.set_id(std::string(request.id.bytes()));
  wire.set_attempt(request.attempt);
  wire.set_offset(request.offset);
  wire.set_limit(request.limit);
  wire.set_wait(request.wait);
  return message.SerializeAsString();
}

std::string encode_controller_heartbeat() {
  pb::ControllerMessage message;
  message.mutable_heartbeat();
  return message.SerializeAsString();
}

// Written by hand, because the messages are encoded already: a queue of bytes can be bounded
// exactly, and each message is serialised once. Field 1 is the varint `seq`, field 2 the repeated
// message.
std::string encode_frame(std::uint64_t seq, std::span<const std::string> messages) {
  constexpr char kSeqTag = (1 << 3) | 0;
  constexpr char kMessagesTag = (2 << 3) | 2;
  std::size_t size = 11;
  for (const std::string& message : messages) size += message.size() + 6;
  std::string frame;
  frame.reserve(size);
  frame += kSeqTag;
  append_varint(frame, seq);
  for (const std::string& message : messages) {
    frame += kMessagesTag;
    append_varint(frame, message.size());
    frame += message;
  }
  return frame;
}

}  // namespace muster::rpc
