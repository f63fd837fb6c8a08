#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "http/client.h"
#include "http/server.h"

// What the tests of the HTTP server share: a temporary directory, a socket that speaks raw bytes,
// and an event to wait for. Every wait has a deadline and fails the test by its result.

namespace muster::http::testing_support {

constexpr auto kDeadline = std::chrono::seconds(10);

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-http-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

class Event {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool wait(int count = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kDeadline, [&] { return count_ >= count; });
  }
  int count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

class RawSocket {
 public:
  static RawSocket tcp(std::uint16_t port, int receive_buffer = 0) {
    RawSocket out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (receive_buffer > 0) {
      ::setsockopt(out.fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(out.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) out.close();
    return out;
  }
  RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~RawSocket() { close(); }

  bool connected() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  // Reads until `enough` says so, the peer closes, or the deadline passes.
  std::string read_until(const std::function<bool(const std::string&)>& enough) {
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    std::string out;
    while (!enough(out)) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      pollfd wait{fd_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) break;
      char buffer[4096];
      const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
      if (n <= 0) {
        ended_ = true;
        break;
      }
      out.append(buffer, static_cast<std::size_t>(n));
    }
    return out;
  }
  std::string read_until(std::string_view text) {
    return read_until(
        [text](const std::string& seen) { return seen.find(text) != std::string::npos; });
  }
  std::string read_to_end() {
    return read_until([](const std::string&) { return false; });
  }
  // Whether the peer has closed, which one of the reads met.
  bool ended() const { return ended_; }

 private:
  explicit RawSocket(int fd) : fd_(fd) {}

  int fd_;
  bool ended_ = false;
};

inline ServerOptions tcp_options() {
  ServerOptions options;
  options.tcp_address = "127.0.0.1:0";
  return options;
}

inline std::string url_of(const Server& server, std::string_view path) {
  return "http://127.0.0.1:" + std::to_string(server.tcp_port()) + std::string(path);
}

inline Result<ClientResponse> get(const Server& server, std::string_view path) {
  ClientRequest request;
  request.url = url_of(server, path);
  request.timeout = Duration::seconds(10);
  return perform(request);
}

}  // namespace muster::http::testing_support
