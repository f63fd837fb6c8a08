#include "rpc/link_server.h"

#include <agent.grpc.pb.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "os/clock.h"
#include "rpc/endpoint.h"
#include "rpc/grpc_setup.h"
#include "rpc/server_session.h"

namespace muster::rpc {
namespace {

namespace pb = ::muster::agent::v1;

constexpr int kPingIntervalMinMs = 10'000;
constexpr auto kStopGrace = std::chrono::milliseconds(1500);
constexpr auto kStopLimit = std::chrono::seconds(30);

// The seam for TLS: nothing else knows how a peer is trusted.
std::shared_ptr<grpc::ServerCredentials> make_server_credentials() {
  return grpc::InsecureServerCredentials();
}

// Answers a stream that gets no session.
class RefusedStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit RefusedStream(grpc::Status status) { Finish(std::move(status)); }
  void OnDone() override { delete this; }
};

class LinkServerImpl final : public LinkServer {
 public:
  LinkServerImpl(LinkServerOptions options, LinkHandler& handler)
      : options_(std::move(options)),
        shared_{.handler = handler,
                .counters = counters_,
                .welcome = options_.welcome,
                .queue_max = options_.session_queue_max,
                .hello_timeout = options_.hello_timeout,
                .done = [this](core::SessionId id) { forget(id); }},
        service_(*this) {}
  ~LinkServerImpl() override { stop(); }

  Result<void> listen(const Endpoint& endpoint);

  std::uint16_t port() const override { return port_; }
  void send_all(std::span<const core::AgentSend> sends) override;
  void request_log(core::SessionId session, const LogRequest& request) override;
  LinkStats stats() const override;
  void stop() override;

 private:
  class Service final
      : public pb::AgentLink::WithRawCallbackMethod_Connect<pb::AgentLink::Service> {
   public:
    explicit Service(LinkServerImpl& server) : server_(server) {}
    grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Connect(
        grpc::CallbackServerContext* context) override {
      return server_.open(*context);
    }

   private:
    LinkServerImpl& server_;
  };

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* open(
      grpc::CallbackServerContext& context);
  std::shared_ptr<ServerSession> find(core::SessionId id) const;
  void forget(core::SessionId id);
  void end_all();
  void run_timer();

  // Constant after listen().
  const LinkServerOptions options_;
  LinkCounters counters_;
  ServerSession::Shared shared_;
  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::uint16_t port_ = 0;
  std::thread timer_;

  mutable std::mutex mutex_;
  // Protected by mutex_.
  std::condition_variable changed_;
  std::unordered_map<core::SessionId, std::shared_ptr<ServerSession>> sessions_;
  std::uint64_t opened_ = 0;
  bool stopping_ = false;
  bool timer_stopping_ = false;
};

Result<void> LinkServerImpl::listen(const Endpoint& endpoint) {
  MUSTER_TRY(probe_listen(endpoint));
  set_up_grpc();
  grpc::ServerBuilder builder;
  int bound = 0;
  builder.AddListeningPort(endpoint.to_string(), make_server_credentials(), &bound);
  builder.RegisterService(&service_);
  builder.SetMaxReceiveMessageSize(static_cast<int>(kFrameAcceptedMax));
  builder.SetMaxSendMessageSize(static_cast<int>(kFrameAcceptedMax));
  // Without this a second controller would share the port and take half of the agents.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // The heartbeats tell whether an agent lives; this clears away connections that are dead below.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kPingIntervalMinMs);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || bound == 0) {
    return fail(ErrorCode::IoError, "cannot listen on '{}'", endpoint.to_string());
  }
  port_ = static_cast<std::uint16_t>(bound);
  timer_ = std::thread([this] { run_timer(); });
  return {};
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* LinkServerImpl::open(
    grpc::CallbackServerContext& context) {
  std::shared_ptr<ServerSession> session;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      return new RefusedStream({grpc::StatusCode::UNAVAILABLE, "the controller is stopping"});
    }
    if (sessions_.size() >= options_.sessions_max) {
      return new RefusedStream(
          {grpc::StatusCode::RESOURCE_EXHAUSTED,
           fmt::format("the controller has {} sessions, which is its limit", sessions_.size())});
    }
    // The term makes ids of one controller different from those of the one that it replaced.
    const core::SessionId id = (options_.welcome.term << 32) + ++opened_;
    session = std::make_shared<ServerSession>(id, shared_, context);
    sessions_.emplace(id, session);
  }
  session->begin();
  return session.get();
}

