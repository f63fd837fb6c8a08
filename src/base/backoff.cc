#include "base/backoff.h"

#include <algorithm>

namespace muster {

Duration Backoff::delay(std::uint32_t attempt) const {
  Duration result = initial;
  for (std::uint32_t i = 1; i < attempt && result < max; ++i) result = result * 2;
  return std::min(result, max);
}

Duration Backoff::jittered(std::uint32_t attempt, std::uint64_t random) const {
  const auto span = static_cast<std::uint64_t>(delay(attempt).us) + 1;
  return Duration::micros(static_cast<std::int64_t>(random % span));
}

}  // namespace muster
