#include "rpc/outbox.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "rpc/wire_codec.h"

namespace muster::rpc {
namespace {

// What a queued message takes besides its bytes, so that a queue of tiny ones is bounded as well.
constexpr std::size_t kMessageOverhead = sizeof(std::string);
// Tags, lengths and the number of a frame around a single message.
constexpr std::size_t kFrameOverhead = 64;

}  // namespace

Result<void> Outbox::push(std::string message) {
  if (message.size() > kFrameAcceptedMax - kFrameOverhead) {
    return fail(ErrorCode::Overloaded, "a message has {} bytes, at most {} can be sent",
                message.size(), kFrameAcceptedMax - kFrameOverhead);
  }
  const std::size_t size = message.size() + kMessageOverhead;
  if (bytes_ + size > bytes_max_) {
    return fail(ErrorCode::Overloaded,
                "{} bytes wait to be sent and {} more would be over the limit of {}", bytes_, size,
                bytes_max_);
  }
  bytes_ += size;
  messages_.push_back(std::move(message));
  return {};
}

Outbox::Frame Outbox::take_frame() {
  MUSTER_CHECK(!messages_.empty(), "a frame needs a message");
  std::vector<std::string> batch;
  std::size_t batch_bytes = 0;
  while (!messages_.empty() && batch.size() < kFrameMessagesMax) {
    std::string& next = messages_.front();
    if (!batch.empty() && batch_bytes + next.size() > kFrameBytesMax) break;
    batch_bytes += next.size();
    bytes_ -= next.size() + kMessageOverhead;
    batch.push_back(std::move(next));
    messages_.pop_front();
  }
  return {.bytes = encode_frame(++last_seq_, batch), .messages = batch.size()};
}

void Outbox::clear() {
  messages_.clear();
  bytes_ = 0;
}

}  // namespace muster::rpc
