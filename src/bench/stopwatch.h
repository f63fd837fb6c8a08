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
  Duration elapsed() const {
    return Duration::micros(std::chrono::duration_cast<std::chrono::microseconds>(
                                std::chrono::steady_clock::now() - began_)
                                .count());
  }
  double seconds() const { return elapsed().as_seconds(); }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace muster::bench
