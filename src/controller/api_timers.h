#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/time.h"

namespace muster::controller {

// Deadlines for the API's waits: one thread that calls what is due. Callbacks must not block.
class ApiTimers {
 public:
  using TimerId = std::uint64_t;

  ApiTimers();
  ~ApiTimers() { stop(); }
  ApiTimers(const ApiTimers&) = delete;
  ApiTimers& operator=(const ApiTimers&) = delete;

  // Any thread. After stop() the callback is dropped.
  TimerId after(Duration delay, std::function<void()> callback);
  // Any thread. True: the callback was dropped; false: it has run, is running or never was.
  bool cancel(TimerId id);
  // Drops what is not due yet and joins. Not from a callback.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  using Key = std::pair<Clock::time_point, TimerId>;

  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<Key, std::function<void()>> due_;   // protected by mutex_
  std::map<TimerId, Clock::time_point> when_;  // protected by mutex_
  TimerId next_ = 1;                           // protected by mutex_
  bool stopping_ = false;                      // protected by mutex_
  // When the thread looks next by itself; protected by mutex_. Most timers are cancelled long
  // before they are due, and none that is due later needs to wake it.
  Clock::time_point looks_at_ = Clock::time_point::max();
  std::thread thread_;
};

}  // namespace muster::controller
