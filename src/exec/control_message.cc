#include "exec/control_message.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace muster::exec {
namespace {

union LockBuffer {
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  cmsghdr align;
};

UniqueFd take_descriptor(msghdr& message) {
  UniqueFd taken;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    taken.reset(fd);
  }
  return taken;
}

}  // namespace

void send_control(int connection, char message, std::string_view text) {
  std::string packet(1, message);
  packet.append(text.substr(0, kControlBytesMax - 1));
  ::send(connection, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void send_refusal(int connection, std::string_view reason) {
  send_control(connection, kRefused, reason);
}

bool send_next(int connection, std::string_view request, int state_lock) {
  if (request.size() >= kControlBytesMax) return false;
  char word = kNext;
  std::array<iovec, 2> parts = {iovec{&word, 1},
                                iovec{const_cast<char*>(request.data()), request.size()}};
  LockBuffer control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (state_lock >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &state_lock, sizeof state_lock);
  }
  return ::sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

std::optional<NextRun> receive_next(int connection) {
  NextRun next;
  for (;;) {
    pollfd entry{connection, POLLIN, 0};
    if (::poll(&entry, 1, -1) < 0) continue;
    next.request.resize(kControlBytesMax);
    LockBuffer control{};
    iovec part{next.request.data(), next.request.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const ssize_t n = ::recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return std::nullopt;
    next.state_lock = take_descriptor(message);
    if (next.request[0] != kNext) continue;
    next.request.resize(static_cast<std::size_t>(n));
    next.request.erase(0, 1);
    return next;
  }
}

}  // namespace muster::exec
