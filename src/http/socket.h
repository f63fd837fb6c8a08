#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/server.h"
#include "os/fd.h"

// Listening sockets and who is at the other end of an accepted one, in plain POSIX.

namespace muster::http {

using os::UniqueFd;

// A unix socket that removes its file when it is destroyed, unless somebody else's stands there by
// then.
class UnixListener {
 public:
  // Replaces a socket file that nobody listens on. Errors: InvalidValue (path too long, or taken by
  // something that is not a socket; no such group), Conflict (a live server), Forbidden, IoError.
  // `group` (a name or a number; empty: the process's own) owns the file.
  static Result<UnixListener> open(const std::string& path, unsigned mode,
                                   const std::string& group = "");
  UnixListener(UnixListener&& other) noexcept;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();

  UniqueFd& fd() { return fd_; }

 private:
  UnixListener() = default;

  UniqueFd fd_;
  std::string path_;  // empty: nothing to remove
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

struct TcpListener {
  UniqueFd fd;
  std::uint16_t port = 0;

  // `address` is "127.0.0.1:8440", "[::1]:8440" or "localhost:8440". Errors: InvalidValue (does not
  // parse, or not loopback while `insecure` is false), Conflict (in use), Forbidden, IoError.
  static Result<TcpListener> open(const std::string& address, bool insecure);
};

// Whether a Host header names this machine itself: localhost, 127.0.0.0/8 or [::1], with or without
// a port. A page of a browser that was led here by a name of its own names that one.
bool names_this_host(std::string_view host);

// Who connected to a unix socket, from the kernel. A user without a name is "uid:N"; names are
// remembered for a minute, since looking one up may ask a directory service.
Identity unix_identity(int fd);

}  // namespace muster::http