std::shared_ptr<ServerSession> LinkServerImpl::find(core::SessionId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

void LinkServerImpl::forget(core::SessionId id) {
  std::shared_ptr<ServerSession> last;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  if (const auto found = sessions_.find(id); found != sessions_.end()) {
    last = std::move(found->second);
    sessions_.erase(found);
  }
  changed_.notify_all();
}

void LinkServerImpl::send_all(std::span<const core::AgentSend> sends) {
  std::vector<std::shared_ptr<ServerSession>> sessions;
  sessions.reserve(sends.size());
  {
    const std::lock_guard lock(mutex_);
    for (const core::AgentSend& send : sends) {
      const auto found = sessions_.find(send.session);
      sessions.push_back(found == sessions_.end() ? nullptr : found->second);
    }
  }
  std::vector<ServerSession*> queued;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    ServerSession* session = sessions[i].get();
    if (session == nullptr) continue;
    if (const auto* close = std::get_if<core::CloseSession>(&sends[i].message)) {
      session->end(grpc::StatusCode::ABORTED, close->reason, ServerSession::Drain::Yes);
    } else if (std::optional<std::string> message = encode_send(sends[i])) {
      // An agent goes on without waiting for what is acknowledged.
      const bool can_wait = std::holds_alternative<core::SendAck>(sends[i].message);
      const bool is_due = can_wait ? session->queue_for_later(std::move(*message))
                                   : session->queue(std::move(*message));
      if (is_due) queued.push_back(session);
    }
  }
  for (ServerSession* session : queued) session->flush();
}

void LinkServerImpl::request_log(core::SessionId id, const LogRequest& request) {
  if (const std::shared_ptr<ServerSession> session = find(id)) {
    session->send(encode_log_request(request));
  }
}

LinkStats LinkServerImpl::stats() const {
  const std::lock_guard lock(mutex_);
  return counters_.read(sessions_.size());
}

// One thread for all sessions: a scan of one number per session is cheap, and a timer of gRPC's per
// session is not, with thousands of them.
void LinkServerImpl::run_timer() {
  const Duration shortest = std::min(options_.welcome.heartbeat_interval, options_.hello_timeout);
  const auto pause = std::chrono::microseconds(
      std::clamp(shortest.us / 8, Duration::millis(5).us, Duration::millis(250).us));
  std::vector<std::shared_ptr<ServerSession>> due;
  std::unique_lock lock(mutex_);
  while (!timer_stopping_) {
    changed_.wait_for(lock, pause, [this] { return timer_stopping_; });
    const Duration now = os::monotonic_now();
    for (const auto& [id, session] : sessions_) {
      if (session->is_due(now)) due.push_back(session);
    }
    lock.unlock();
    for (const auto& session : due) session->tick(now);
    due.clear();
    lock.lock();
  }
}

void LinkServerImpl::end_all() {
  std::vector<std::shared_ptr<ServerSession>> sessions;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, session] : sessions_) sessions.push_back(session);
  }
  for (const auto& session : sessions) {
    session->end(grpc::StatusCode::UNAVAILABLE, "the controller is stopping",
                 ServerSession::Drain::No);
  }
}

void LinkServerImpl::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  end_all();
  const auto none_left = [this] { return sessions_.empty(); };
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kStopGrace, none_left);
  }
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }
  {
    std::unique_lock lock(mutex_);
    // gRPC has cancelled every stream; a session that stays now would outlive its handler.
    MUSTER_CHECK(changed_.wait_for(lock, kStopLimit, none_left),
                 "{} sessions did not end within {} s of the server's stop", sessions_.size(),
                 kStopLimit.count());
    timer_stopping_ = true;
    changed_.notify_all();
  }
  if (timer_.joinable()) timer_.join();
  server_.reset();
}

}  // namespace

Result<std::unique_ptr<LinkServer>> LinkServer::start(LinkServerOptions options,
                                                      LinkHandler& handler) {
  MUSTER_TRY_ASSIGN(const Endpoint endpoint, parse_endpoint(options.address));
  MUSTER_TRY(check_exposure(endpoint, options.insecure));
  if (options.welcome.heartbeat_interval <= Duration() || options.hello_timeout <= Duration()) {
    return fail(ErrorCode::InvalidValue,
                "heartbeat interval is {} and hello timeout is {}, both must be positive",
                format_duration(options.welcome.heartbeat_interval),
                format_duration(options.hello_timeout));
  }
  auto server = std::make_unique<LinkServerImpl>(std::move(options), handler);
  MUSTER_TRY(server->listen(endpoint));
  return std::unique_ptr<LinkServer>(std::move(server));
}

}  // namespace muster::rpc
