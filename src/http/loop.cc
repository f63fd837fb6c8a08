#include "http/loop.h"

#include "base/check.h"
#include "http/connection.h"
#include "log/thread_name.h"

namespace muster::http {

// One thread runs the io_context: Asio may then skip waking others.
Loop::Loop() : io_(std::make_unique<boost::asio::io_context>(1)) {
  work_guard_.emplace(io_->get_executor());
}

Loop::~Loop() {
  MUSTER_CHECK(!thread_.joinable(), "a loop must be retired before it is destroyed");
}

void Loop::start_thread() {
  thread_ = std::thread([this] {
    log::name_thread("http");
    run();
  });
}

void Loop::run() {
  thread_id_.store(std::this_thread::get_id());
  io_->run();
  // Before the thread ends: another one may get its id then.
  thread_id_.store({});
}

void Loop::retire() {
  MUSTER_CHECK(!in_this_thread(), "a loop cannot retire itself");
  {
    const std::lock_guard lock(mutex_);
    if (retired_) return;
  }
  work_guard_.reset();
  if (thread_.joinable()) thread_.join();
  {
    const std::lock_guard lock(mutex_);
    retired_ = true;
  }
  // What slipped in after the thread had ended: streams must still learn that they are over.
  io_->restart();
  io_->poll();
  connections_.clear();
  io_.reset();
}

}  // namespace muster::http
