#include "rpc/endpoint.h"

#include "base/number.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace muster::rpc {
namespace {

Result<void> probe_address(const Endpoint& endpoint, const addrinfo& address) {
  const int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return fail(ErrorCode::IoError, "no socket for '{}': {}", endpoint.to_string(),
                std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int bound = ::bind(fd, address.ai_addr, address.ai_addrlen);
  const int error = bound == 0 ? 0 : errno;
  ::close(fd);
  if (error == EADDRINUSE) {
    return fail(ErrorCode::Conflict, "address '{}' is in use by another process",
                endpoint.to_string());
  }
  if (error != 0) {
    return fail(ErrorCode::IoError, "cannot listen on '{}': {}", endpoint.to_string(),
                std::strerror(error));
  }
  return {};
}

}  // namespace

bool Endpoint::is_loopback() const {
  if (host == "localhost") return true;
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return false;
}

std::string Endpoint::to_string() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto invalid = [&] {
    return fail(ErrorCode::InvalidValue, "'{}' is not an address like 127.0.0.1:8441 or [::1]:8441",
                text.substr(0, 128));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return invalid();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const std::string_view forbidden = bracketed ? "/[]" : "/[]:";
  if (host.find_first_of(forbidden) != std::string_view::npos) return invalid();
  const auto port = whole_number<std::uint16_t>(digits);
  if (!port) return invalid();
  return Endpoint{.host = std::string(host), .port = *port};
}

Result<void> check_exposure(const Endpoint& endpoint, bool insecure) {
  if (insecure || endpoint.is_loopback()) return {};
  return fail(ErrorCode::Forbidden,
              "'{}' is not a loopback address, and the link is neither encrypted nor "
              "authenticated; use 127.0.0.1, or allow it with --insecure",
              endpoint.to_string());
}

Result<void> probe_listen(const Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(endpoint.port);
  const int error = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return fail(ErrorCode::InvalidValue, "cannot resolve '{}': {}", endpoint.to_string(),
                ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  // A name may stand for an address of a family that this host does not have; one that can be
  // listened on is enough, but one that is taken is not.
  Result<void> last = {};
  bool usable = false;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    Result<void> result = probe_address(endpoint, *address);
    if (result) {
      usable = true;
    } else if (result.error().code == ErrorCode::Conflict) {
      return result;
    } else {
      last = std::move(result);
    }
  }
  return usable ? Result<void>{} : last;
}

}  // namespace muster::rpc
