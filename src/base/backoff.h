#pragma once

#include <cstdint>

#include "base/time.h"

namespace muster {

// Exponential back-off with an upper bound. `attempt` counts from 1.
struct Backoff {
  Duration initial = Duration::seconds(1);
  Duration max = Duration::minutes(1);

  // The plain delay: initial, 2*initial, 4*initial ... up to max.
  Duration delay(std::uint32_t attempt) const;
  // Full jitter: uniform between 0 and delay(attempt), so that a herd does not return together.
  // `random` is any uniformly distributed number.
  Duration jittered(std::uint32_t attempt, std::uint64_t random) const;

  bool operator==(const Backoff&) const = default;
};

}  // namespace muster
