#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "bench/controller_process.h"
#include "bench/host.h"
#include "bench/stopwatch.h"

namespace muster::bench {

// Follows the event stream as a client that waits for actions does, on a thread of its own. An
// event is sent after its commit: the end of an action that arrives here is durable.
class EventWatch {
 public:
  // Sees every event from now on. `controller` and `host` must outlive it.
  static Result<std::unique_ptr<EventWatch>> start(const ControllerProcess& controller,
                                                   const Host& host);
  ~EventWatch();
  EventWatch(const EventWatch&) = delete;
  EventWatch& operator=(const EventWatch&) = delete;

  // Waits until this many actions have ended since the start. Answers when the newest end arrived:
  // how long whoever waits takes to notice is not the controller's time.
  Result<Stopwatch::Moment> wait_ended(std::size_t count, Duration deadline);
  std::size_t ended() const;
  std::size_t not_succeeded() const;  // of those

 private:
  EventWatch(const ControllerProcess& controller, const Host& host, std::uint64_t after);

  void run(std::uint64_t after);
  bool take(std::string_view bytes);
  void take_line(std::string_view line);

  const ControllerProcess& controller_;
  const Host& host_;
  std::atomic<bool> stopping_ = false;
  std::string partial_;  // of the thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Protected by mutex_.
  std::size_t ended_ = 0;
  Stopwatch::Moment last_end_;
  std::size_t not_succeeded_ = 0;
  std::optional<Error> problem_;

  std::thread thread_;
};

}  // namespace muster::bench
