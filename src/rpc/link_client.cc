#include "rpc/link_client.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "os/clock.h"
#include "os/random.h"
#include "rpc/agent_channel.h"
#include "rpc/client_session.h"
#include "rpc/endpoint.h"

namespace muster::rpc {
namespace {

// After a session that lasted this long, dialling starts again with the shortest back-off.
constexpr Duration kStableSession = Duration::seconds(10);
// How long a stop waits for the controller to answer our goodbye.
constexpr Duration kCloseGrace = Duration::millis(500);

class LinkClientImpl final : public LinkClient {
 public:
  LinkClientImpl(LinkClientOptions options, AgentLinkHandler& handler)
      : options_(std::move(options)), handler_(handler) {
    thread_ = std::thread([this] { run(); });
  }
  ~LinkClientImpl() override { stop(); }

  void send_all(std::span<const core::agent::AgentMessage> messages) override;
  void send_log_chunk(LogChunk chunk) override;
  LinkStats stats() const override;
  void stop() override;

 private:
  struct Outcome {
    bool was_up = false;
    Duration lasted;
    std::string reason;
  };

  void run();
  Outcome run_session(const std::string& controller);
  void watch(ClientSession& session);
  // The dialling thread's next look at the session, and what it does there. `lock` is of progress_.
  Duration watch_dial(ClientSession& session, Duration now, std::unique_lock<std::mutex>& lock);
  Duration watch_link(ClientSession& session, Duration now, std::unique_lock<std::mutex>& lock);
  Duration watch_end(ClientSession& session, Duration now, std::unique_lock<std::mutex>& lock);
  void set_current(ClientSession* session);
  bool is_stopping() const;
  void wait(Duration delay);

  const LinkClientOptions options_;
  AgentLinkHandler& handler_;
  LinkCounters counters_;
  const std::shared_ptr<DialProgress> progress_ = std::make_shared<DialProgress>();
  std::thread thread_;

  // Of the dialling thread, for the current session.
  Duration dial_until_;
  std::optional<Duration> heartbeat_at_;
  std::optional<Duration> cancel_at_;  // set: it is ending

