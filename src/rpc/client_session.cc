#include "rpc/client_session.h"

#include <utility>

#include "os/clock.h"
#include "rpc/grpc_bytes.h"

namespace muster::rpc {
namespace {

// As for the sessions of a controller: an agent's messages are small, so this is reached only when
// the controller takes nothing for long.
constexpr std::size_t kQueueMax = std::size_t{64} << 20;
constexpr const char* kMethod = "/muster.agent.v1.AgentLink/Connect";

std::string describe(const grpc::Status& status) {
  if (status.ok()) return "closed by the controller";
  if (!status.error_message().empty()) return status.error_message();
  return fmt::format("the stream ended with gRPC status {}", static_cast<int>(status.error_code()));
}

}  // namespace

ClientSession::ClientSession(AgentLinkHandler& handler, LinkCounters& counters,
                             std::shared_ptr<DialProgress> progress)
    : handler_(handler), counters_(counters), progress_(std::move(progress)), outbox_(kQueueMax) {}

void ClientSession::start(grpc::GenericStub& stub, std::string hello) {
  stub.PrepareBidiStreamingCall(&context_, kMethod, grpc::StubOptions(), this);
  AddHold();
  StartRead(&incoming_);
  StartCall();
  push(std::move(hello));
  flush();
}

void ClientSession::send(std::string message) {
  queue(std::move(message));
  flush();
}

void ClientSession::queue(std::string message) {
  if (up_) push(std::move(message));
}

void ClientSession::flush() { advance(std::unique_lock(mutex_)); }

void ClientSession::send_heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    if (!outbox_.empty()) return;
  }
  send(encode_agent_heartbeat(handler_.problem()));
}

void ClientSession::push(std::string message) {
  std::unique_lock lock(mutex_);
  if (closing_ || cancelled_ || read_ended_) return;
  if (Result<void> pushed = outbox_.push(std::move(message)); !pushed) {
    lock.unlock();
    cancel(pushed.error().message);
  }
}

void ClientSession::close() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  if (own_reason_.empty()) own_reason_ = "closed by the agent";
  advance(std::move(lock));
}

void ClientSession::cancel(std::string reason) {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    outbox_.clear();
    if (own_reason_.empty()) own_reason_ = std::move(reason);
  }
  context_.TryCancel();
}

std::string ClientSession::reason() {
  const std::lock_guard lock(mutex_);
  return own_reason_.empty() ? status_reason_ : own_reason_;
}

// Starts whatever comes next: a write, the close of our direction, or the release of the hold. The
// flags are set under the lock, so that nobody else starts the same; gRPC is called after it is
// released.
void ClientSession::advance(std::unique_lock<std::mutex> lock) {
  if (writing_) return;
  if (read_ended_) {
    if (std::exchange(hold_released_, true)) return;
    lock.unlock();
    RemoveHold();
    return;
  }
  if (!outbox_.empty()) {
    Outbox::Frame frame = outbox_.take_frame();
    outgoing_ = to_buffer(frame.bytes);
    writing_ = true;
    counters_.frames_sent.fetch_add(1, std::memory_order_relaxed);
    counters_.messages_sent.fetch_add(frame.messages, std::memory_order_relaxed);
    lock.unlock();
    StartWrite(&outgoing_);
    return;
  }
  if (closing_ && !half_closed_ && !cancelled_) {
    half_closed_ = true;
    lock.unlock();
    StartWritesDone();
  }
}

void ClientSession::OnReadDone(bool ok) {
  if (!ok) {
    std::unique_lock lock(mutex_);
    read_ended_ = true;
    outbox_.clear();
    advance(std::move(lock));
    return;
  }
  // A stream that we end is still read until gRPC says that it has ended.
  if (const Result<void> taken = take_frame(); !taken) cancel(taken.error().message);
  StartRead(&incoming_);
}

Result<void> ClientSession::take_frame() {
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return {};
  }
  heard_at_us_.store(os::monotonic_now().us);
  Result<ControllerFrame> frame = decode_controller_frame(BufferView(incoming_).bytes());
  incoming_.Clear();
  if (!frame) return fail(std::move(frame.error()));
  MUSTER_TRY_ASSIGN(const bool fresh, sequence_.accept(frame->seq));
  if (!fresh) return {};
  counters_.frames_received.fetch_add(1, std::memory_order_relaxed);
  counters_.messages_received.fetch_add(frame->messages.size(), std::memory_order_relaxed);
  for (FromController& message : frame->messages) MUSTER_TRY(take_message(std::move(message)));
  if (up_) handler_.on_frame_end();
  return {};
}

Result<void> ClientSession::take_message(FromController message) {
  if (!up_) return take_welcome(message);
  if (std::holds_alternative<Welcome>(message)) {
    return fail(ErrorCode::DecodeFailed, "a second welcome on one stream");
  }
  if (auto* schedule = std::get_if<core::agent::Schedule>(&message)) {
    handler_.on_schedule(std::move(*schedule));
  } else if (auto* signal = std::get_if<core::agent::SignalFromController>(&message)) {
    handler_.on_signal(std::move(*signal));
  } else if (auto* ack = std::get_if<core::agent::Ack>(&message)) {
    handler_.on_ack(*ack);
  } else if (auto* sync = std::get_if<core::agent::SyncRequest>(&message)) {
    handler_.on_sync_request(*sync);
  } else if (auto* request = std::get_if<LogRequest>(&message)) {
    handler_.on_log_request(*request);
  }
  return {};
}

Result<void> ClientSession::take_welcome(FromController& message) {
  const auto* welcome = std::get_if<Welcome>(&message);
  if (welcome == nullptr) {
    return fail(ErrorCode::DecodeFailed, "the first message of the controller is not a welcome");
  }
  if (const std::uint64_t highest = handler_.highest_term(); welcome->term < highest) {
    return fail(ErrorCode::Fenced,
                "controller '{}' has term {}, but one with term {} has taken over",
                welcome->controller_id, welcome->term, highest);
  }
  up_ = true;
  {
    const std::lock_guard lock(progress_->mutex);
    progress_->up = true;
    progress_->heartbeat_interval = welcome->heartbeat_interval;
    progress_->changed.notify_all();
  }
  handler_.on_up(*welcome);
  return {};
}

void ClientSession::OnWriteDone(bool /*ok*/) {
  // A write fails only on a stream that has ended; the read that is always there says so too.
  std::unique_lock lock(mutex_);
  writing_ = false;
  advance(std::move(lock));
}

void ClientSession::OnDone(const grpc::Status& status) {
  const std::shared_ptr<DialProgress> progress = progress_;
  {
    const std::lock_guard lock(mutex_);
    status_reason_ = describe(status);
  }
  const std::lock_guard lock(progress->mutex);
  progress->done = true;
  progress->changed.notify_all();
}

}  // namespace muster::rpc
