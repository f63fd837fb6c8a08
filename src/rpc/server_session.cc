#include "rpc/server_session.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "os/clock.h"
#include "rpc/grpc_bytes.h"

namespace muster::rpc {
namespace {

constexpr std::string_view kClosedByAgent = "closed by the agent";
constexpr std::string_view kConnectionLost = "connection lost";
// How long an ending may wait for the write in flight.
constexpr Duration kFinishGrace = Duration::seconds(1);
// How many messages that nobody waits for may gather, and for how long.
constexpr std::size_t kForLaterMax = 16;
constexpr Duration kLaterDelay = Duration::seconds(1);
constexpr Duration kNever = Duration::micros(std::numeric_limits<std::int64_t>::max());
// A status travels in trailing metadata, which gRPC limits to 8 KiB.
constexpr std::size_t kReasonMax = 1024;

}  // namespace

ServerSession::ServerSession(core::SessionId id, Shared& shared,
                             grpc::CallbackServerContext& context)
    : id_(id),
      shared_(shared),
      context_(context),
      opened_at_(os::monotonic_now()),
      heard_at_us_(opened_at_.us),
      due_at_us_((opened_at_ + shared.hello_timeout).us),
      outbox_(shared.queue_max) {}

void ServerSession::begin() { StartRead(&incoming_); }

void ServerSession::send(std::string message) {
  (void)queue(std::move(message));
  flush();
}

bool ServerSession::queue(std::string message) {
  const std::lock_guard lock(mutex_);
  if (ending_) return false;
  push_locked(std::move(message));
  urgent_ = true;
  return !std::exchange(flush_due_, true);
}

bool ServerSession::queue_for_later(std::string message) {
  const std::lock_guard lock(mutex_);
  if (ending_) return false;
  push_locked(std::move(message));
  if (for_later_ == 0) {
    later_at_ = os::monotonic_now() + kLaterDelay;
    due_at_us_.store(std::min(due_at_us_.load(std::memory_order_relaxed), later_at_.us),
                     std::memory_order_relaxed);
  }
  if (++for_later_ < kForLaterMax && !ending_) return false;
  urgent_ = true;
  return !std::exchange(flush_due_, true);
}

void ServerSession::push_locked(std::string message) {
  if (Result<void> pushed = outbox_.push(std::move(message)); !pushed) {
    end_locked(grpc::StatusCode::RESOURCE_EXHAUSTED, pushed.error().message, Drain::No);
  }
}

void ServerSession::flush() {
  std::unique_lock lock(mutex_);
  flush_due_ = false;
  advance(std::move(lock));
}

bool ServerSession::is_ending() {
  const std::lock_guard lock(mutex_);
  return ending_.has_value();
}

void ServerSession::end(grpc::StatusCode code, std::string reason, Drain drain) {
  std::unique_lock lock(mutex_);
  end_locked(code, std::move(reason), drain);
  advance(std::move(lock));
}

void ServerSession::end_locked(grpc::StatusCode code, std::string reason, Drain drain) {
  if (!ending_) {
    reason.resize(std::min(reason.size(), kReasonMax));
    ending_ = Ending{code, std::move(reason), drain, os::monotonic_now() + kFinishGrace};
    due_at_us_.store(ending_->cancel_at.us, std::memory_order_relaxed);
  }
  if (drain == Drain::No) {
    ending_->drain = Drain::No;
    outbox_.clear();
  }
}

// Starts whatever comes next: a write, or the end. The flags are set under the lock, so that nobody
// else starts the same; gRPC is called after it is released.
void ServerSession::advance(std::unique_lock<std::mutex> lock) {
  if (writing_ || finished_) return;
  if (!outbox_.empty() && (urgent_ || ending_)) {
    Outbox::Frame frame = outbox_.take_frame();
    for_later_ = 0;
    urgent_ = !outbox_.empty();
    outgoing_ = to_buffer(frame.bytes);
    writing_ = true;
    shared_.counters.frames_sent.fetch_add(1, std::memory_order_relaxed);
    shared_.counters.messages_sent.fetch_add(frame.messages, std::memory_order_relaxed);
    lock.unlock();
    StartWrite(&outgoing_);
    return;
  }
  if (ending_) {
    finished_ = true;
    due_at_us_.store(kNever.us, std::memory_order_relaxed);
    grpc::Status status(ending_->code,
                        ending_->code == grpc::StatusCode::OK ? "" : ending_->reason);
    lock.unlock();
    // From here on OnDone may come at any moment and drop this session.
    Finish(std::move(status));
  }
}

void ServerSession::tick(Duration now) {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  if (ending_) {
    if (now < ending_->cancel_at) return;
    // The peer does not take what is in flight. Cancelling makes the write fail, and its reaction
    // goes on to Finish. The context is there, because Finish was not called yet.
    ending_->drain = Drain::No;
    outbox_.clear();
    due_at_us_.store(kNever.us, std::memory_order_relaxed);
    if (writing_) context_.TryCancel();
    advance(std::move(lock));
    return;
  }
  const Duration interval = shared_.welcome.heartbeat_interval;
  const Duration silent_at = Duration::micros(heard_at_us_.load()) + interval * kSilentIntervals;
  const Duration hello_at = opened_at_ + shared_.hello_timeout;
  Duration due = hello_at;
  if (!greeted_) {
    if (now >= hello_at) {
      end_locked(grpc::StatusCode::DEADLINE_EXCEEDED,
                 fmt::format("no hello within {}", format_duration(shared_.hello_timeout)),
                 Drain::No);
    }
  } else if (now >= silent_at) {
    end_locked(grpc::StatusCode::DEADLINE_EXCEEDED,
               fmt::format("nothing heard for {}", format_duration(interval * kSilentIntervals)),
               Drain::No);
  } else {
    if (now >= heartbeat_at_) {
      // Where something waits already, it will tell the peer as much.
      if (outbox_.empty()) (void)outbox_.push(encode_controller_heartbeat());
      urgent_ = true;
      heartbeat_at_ = now + interval;
    }
    due = std::min(heartbeat_at_, silent_at);
    if (for_later_ > 0) {
      urgent_ = urgent_ || now >= later_at_;
      if (!urgent_) due = std::min(due, later_at_);
    }
  }
  if (!ending_) due_at_us_.store(due.us, std::memory_order_relaxed);
  advance(std::move(lock));
}

void ServerSession::OnReadDone(bool ok) {
  if (!ok) {
    end(grpc::StatusCode::OK, std::string(kClosedByAgent), Drain::No);
    return;
  }
  if (take_frame()) StartRead(&incoming_);
}

bool ServerSession::take_frame() {
  heard_at_us_.store(os::monotonic_now().us);
  const auto refuse = [this](const Error& error) {
    end(grpc::StatusCode::INVALID_ARGUMENT, error.message, Drain::No);
    return false;
  };
  Result<AgentFrame> frame = decode_agent_frame(BufferView(incoming_).bytes());
  incoming_.Clear();
  if (!frame) return refuse(frame.error());
  const Result<bool> fresh = sequence_.accept(frame->seq);
  if (!fresh) return refuse(fresh.error());
  if (!*fresh) return true;
  shared_.counters.frames_received.fetch_add(1, std::memory_order_relaxed);
  shared_.counters.messages_received.fetch_add(frame->messages.size(), std::memory_order_relaxed);
  std::vector<core::AgentAction> reports;
  for (FromAgent& message : frame->messages) {
    auto* report = std::get_if<core::AgentAction>(&message);
    if (report != nullptr && greeted_) {
      reports.push_back(std::move(*report));
      continue;
    }
    if (!take_reports(std::exchange(reports, {})) || is_ending() ||
        !take_message(std::move(message))) {
      return false;
    }
  }
  return take_reports(std::move(reports));
}

bool ServerSession::take_reports(std::vector<core::AgentAction> reports) {
  if (reports.empty()) return true;
  if (is_ending()) return false;
  shared_.handler.on_reports(id_, std::move(reports));
  return true;
}

bool ServerSession::take_message(FromAgent message) {
  if (!greeted_) return take_first(message);
  LinkHandler& handler = shared_.handler;
  if (std::holds_alternative<core::AgentIdentity>(message)) {
    end(grpc::StatusCode::FAILED_PRECONDITION, "a second hello on one stream", Drain::No);
    return false;
  }
  if (auto* page = std::get_if<core::AgentSyncPage>(&message)) {
    page->session = id_;
    handler.on_sync_page(id_, std::move(*page));
  } else if (auto* heartbeat = std::get_if<Heartbeat>(&message)) {
    if (heartbeat->problem.empty()) {
      handler.on_heartbeat(id_);
    } else {
      handler.on_trouble(id_, std::move(heartbeat->problem));
    }
  } else if (auto* chunk = std::get_if<LogChunk>(&message)) {
    handler.on_log_chunk(id_, std::move(*chunk));
  }
  return true;
}

bool ServerSession::take_first(FromAgent& message) {
  auto* identity = std::get_if<core::AgentIdentity>(&message);
  if (identity == nullptr) {
    end(grpc::StatusCode::FAILED_PRECONDITION, "the first message must be a hello", Drain::No);
    return false;
  }
  if (identity->term_seen > shared_.welcome.term) {
    const std::string reason = fmt::format(
        "agent '{}' has met a controller with term {}, this one has term {}: another controller "
        "has taken over, or this store is an older copy that 'muster restore' did not put here",
        identity->name, identity->term_seen, shared_.welcome.term);
    shared_.handler.on_refused(identity->name, reason);
    end(grpc::StatusCode::FAILED_PRECONDITION, reason, Drain::No);
    return false;
  }
  {
    const std::lock_guard lock(mutex_);
    heartbeat_at_ = os::monotonic_now() + shared_.welcome.heartbeat_interval;
    if (!ending_) due_at_us_.store(heartbeat_at_.us, std::memory_order_relaxed);
    greeted_ = true;
  }
  send(encode_welcome(shared_.welcome));
  shared_.handler.on_hello(id_, std::move(*identity));
  return true;
}

void ServerSession::OnWriteDone(bool ok) {
  std::unique_lock lock(mutex_);
  writing_ = false;
  if (!ok) end_locked(grpc::StatusCode::CANCELLED, std::string(kConnectionLost), Drain::No);
  advance(std::move(lock));
}

void ServerSession::OnCancel() {
  std::unique_lock lock(mutex_);
  end_locked(grpc::StatusCode::CANCELLED, std::string(kConnectionLost), Drain::No);
  // A read that ended looks the same for a polite end and for a lost connection until this comes.
  if (ending_->reason == kClosedByAgent) ending_->reason = kConnectionLost;
  advance(std::move(lock));
}

void ServerSession::OnDone() {
  std::string reason;
  {
    const std::lock_guard lock(mutex_);
    if (ending_) reason = ending_->reason;
  }
  if (greeted_) shared_.handler.on_closed(id_, std::move(reason));
  shared_.done(id_);
}

}  // namespace muster::rpc
