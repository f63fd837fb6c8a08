#include "http/socket.h"

#include "base/ascii.h"
#include "base/number.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <vector>

namespace muster::http {

namespace {

std::string describe(int error) { return std::generic_category().message(error); }

ErrorCode code_of(int error) {
  if (error == EADDRINUSE) return ErrorCode::Conflict;
  if (error == EACCES || error == EPERM) return ErrorCode::Forbidden;
  if (error == EADDRNOTAVAIL) return ErrorCode::InvalidValue;
  return ErrorCode::IoError;
}

tl::unexpected<Error> cannot_listen(std::string_view where, int error) {
  std::string_view advice;
  if (error == EADDRINUSE) advice = "; stop the other process or choose another address";
  if (error == ENOENT) advice = "; create the directory first";
  if (error == EACCES || error == EPERM) advice = "; check the permissions";
  return fail(code_of(error), "cannot listen on {}: {}{}", where, describe(error), advice);
}

Result<UniqueFd> make_socket(int family, std::string_view where) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return cannot_listen(where, errno);
  return fd;
}

// Asks by connecting: a socket file outlives the process that made it.
bool is_live(const sockaddr_un& address) {
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe.get() < 0) return true;
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return true;
  }
  // Anything but a refusal, such as a full backlog, means that somebody listens.
  return errno != ECONNREFUSED && errno != ENOENT;
}

Result<void> clear_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return cannot_listen("unix socket " + path, errno);
  }
  if (!S_ISSOCK(status.st_mode)) {
    return fail(ErrorCode::InvalidValue,
                "cannot listen on unix socket {}: a file that is not a socket is there; move it "
                "away or choose another path",
                path);
  }
  if (is_live(address)) {
    return fail(ErrorCode::Conflict,
                "cannot listen on unix socket {}: another server is using it; stop that one or "
                "choose another path",
                path);
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail(code_of(errno), "cannot remove the stale unix socket {}: {}", path,
                describe(errno));
  }
  return {};
}

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  bool loopback = false;
};

Result<std::pair<std::string, std::uint16_t>> split_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  if (colon != std::string::npos) {
    const char* begin = text.data() + colon + 1;
    const auto [stop, error] = std::from_chars(begin, end, port);
    if (error == std::errc() && stop == end && begin != end) {
      std::string host = text.substr(0, colon);
      if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
      } else if (host.find(':') != std::string::npos) {
        host.clear();  // An IPv6 address without brackets: where the port starts is a guess.
      }
      if (!host.empty()) return std::pair(std::move(host), port);
    }
  }
  return fail(ErrorCode::InvalidValue,
              "address \"{}\" is not host:port, such as 127.0.0.1:8440 or [::1]:8440", text);
}

Result<Address> parse_address(const std::string& text) {
  MUSTER_TRY_ASSIGN(auto parts, split_address(text));
  auto& [host, port] = parts;
  if (host == "localhost") host = "127.0.0.1";
  Address out;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    out.loopback = (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
    out.size = sizeof v4;
    std::memcpy(&out.storage, &v4, sizeof v4);
    return out;
  }
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    out.loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0;
    out.size = sizeof v6;
    std::memcpy(&out.storage, &v6, sizeof v6);
    return out;
  }
  return fail(ErrorCode::InvalidValue,
              "address \"{}\" names host \"{}\", use an IP address or localhost", text, host);
}

Result<gid_t> look_up_group(const std::string& group) {
  if (const auto number = whole_number<gid_t>(group)) return *number;
  std::vector<char> buffer(4096);
  while (true) {
    ::group entry{};
    ::group* found = nullptr;
    const int error = ::getgrnam_r(group.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE && buffer.size() < (std::size_t{1} << 20)) {
      buffer.resize(buffer.size() * 2);
      continue;
    }
    if (error == 0 && found != nullptr) return found->gr_gid;
    return fail(ErrorCode::InvalidValue,
                "there is no group '{}' for the unix socket; create it, or name another", group);
  }
}

std::string look_up_user(uid_t uid) {
  std::vector<char> buffer(4096);
  while (true) {
    passwd entry{};
    passwd* found = nullptr;
    const int error = ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE && buffer.size() < (std::size_t{1} << 20)) {
      buffer.resize(buffer.size() * 2);
      continue;
    }
    if (error == 0 && found != nullptr && found->pw_name[0] != '\0') return found->pw_name;
    return fmt::format("uid:{}", uid);
  }
}

