#pragma once

#include <chrono>

#include "base/time.h"

namespace muster::bench {

inline Timestamp wall_now() {
  return Timestamp{std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count()};
}

// Does not jump when the wall clock is set.
class Stopwatch {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  static Moment now() { return std::chrono::steady_clock::now(); }
  Duration elapsed() const { return elapsed_at(now()); }
  Duration elapsed_at(Moment moment) const {
    return Duration::micros(
        std::chrono::duration_cast<std::chrono::microseconds>(moment - began_).count());
  }
  double seconds() const { return elapsed().as_seconds(); }

 private:
  Moment began_ = now();
};

}  // namespace muster::bench
