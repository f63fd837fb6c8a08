#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/loop.h"
#include "http/server.h"

namespace muster::http {

// The queue between the thread that produces a streamed answer and the connection that sends it.
// Thread-safe. Ends in exactly one way, over(), after which write() answers false for good.
class QueuedStream final : public Stream, public std::enable_shared_from_this<QueuedStream> {
 public:
  QueuedStream(std::shared_ptr<Loop> loop, std::weak_ptr<Connection> connection,
               std::size_t queue_max);

  bool write(std::string bytes) override;
  std::size_t queued() const override;
  void close() override;
  bool open() const override;
  void on_closed(std::function<void()> callback) override;

  // For the connection, on the loop's thread.
  struct Batch {
    std::string bytes;
    bool last = false;  // close() was called, and nothing follows
  };
  Batch take();
  // `bytes` of a batch have left; they count as queued until then.
  void sent(std::size_t bytes);

  // The stream is over, for whatever reason: tells everybody, once.
  void over();

 private:
  enum class Wake { Pump, Cut };
  void wake(Wake why);

  const std::shared_ptr<Loop> loop_;
  const std::weak_ptr<Connection> connection_;
  const std::size_t queue_max_;

  mutable std::mutex mutex_;  // guards all below
  std::string queue_;
  std::size_t unsent_ = 0;  // bytes of queue_ and of the batch that is being sent
  bool writable_ = true;
  bool closing_ = false;
  bool over_ = false;
  bool pump_posted_ = false;
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace muster::http
