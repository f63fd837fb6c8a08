#include "exec/control_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "exec/control_message.h"
#include "exec/run_directory.h"

namespace muster::exec {
namespace {

constexpr std::size_t kConnectionsMax = 4;

short revents_of(const std::vector<pollfd>& entries, int fd) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [fd](const pollfd& entry) { return entry.fd == fd; });
  return found == entries.end() ? short{0} : found->revents;
}

}  // namespace

ControlServer::ControlServer(UniqueFd listener, UniqueFd first) : listener_(std::move(listener)) {
  connections_.push_back({std::move(first), true});
}

void ControlServer::add_poll_entries(std::vector<pollfd>& entries) const {
  entries.push_back({listener_.get(), POLLIN, 0});
  for (const Connection& connection : connections_) {
    const bool due = connection.state_due != '\0' || connection.output_due;
    entries.push_back(
        {connection.fd.get(), static_cast<short>(due ? POLLIN | POLLOUT : POLLIN), 0});
  }
}

std::string ControlServer::handle(const std::vector<pollfd>& entries, bool suspended) {
  std::string commands;
  for (Connection& connection : connections_) {
    const short events = revents_of(entries, connection.fd.get());
    if ((events & POLLOUT) != 0) flush(connection);
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !receive(connection, commands)) {
      connection.fd.reset();
    }
  }
  std::erase_if(connections_, [](const Connection& connection) { return !connection.fd.valid(); });
  if ((revents_of(entries, listener_.get()) & POLLIN) != 0) accept_new(suspended);
  return commands;
}

void ControlServer::notify_state(bool suspended) {
  for (Connection& connection : connections_) {
    connection.state_due = suspended ? kSuspended : kResumed;
    flush(connection);
  }
}

void ControlServer::notify_output() {
  for (Connection& connection : connections_) {
    connection.output_due = true;
    flush(connection);
  }
}

UniqueFd ControlServer::take_agent() {
  if (connections_.size() != 1) return {};
  Connection& agent = connections_.front();
  if (!agent.first || agent.state_due != '\0' || agent.output_due) return {};
  return std::move(agent.fd);
}

void ControlServer::send_result(const std::string& encoded) {
  for (const Connection& connection : connections_) {
    send_control(connection.fd.get(), kEnded, encoded);
  }
}

void ControlServer::accept_new(bool suspended) {
  UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid() || !is_trusted_peer(fd.get())) return;
  // One agent at a time holds the state directory, so older connections are dying ones.
  if (connections_.size() >= kConnectionsMax) connections_.erase(connections_.begin());
  // An agent that comes back does not know what happened meanwhile: it is told the state.
  connections_.push_back({std::move(fd), false, suspended ? kSuspended : kResumed, true});
  flush(connections_.back());
}

bool ControlServer::receive(Connection& connection, std::string& commands) {
  std::array<char, 64> packet;
  for (;;) {
    const ssize_t n = ::recv(connection.fd.get(), packet.data(), packet.size(), MSG_DONTWAIT);
    if (n > 0) {
      commands.push_back(packet[0]);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    return n < 0 && errno == EAGAIN;
  }
}

void ControlServer::flush(Connection& connection) {
  const auto sent = [&connection](char message) {
    return ::send(connection.fd.get(), &message, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
  };
  if (connection.state_due != '\0' && sent(connection.state_due)) connection.state_due = '\0';
  if (connection.output_due && sent(kOutputGrew)) connection.output_due = false;
}

}  // namespace muster::exec
