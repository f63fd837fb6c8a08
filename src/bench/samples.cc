#include "bench/samples.h"

#include <algorithm>
#include <cmath>

#include "bench/host.h"

namespace muster::bench {

Error interrupted_error() { return Error{ErrorCode::Unavailable, "the benchmark was interrupted"}; }

double Samples::percentile_ms(double share) {
  if (micros_.empty()) return 0;
  const double position = std::ceil(share * static_cast<double>(micros_.size()));
  const auto index = static_cast<std::size_t>(
      std::clamp(position - 1, 0.0, static_cast<double>(micros_.size() - 1)));
  const auto nth = micros_.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(micros_.begin(), nth, micros_.end());
  return static_cast<double>(*nth) / 1000.0;
}

double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

}  // namespace muster::bench