  mutable std::mutex mutex_;
  // Protected by mutex_, which is held while a message is handed to the session: that keeps it.
  ClientSession* current_ = nullptr;
};

void LinkClientImpl::send_all(std::span<const core::agent::AgentMessage> messages) {
  const std::lock_guard lock(mutex_);
  if (current_ == nullptr) return;
  for (const core::agent::AgentMessage& message : messages) {
    for (std::string& encoded : encode_agent_message(message)) current_->queue(std::move(encoded));
  }
  current_->flush();
}

void LinkClientImpl::send_log_chunk(LogChunk chunk) {
  const std::lock_guard lock(mutex_);
  if (current_ != nullptr) current_->send(encode_log_chunk(chunk));
}

LinkStats LinkClientImpl::stats() const {
  const std::lock_guard lock(mutex_);
  return counters_.read(current_ != nullptr && current_->was_up() ? 1 : 0);
}

void LinkClientImpl::stop() {
  {
    const std::lock_guard lock(progress_->mutex);
    progress_->stop = true;
    progress_->changed.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void LinkClientImpl::set_current(ClientSession* session) {
  const std::lock_guard lock(mutex_);
  current_ = session;
}

bool LinkClientImpl::is_stopping() const {
  const std::lock_guard lock(progress_->mutex);
  return progress_->stop;
}

void LinkClientImpl::wait(Duration delay) {
  std::unique_lock lock(progress_->mutex);
  progress_->changed.wait_for(lock, std::chrono::microseconds(delay.us),
                              [this] { return progress_->stop; });
}

void LinkClientImpl::run() {
  std::uint32_t attempt = 0;
  std::size_t next = 0;
  while (!is_stopping()) {
    const std::string& controller = options_.controllers[next];
    const Outcome outcome = run_session(controller);
    if (outcome.was_up) {
      // The controller that was there is the likeliest to be there again.
      if (outcome.lasted > kStableSession) attempt = 0;
      handler_.on_down(outcome.reason);
    } else {
      next = (next + 1) % options_.controllers.size();
    }
    if (is_stopping()) return;
    const Duration delay = options_.backoff.jittered(++attempt, options_.random());
    if (!outcome.was_up) handler_.on_dial_failed(controller, outcome.reason, delay);
    wait(delay);
  }
}

LinkClientImpl::Outcome LinkClientImpl::run_session(const std::string& controller) {
  const std::string hello = encode_hello(handler_.identity());
  const Duration began = os::monotonic_now();
  {
    const std::lock_guard lock(progress_->mutex);
    progress_->up = false;
    progress_->done = false;
  }
  dial_until_ = began + options_.dial_timeout;
  heartbeat_at_.reset();
  cancel_at_.reset();
  grpc::GenericStub stub(make_agent_channel(controller));
  ClientSession session(handler_, counters_, progress_);
  set_current(&session);
  session.start(stub, hello);
  watch(session);
  set_current(nullptr);
  return {.was_up = session.was_up(),
          .lasted = os::monotonic_now() - began,
          .reason = session.reason()};
}

// Returns when the session is done.
void LinkClientImpl::watch(ClientSession& session) {
  DialProgress& progress = *progress_;
  std::unique_lock lock(progress.mutex);
  while (!progress.done) {
    const Duration now = os::monotonic_now();
    Duration look_again;
    if (cancel_at_) {
      look_again = watch_end(session, now, lock);
    } else if (progress.stop) {
      const bool up = progress.up;
      cancel_at_ = now + kCloseGrace;
      lock.unlock();
      if (up) {
        session.close();
      } else {
        session.cancel("stopped");
      }
      lock.lock();
      look_again = *cancel_at_;
    } else if (progress.up) {
      look_again = watch_link(session, now, lock);
    } else {
      look_again = watch_dial(session, now, lock);
    }
    // What changed while the lock was away is looked at now, not after a wait.
    const bool was_up = progress.up;
    const bool ending = cancel_at_.has_value();
    const Duration pause = std::max(Duration(), look_again - os::monotonic_now());
    progress.changed.wait_for(lock, std::chrono::microseconds(pause.us), [&] {
      return progress.done || progress.up != was_up || (progress.stop && !ending);
    });
  }
}

Duration LinkClientImpl::watch_dial(ClientSession& session, Duration now,
                                    std::unique_lock<std::mutex>& lock) {
  if (now < dial_until_) return dial_until_;
  cancel_at_ = now + kCloseGrace;
  lock.unlock();
  session.cancel(fmt::format("no welcome within {}", format_duration(options_.dial_timeout)));
  lock.lock();
  return *cancel_at_;
}

Duration LinkClientImpl::watch_link(ClientSession& session, Duration now,
                                    std::unique_lock<std::mutex>& lock) {
  const Duration interval = progress_->heartbeat_interval;
  const Duration silent_at = session.heard_at() + interval * kSilentIntervals;
  if (!heartbeat_at_) heartbeat_at_ = now + interval;
  if (now >= silent_at) {
    cancel_at_ = now + kCloseGrace;
    lock.unlock();
    session.cancel(
        fmt::format("nothing heard for {}", format_duration(interval * kSilentIntervals)));
    lock.lock();
    return *cancel_at_;
  }
  if (now >= *heartbeat_at_) {
    heartbeat_at_ = now + interval;
    lock.unlock();
    session.send_heartbeat();
    lock.lock();
  }
  return std::min(*heartbeat_at_, silent_at);
}

Duration LinkClientImpl::watch_end(ClientSession& session, Duration now,
                                   std::unique_lock<std::mutex>& lock) {
  if (now >= *cancel_at_) {
    // After the first time it only repeats what gRPC knows; the end itself is gRPC's to report.
    cancel_at_ = now + Duration::seconds(1);
    lock.unlock();
    session.cancel("closed by the agent");
    lock.lock();
  }
  return *cancel_at_;
}

}  // namespace

Result<std::unique_ptr<LinkClient>> LinkClient::start(LinkClientOptions options,
                                                      AgentLinkHandler& handler) {
  if (options.controllers.empty()) {
    return fail(ErrorCode::InvalidValue, "no controller to dial, at least one is needed");
  }
  for (std::string& controller : options.controllers) {
    MUSTER_TRY_ASSIGN(const Endpoint endpoint, parse_endpoint(controller));
    MUSTER_TRY(check_exposure(endpoint, options.insecure));
    if (endpoint.port == 0) {
      return fail(ErrorCode::InvalidValue, "controller '{}' has port 0, which cannot be dialled",
                  controller);
    }
    controller = endpoint.to_string();
  }
  if (options.dial_timeout <= Duration()) {
    return fail(ErrorCode::InvalidValue, "dial timeout is {}, it must be positive",
                format_duration(options.dial_timeout));
  }
  if (!options.random) options.random = os::system_random;
  return std::unique_ptr<LinkClient>(std::make_unique<LinkClientImpl>(std::move(options), handler));
}

}  // namespace muster::rpc
