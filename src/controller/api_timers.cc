#include "controller/api_timers.h"

namespace muster::controller {

ApiTimers::ApiTimers() : thread_([this] { run(); }) {}

void ApiTimers::stop() {
  std::map<Key, std::function<void()>> dropped;  // destroyed outside the lock: may own anything
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(due_);
    when_.clear();
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

ApiTimers::TimerId ApiTimers::after(Duration delay, std::function<void()> callback) {
  const auto when = Clock::now() + std::chrono::microseconds(delay.us);
  TimerId id = 0;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    id = next_++;
    if (stopping_) return id;
    due_.emplace(Key{when, id}, std::move(callback));
    when_.emplace(id, when);
    wake = when < looks_at_;
  }
  if (wake) wake_.notify_all();
  return id;
}

bool ApiTimers::cancel(TimerId id) {
  std::function<void()> dropped;  // destroyed after the lock is gone: it may own anything
  const std::lock_guard lock(mutex_);
  const auto found = when_.find(id);
  if (found == when_.end()) return false;
  const auto entry = due_.find(Key{found->second, id});
  dropped = std::move(entry->second);
  due_.erase(entry);
  when_.erase(found);
  return true;
}

void ApiTimers::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (due_.empty()) {
      looks_at_ = Clock::time_point::max();
      wake_.wait(lock);
      continue;
    }
    const auto first = due_.begin();
    if (first->first.first > Clock::now()) {
      looks_at_ = first->first.first;
      wake_.wait_until(lock, Clock::time_point(looks_at_));
      continue;
    }
    std::function<void()> callback = std::move(first->second);
    when_.erase(first->first.second);
    due_.erase(first);
    lock.unlock();
    callback();
    callback = nullptr;
    lock.lock();
  }
}

}  // namespace muster::controller
