#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/loop.h"
#include "http/server.h"

namespace muster::http {

// Carries the answer to one request from whatever thread to the connection that waits for it.
// Thread-safe; holds the connection weakly, so it may outlive connection and server. Only the first
// answer counts.
class ConnectionResponder final : public Responder {
 public:
  ConnectionResponder(std::shared_ptr<Loop> loop, std::weak_ptr<Connection> connection,
                      std::uint64_t number, std::string request_id, std::size_t stream_queue_max);
  // Answers 500 if nobody did.
  ~ConnectionResponder() override;

  void respond(Response response) override;
  std::shared_ptr<Stream> stream(Response head) override;

  // Answers 500, for a handler that threw.
  void fail(std::string_view reason);

 private:
  void deliver(Response response);

  const std::shared_ptr<Loop> loop_;
  const std::weak_ptr<Connection> connection_;
  const std::uint64_t number_;
  const std::string request_id_;
  const std::size_t stream_queue_max_;
  std::atomic<bool> answered_ = false;
};

}  // namespace muster::http
