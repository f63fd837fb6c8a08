#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/time.h"

namespace muster::sim {

// Simulated time. Things happen in the order of their time, ties in the order in which they were
// put here, so that a run is a function of its seed alone.
class EventQueue {
 public:
  explicit EventQueue(Timestamp start) : now_(start) {}

  Timestamp now() const { return now_; }
  std::uint64_t steps() const { return steps_; }
  // Something happens at or before `time`.
  bool has_before(Timestamp time) const { return !events_.empty() && events_.top().time <= time; }
  // Time passes in which nothing happens.
  void advance_to(Timestamp time) {
    if (!has_before(time) && time > now_) now_ = time;
  }

  void at(Timestamp time, std::function<void()> what) {
    events_.push({time < now_ ? now_ : time, ++last_, std::move(what)});
  }
  void after(Duration delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

  // REQUIRES: there is something to happen.
  void run_next() {
    // The top is const only to protect the order, which moving the closure out does not touch.
    auto what = std::move(const_cast<Event&>(events_.top()).what);
    now_ = events_.top().time;
    events_.pop();
    ++steps_;
    what();
  }

 private:
  struct Event {
    Timestamp time;
    std::uint64_t number = 0;
    std::function<void()> what;

    bool operator<(const Event& other) const {
      return std::pair(other.time, other.number) < std::pair(time, number);
    }
  };

  Timestamp now_;
  std::uint64_t last_ = 0;
  std::uint64_t steps_ = 0;
  std::priority_queue<Event> events_;
};

}  // namespace muster::sim
