#include "http/server.h"

#include <sys/socket.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>

#include "base/check.h"
#include "http/connection.h"
#include "http/loop.h"
#include "http/socket.h"

namespace muster::http {

namespace asio = boost::asio;

namespace {

// Connections accepted in a row before the loop may do something else.
constexpr int kAcceptBurst = 64;
// Connections over the limit that are told so at the same time; more are closed without a word.
constexpr std::size_t kRefusingMax = 64;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

// Accepts on one listening socket and spreads connections over the loops. Lives on the first loop.
class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::shared_ptr<ServerShared> shared, std::vector<std::shared_ptr<Loop>> loops,
           UniqueFd fd)
      : shared_(std::move(shared)),
        loops_(std::move(loops)),
        socket_(loops_.front()->io().get_executor(), fd.release()),
        pause_(loops_.front()->io()) {}

  void wait() {
    socket_.async_wait(asio::posix::descriptor_base::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error) self->accept();
                       });
  }

  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
    pause_.cancel();
    // The loops and their handlers would otherwise hold each other.
    loops_.clear();
  }

 private:
  void accept() {
    for (int i = 0; i < kAcceptBurst && socket_.is_open(); ++i) {
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      UniqueFd fd(::accept4(socket_.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size,
                            SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (fd.get() >= 0) {
        admit(std::move(fd), peer.ss_family);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        break;
      } else if (errno != EINTR && errno != ECONNABORTED) {
        // Most likely out of file descriptors: the connection stays in the backlog, and trying
        // again at once would only burn a core.
        return rest();
      }
    }
    if (socket_.is_open()) wait();
  }

  void rest() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error && self->socket_.is_open()) self->wait();
    });
  }

  void admit(UniqueFd fd, int family) {
    auto mode = Connection::Mode::Serve;
    if (shared_->serving.fetch_add(1) >= shared_->options.connections_max) {
      shared_->serving.fetch_sub(1);
      mode = Connection::Mode::Refuse;
      if (shared_->refusing.fetch_add(1) >= kRefusingMax) {
        shared_->refusing.fetch_sub(1);
        return;
      }
    }
    Identity identity =
        family == AF_UNIX ? unix_identity(fd.get()) : Identity{"anonymous", false, "tcp"};
    const auto& loop = loops_[next_loop_++ % loops_.size()];
    // Loops are retired after their acceptors are closed, so this one still takes work.
    const bool posted = loop->post([shared = shared_, loop, fd = std::move(fd), family, mode,
                                    identity = std::move(identity)]() mutable {
      Connection::start(std::move(shared), std::move(loop), std::move(fd), family,
                        std::move(identity), mode);
    });
    MUSTER_CHECK(posted, "a connection was accepted for a retired loop");
  }

  const std::shared_ptr<ServerShared> shared_;
  std::vector<std::shared_ptr<Loop>> loops_;
  asio::posix::basic_stream_descriptor<Loop::Executor> socket_;
  asio::steady_timer pause_;
  std::size_t next_loop_ = 0;
};

Result<void> check_options(const ServerOptions& options) {
  if (options.unix_path.empty() && options.tcp_address.empty()) {
    return fail(ErrorCode::InvalidValue,
                "the server has nowhere to listen, give a unix socket or a TCP address");
  }
  if (options.idle_timeout.us <= 0 || options.request_timeout.us <= 0) {
    return fail(ErrorCode::InvalidValue,
                "idle timeout {} and request timeout {} must be longer than zero",
                format_duration(options.idle_timeout), format_duration(options.request_timeout));
  }
  if (options.threads == 0 || options.connections_max == 0 || options.header_max == 0) {
    return fail(ErrorCode::InvalidValue,
                "threads ({}), connections_max ({}) and header_max ({}) must be at least 1",
                options.threads, options.connections_max, options.header_max);
  }
  return {};
}