class UserNames {
 public:
  std::string name_of(uid_t uid) {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    auto it = entries_.find(uid);
    if (it != entries_.end() && now < it->second.expires) return it->second.name;
    if (entries_.size() >= kEntriesMax) entries_.clear();
    std::string name = look_up_user(uid);
    entries_[uid] = {name, now + std::chrono::minutes(1)};
    return name;
  }

 private:
  struct Entry {
    std::string name;
    std::chrono::steady_clock::time_point expires;
  };
  static constexpr std::size_t kEntriesMax = 1024;
  std::mutex mutex_;
  std::map<uid_t, Entry> entries_;
};

}  // namespace

Result<UnixListener> UnixListener::open(const std::string& path, unsigned mode,
                                        const std::string& group) {
  const std::string where = "unix socket " + path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail(ErrorCode::InvalidValue,
                "unix socket path \"{}\" is too long ({}), at most {} characters are allowed", path,
                path.size(), sizeof address.sun_path - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  MUSTER_TRY(clear_stale(path, address));
  UnixListener out;
  MUSTER_TRY_ASSIGN(out.fd_, make_socket(AF_UNIX, where));
  if (::bind(out.fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return cannot_listen(where, errno);
  }
  out.path_ = path;
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return cannot_listen(where, errno);
  out.device_ = status.st_dev;
  out.inode_ = status.st_ino;
  if (!group.empty()) {
    MUSTER_TRY_ASSIGN(const gid_t gid, look_up_group(group));
    if (::lchown(path.c_str(), static_cast<uid_t>(-1), gid) != 0) {
      return fail(code_of(errno), "cannot give unix socket {} to the group '{}': {}", path, group,
                  describe(errno));
    }
  }
  // Nobody can connect before listen(), so the file never is open to more users than `mode` says.
  if (::chmod(path.c_str(), mode) != 0) return cannot_listen(where, errno);
  if (::listen(out.fd_.get(), SOMAXCONN) != 0) return cannot_listen(where, errno);
  return out;
}

UnixListener::UnixListener(UnixListener&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::exchange(other.path_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

UnixListener::~UnixListener() {
  if (path_.empty()) return;
  struct stat status{};
  if (::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

Result<void> check_tcp_address(const std::string& address, bool insecure) {
  MUSTER_TRY_ASSIGN(const Address parsed, parse_address(address));
  if (parsed.loopback || insecure) return {};
  return fail(ErrorCode::InvalidValue,
              "address {} is not a loopback address, and anybody who reaches it could give orders; "
              "use 127.0.0.1 or [::1], or give --insecure to listen there all the same",
              address);
}

Result<TcpListener> TcpListener::open(const std::string& address, bool insecure) {
  MUSTER_TRY(check_tcp_address(address, insecure));
  MUSTER_TRY_ASSIGN(const Address parsed, parse_address(address));
  TcpListener out;
  MUSTER_TRY_ASSIGN(out.fd, make_socket(parsed.storage.ss_family, address));
  const int on = 1;
  ::setsockopt(out.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (parsed.storage.ss_family == AF_INET6) {
    ::setsockopt(out.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  if (::bind(out.fd.get(), reinterpret_cast<const sockaddr*>(&parsed.storage), parsed.size) != 0 ||
      ::listen(out.fd.get(), SOMAXCONN) != 0) {
    return cannot_listen(address, errno);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(out.fd.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return cannot_listen(address, errno);
  }
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (bound.ss_family == AF_INET) {
    std::memcpy(&v4, &bound, sizeof v4);
    out.port = ntohs(v4.sin_port);
  } else {
    std::memcpy(&v6, &bound, sizeof v6);
    out.port = ntohs(v6.sin6_port);
  }
  return out;
}

bool names_this_host(std::string_view host) {
  if (host.starts_with('[')) {
    return host.substr(0, host.find(']')) == "[::1";
  }
  const std::string name = in_lower_case(std::string(host.substr(0, host.find(':'))));
  in_addr address{};
  if (::inet_pton(AF_INET, name.c_str(), &address) == 1) {
    return (ntohl(address.s_addr) >> 24) == 127;
  }
  return name == "localhost";
}

Identity unix_identity(int fd) {
  // Never destroyed, because server threads may outlive static destruction.
  static auto* names = new UserNames;
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return {"anonymous", false, "unix"};
  }
  return {names->name_of(credentials.uid), true, "unix"};
}

}  // namespace muster::http
