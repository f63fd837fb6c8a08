#include "http/stream.h"

#include <algorithm>
#include <utility>

#include "http/connection.h"

namespace muster::http {

namespace {

// A callback that throws must not end the server thread.
void call(const std::function<void()>& callback) {
  try {
    callback();
  } catch (...) {
  }
}

}  // namespace

QueuedStream::QueuedStream(std::shared_ptr<Loop> loop, std::weak_ptr<Connection> connection,
                           std::size_t queue_max)
    : loop_(std::move(loop)), connection_(std::move(connection)), queue_max_(queue_max) {}

bool QueuedStream::write(std::string bytes) {
  Wake why = Wake::Pump;
  {
    const std::lock_guard lock(mutex_);
    if (!writable_) return false;
    if (bytes.empty()) return true;
    // One piece may be larger than the limit as long as nothing waits: that says nothing about how
    // fast the peer reads.
    if (unsent_ > 0 && bytes.size() > queue_max_ - std::min(unsent_, queue_max_)) {
      writable_ = false;
      why = Wake::Cut;
    } else {
      unsent_ += bytes.size();
      if (queue_.empty()) {
        queue_ = std::move(bytes);
      } else {
        queue_ += bytes;
      }
      if (std::exchange(pump_posted_, true)) return true;
    }
  }
  wake(why);
  return why == Wake::Pump;
}

std::size_t QueuedStream::queued() const {
  const std::lock_guard lock(mutex_);
  return unsent_;
}

void QueuedStream::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closing_ || over_) return;
    closing_ = true;
    // A stream that is being cut stays cut.
    if (!std::exchange(writable_, false)) return;
    if (std::exchange(pump_posted_, true)) return;
  }
  wake(Wake::Pump);
}

bool QueuedStream::open() const {
  const std::lock_guard lock(mutex_);
  return writable_;
}

void QueuedStream::on_closed(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!over_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  // Not from within this call: the caller may hold a lock that the callback takes. Without a server
  // thread left there is no other way.
  if (!loop_->post([callback] { call(callback); })) call(callback);
}

QueuedStream::Batch QueuedStream::take() {
  const std::lock_guard lock(mutex_);
  pump_posted_ = false;
  Batch batch{std::exchange(queue_, {}), false};
  batch.last = closing_ && batch.bytes.empty();
  return batch;
}

void QueuedStream::sent(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  unsent_ -= std::min(unsent_, bytes);
}

void QueuedStream::over() {
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(over_, true)) return;
    writable_ = false;
    queue_.clear();
    unsent_ = 0;
    callbacks = std::exchange(callbacks_, {});
  }
  for (const auto& callback : callbacks) call(callback);
}

void QueuedStream::wake(Wake why) {
  const bool posted = loop_->post([self = shared_from_this(), why] {
    const auto connection = self->connection_.lock();
    if (!connection) {
      self->over();
    } else if (why == Wake::Cut) {
      connection->cut_stream(*self);
    } else {
      connection->pump_stream(*self);
    }
  });
  if (!posted) over();
}

}  // namespace muster::http
