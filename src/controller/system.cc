#include "controller/system.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/check.h"

namespace muster::controller {

Timestamp system_clock_now() {
  return {std::chrono::duration_cast<std::chrono::microseconds>(
              std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

std::uint64_t system_random() {
  // One system call for many numbers: ids are made by the thousand.
  thread_local std::array<std::uint64_t, 64> buffer;
  thread_local std::size_t left = 0;
  if (left == 0) {
    const ssize_t got = ::getrandom(buffer.data(), sizeof buffer, 0);
    MUSTER_CHECK(got == static_cast<ssize_t>(sizeof buffer), "getrandom answered {}", got);
    left = buffer.size();
  }
  return buffer[--left];
}

void notify_supervisor(std::string_view message) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, std::strlen(path));
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  (void)::sendto(fd, message.data(), message.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), length);
  ::close(fd);
}

}  // namespace muster::controller
