#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "exec/fd.h"

namespace muster::exec {

// Serves one body on a port of the loopback interface, one connection at a time.
class HttpTestServer {
 public:
  struct Behaviour {
    std::string body;
    bool ranges = true;
    std::size_t cut_first_after = 0;  // bytes of the first answer after which it hangs up
    int status = 0;                   // an error for every request
  };

  explicit HttpTestServer(Behaviour behaviour)
      : behaviour_(std::move(behaviour)),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_.get(), 8);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpTestServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/file"; }
  // The Range header of each request; empty where there was none.
  std::vector<std::string> ranges() {
    const std::lock_guard lock(mutex_);
    return ranges_;
  }

 private:
  void serve() {
    for (;;) {
      const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.valid()) return;
      answer(client.get());
    }
  }

  void answer(int client) {
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t n = ::recv(client, buffer, sizeof buffer, 0);
      if (n <= 0) return;
      request.append(buffer, static_cast<std::size_t>(n));
    }
    std::string range;
    if (const auto at = request.find("Range: bytes="); at != std::string::npos) {
      range = request.substr(at + 13, request.find("\r\n", at) - at - 13);
    }
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = ranges_.empty();
      ranges_.push_back(range);
    }
    const std::size_t offset = range.empty() || !behaviour_.ranges ? 0 : std::stoul(range);
    const std::size_t total = behaviour_.body.size();
    std::string head = "HTTP/1.1 200 OK\r\n";
    std::string body;
    if (behaviour_.status != 0) {
      head = "HTTP/1.1 " + std::to_string(behaviour_.status) + " No\r\n";
    } else if (offset >= total && offset > 0) {
      head = "HTTP/1.1 416 Range Not Satisfiable\r\n";
    } else {
      body = behaviour_.body.substr(offset);
      if (offset > 0) {
        head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(offset) +
               "-" + std::to_string(total - 1) + "/" + std::to_string(total) + "\r\n";
      }
    }
    head += "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
    if (first && behaviour_.cut_first_after > 0) body.resize(behaviour_.cut_first_after);
    const std::string all = head + body;
    std::size_t sent = 0;
    while (sent < all.size()) {
      const ssize_t n = ::send(client, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
    ::shutdown(client, SHUT_WR);
    ::recv(client, buffer, sizeof buffer, 0);  // the client's end, so that nothing is reset
  }

  const Behaviour behaviour_;
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> ranges_;
  std::thread thread_;
};

}  // namespace muster::exec