class ServerImpl final : public Server {
 public:
  ServerImpl(ServerOptions options, Handler handler, std::optional<UnixListener> unix_listener,
             std::optional<TcpListener> tcp_listener)
      : shared_(std::make_shared<ServerShared>(std::move(options), std::move(handler))),
        unix_listener_(std::move(unix_listener)) {
    for (std::size_t i = 0; i < shared_->options.threads; ++i) {
      loops_.push_back(std::make_shared<Loop>());
    }
    const auto add_acceptor = [this](UniqueFd fd) {
      acceptors_.push_back(std::make_shared<Acceptor>(shared_, loops_, std::move(fd)));
      acceptors_.back()->wait();
    };
    if (unix_listener_) add_acceptor(std::move(unix_listener_->fd()));
    if (tcp_listener) {
      tcp_port_ = tcp_listener->port;
      add_acceptor(std::move(tcp_listener->fd));
    }
  }

  ~ServerImpl() override { stop(Duration{}); }

  // May throw std::system_error; the destructor cleans up after it.
  void start_threads() {
    for (const auto& loop : loops_) {
      loop->start_thread();
      ++threads_started_;
    }
  }

  std::uint16_t tcp_port() const override { return tcp_port_; }

  void stop(Duration grace) override {
    for (const auto& loop : loops_) {
      MUSTER_CHECK(!loop->in_this_thread(), "a server cannot be stopped by its own thread");
    }
    const std::lock_guard lock(stop_mutex_);
    if (stopped_) return;
    stopped_ = true;
    shared_->stopping = true;
    // Loops without a thread are run to their end by retire().
    close_acceptors();
    unix_listener_.reset();
    on_all_connections(&Connection::begin_stop);
    if (threads_started_ == loops_.size()) await_connections(grace);
    on_all_connections(&Connection::close);
    for (const auto& loop : loops_) loop->retire();
  }

 private:
  // Returns when no connection can be accepted any more.
  void close_acceptors() {
    const auto closed = std::make_shared<std::promise<void>>();
    (void)loops_.front()->post([closed, acceptors = acceptors_] {
      for (const auto& acceptor : acceptors) acceptor->close();
      closed->set_value();
    });
    acceptors_.clear();
    if (threads_started_ > 0) closed->get_future().wait();
  }

  void on_all_connections(void (Connection::*action)()) {
    for (const auto& loop : loops_) {
      (void)loop->post([weak = std::weak_ptr<Loop>(loop), action] {
        const auto held = weak.lock();
        if (!held) return;
        // A copy, because a connection that closes leaves the set.
        const auto connections = held->connections();
        for (const auto& connection : connections) ((*connection).*action)();
      });
    }
  }

  void await_connections(Duration grace) {
    std::unique_lock lock(shared_->idle_mutex);
    shared_->idle.wait_for(lock, std::chrono::microseconds(grace.us),
                           [this] { return shared_->serving == 0; });
  }

  const std::shared_ptr<ServerShared> shared_;
  std::vector<std::shared_ptr<Loop>> loops_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
  std::optional<UnixListener> unix_listener_;
  std::uint16_t tcp_port_ = 0;
  std::size_t threads_started_ = 0;
  std::mutex stop_mutex_;
  bool stopped_ = false;  // guarded by stop_mutex_
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler) {
  MUSTER_TRY(check_options(options));
  std::optional<UnixListener> unix_listener;
  std::optional<TcpListener> tcp_listener;
  if (!options.unix_path.empty()) {
    MUSTER_TRY_ASSIGN(auto opened,
                      UnixListener::open(options.unix_path, options.unix_mode, options.unix_group));
    unix_listener.emplace(std::move(opened));
  }
  if (!options.tcp_address.empty()) {
    MUSTER_TRY_ASSIGN(auto opened, TcpListener::open(options.tcp_address, options.insecure));
    tcp_listener.emplace(std::move(opened));
  }
  try {
    auto server = std::make_unique<ServerImpl>(std::move(options), std::move(handler),
                                               std::move(unix_listener), std::move(tcp_listener));
    server->start_threads();
    return std::unique_ptr<Server>(std::move(server));
  } catch (const std::exception& error) {
    return fail(ErrorCode::IoError, "cannot start the HTTP server: {}", error.what());
  }
}

}  // namespace muster::http
