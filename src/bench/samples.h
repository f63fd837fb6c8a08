#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace muster::bench {

// Durations that were measured, and what they come to.
class Samples {
 public:
  void add(Duration duration) { micros_.push_back(duration.us); }
  void add_all(const std::vector<std::int64_t>& micros) {
    micros_.insert(micros_.end(), micros.begin(), micros.end());
  }
  std::size_t count() const { return micros_.size(); }

  // The smallest sample that at least `share` (0 to 1) of all do not exceed, in milliseconds; 0
  // without samples.
  double percentile_ms(double share);

 private:
  std::vector<std::int64_t> micros_;
};

// A measured number without digits that mean nothing.
double rounded(double value, int digits);

}  // namespace muster::bench
