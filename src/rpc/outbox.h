#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "base/result.h"

namespace muster::rpc {

// What waits to be sent on one stream. While one frame is being written, everything that is queued
// joins the next, so the number of frames follows the speed of the peer and not the number of
// messages. Bounded in bytes. Not thread-safe: the session that owns it holds its lock.
class Outbox {
 public:
  explicit Outbox(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Overloaded: the peer takes too little, or one message is larger than any frame may be. The
  // message is not queued; the stream must end, because its order would have a hole.
  Result<void> push(std::string message);

  bool empty() const { return messages_.empty(); }
  std::size_t bytes() const { return bytes_; }

  struct Frame {
    std::string bytes;
    std::size_t messages = 0;
  };
  // The next frame, with the next number. REQUIRES: !empty()
  Frame take_frame();
  void clear();

 private:
  const std::size_t bytes_max_;
  std::deque<std::string> messages_;
  std::size_t bytes_ = 0;
  std::uint64_t last_seq_ = 0;
};

}  // namespace muster::rpc
