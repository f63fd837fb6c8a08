#include "rpc/link_test_support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace muster::rpc::testing {
namespace {

sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::pair<int, std::uint16_t> bind_any() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback_address(0);
  socklen_t size = sizeof address;
  MUSTER_CHECK(fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                   ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0,
               "no loopback port");
  return {fd, ntohs(address.sin_port)};
}

// Moves what is there from one side to the other; false at the end of the connection.
bool forward(int from, int to) {
  std::array<char, 65'536> buffer;
  const ssize_t size = ::recv(from, buffer.data(), buffer.size(), 0);
  if (size <= 0) return false;
  for (ssize_t sent = 0; sent < size;) {
    const ssize_t n =
        ::send(to, buffer.data() + sent, static_cast<std::size_t>(size - sent), MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += n;
  }
  return true;
}

}  // namespace

void RecordingController::note(core::SessionId session,
                               const std::function<void(ControllerSaw&)>& change) {
  saw.change([&](ControllerSaw& state) {
    for (const auto& [closed, reason] : state.closed) {
      if (closed == session) state.called_after_close = true;
    }
    change(state);
  });
}

void RecordingController::on_hello(core::SessionId session, core::AgentIdentity identity) {
  note(session, [&](ControllerSaw& state) {
    state.sessions.push_back(session);
    state.identities.push_back(std::move(identity));
  });
}

void RecordingController::on_heartbeat(core::SessionId session) {
  note(session, [](ControllerSaw& state) { ++state.heartbeats; });
}

void RecordingController::on_trouble(core::SessionId session, std::string problem) {
  note(session, [&](ControllerSaw& state) { state.troubles.push_back(std::move(problem)); });
}

void RecordingController::on_refused(const core::AgentName& agent, const std::string& reason) {
  saw.change([&](ControllerSaw& state) { state.refused.emplace_back(agent, reason); });
}

void RecordingController::on_report(core::SessionId session, core::AgentAction action) {
  note(session, [&](ControllerSaw& state) { state.reports.push_back(action.attempt); });
}

void RecordingController::on_sync_page(core::SessionId session, core::AgentSyncPage page) {
  note(session, [&](ControllerSaw& state) { state.pages.push_back(std::move(page)); });
}

void RecordingController::on_log_chunk(core::SessionId session, LogChunk chunk) {
  note(session, [&](ControllerSaw& state) { state.chunks.push_back(std::move(chunk)); });
}

void RecordingController::on_closed(core::SessionId session, std::string reason) {
  note(session,
       [&](ControllerSaw& state) { state.closed.emplace_back(session, std::move(reason)); });
}

core::SessionId RecordingController::session(std::size_t n) {
  if (!saw.wait([&](const ControllerSaw& state) { return state.sessions.size() > n; })) return 0;
  return saw.get().sessions[n];
}

std::string RecordingController::close_reason(core::SessionId session) {
  std::string found = "not closed";
  saw.wait([&](const ControllerSaw& state) {
    for (const auto& [closed, reason] : state.closed) {
      if (closed != session) continue;
      found = reason;
      return true;
    }
    return false;
  });
  return found;
}

core::AgentIdentity RecordingAgent::identity() {
  core::AgentIdentity identity = identity_;
  identity.journal_id = "journal-of-" + identity.name;
  identity.labels["role"] = "test";
  identity.term_seen = term_told;
  identity.kinds = {"exec"};
  return identity;
}

void RecordingAgent::on_up(const Welcome& welcome) {
  saw.change([&](AgentSaw& state) { state.ups.push_back(welcome); });
}

void RecordingAgent::on_schedule(core::agent::Schedule schedule) {
  saw.change([&](AgentSaw& state) { state.schedules.push_back(std::move(schedule)); });
  if (on_schedule_hook) on_schedule_hook();
}

void RecordingAgent::on_signal(core::agent::SignalFromController signal) {
  saw.change([&](AgentSaw& state) { state.signals.push_back(std::move(signal)); });
}

void RecordingAgent::on_ack(core::agent::Ack ack) {
  saw.change([&](AgentSaw& state) { state.acks.push_back(ack.attempt); });
}

void RecordingAgent::on_sync_request(core::agent::SyncRequest request) {
  saw.change([&](AgentSaw& state) { state.syncs.push_back(request.sync); });
}

void RecordingAgent::on_log_request(LogRequest request) {
  saw.change([&](AgentSaw& state) { state.log_requests.push_back(request); });
}

void RecordingAgent::on_down(const std::string& reason) {
  saw.change([&](AgentSaw& state) { state.downs.push_back(reason); });
}

void RecordingAgent::on_dial_failed(const std::string& controller, const std::string& reason,
                                    Duration /*retry_in*/) {
  saw.change([&](AgentSaw& state) { state.dial_failures.emplace_back(controller, reason); });
}

bool RecordingAgent::wait_ups(std::size_t count) {
  return saw.wait([&](const AgentSaw& state) { return state.ups.size() >= count; });
}

SilentPort::SilentPort() {
  std::tie(fd_, port_) = bind_any();
  MUSTER_CHECK(::listen(fd_, 8) == 0, "cannot listen");
}

SilentPort::~SilentPort() { ::close(fd_); }

std::uint16_t closed_port() {
  const auto [fd, port] = bind_any();
  ::close(fd);
  return port;
}

Proxy::Proxy(std::uint16_t target) : target_(target) {
  std::tie(listener_, port_) = bind_any();
  MUSTER_CHECK(::listen(listener_, 8) == 0, "cannot listen");
  thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
  stop_ = true;
  thread_.join();
  ::close(listener_);
}

void Proxy::run() {
  std::vector<std::pair<int, int>> pairs;
  const auto close_pair = [](const std::pair<int, int>& pair) {
    ::close(pair.first);
    ::close(pair.second);
  };
  while (!stop_) {
    if (cut_.exchange(false)) {
      std::for_each(pairs.begin(), pairs.end(), close_pair);
      pairs.clear();
    }
    std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
    // Nothing is read while swallowing, not even the end of a connection, so that neither side
    // learns anything of the other.
    const std::size_t carried = swallowing_ ? 0 : pairs.size();
    for (std::size_t i = 0; i < carried; ++i) {
      const auto [near, far] = pairs[i];
      polled.push_back({near, POLLIN, 0});
      polled.push_back({far, POLLIN, 0});
    }
    ::poll(polled.data(), polled.size(), 10);
    for (std::size_t i = carried; i-- > 0;) {
      const auto [near, far] = pairs[i];
      const bool alive = (polled[1 + 2 * i].revents == 0 || forward(near, far)) &&
                         (polled[2 + 2 * i].revents == 0 || forward(far, near));
      if (alive) continue;
      close_pair(pairs[i]);
      pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (polled[0].revents == 0) continue;
    const int near = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int far = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback_address(target_);
    if (::connect(far, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      pairs.emplace_back(near, far);
    } else {
      close_pair({near, far});
    }
  }
  std::for_each(pairs.begin(), pairs.end(), close_pair);
}

std::string loopback(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

}  // namespace muster::rpc::testing
