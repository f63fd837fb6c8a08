#include "agent/system.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "exec/fd.h"
#include "rpc/wire_codec.h"

namespace muster::agent {

Timestamp system_now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count()};
}

std::uint64_t system_random() {
  std::uint64_t number = 0;
  const ssize_t got = ::getrandom(&number, sizeof number, 0);
  MUSTER_CHECK(got == static_cast<ssize_t>(sizeof number), "getrandom answered {}", got);
  return number;
}

std::string host_agent_name() {
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0) return "agent";
  std::string_view host(buffer.data());
  host = host.substr(0, host.find('.')).substr(0, 63);
  while (!host.empty() && !rpc::is_agent_name(host)) host.remove_prefix(1);
  return host.empty() ? "agent" : std::string(host);
}

void notify_supervisor(std::string_view message) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr) return;
  const std::size_t length = std::strlen(path);
  sockaddr_un address{};
  if (length == 0 || length >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';
  const exec::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  (void)::sendto(socket.get(), message.data(), message.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace muster::agent
