#include "os/clock.h"

#include <chrono>

namespace muster::os {
namespace {

template <typename Clock>
std::int64_t micros_of() {
  const auto since = Clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

}  // namespace

Timestamp system_now() { return {micros_of<std::chrono::system_clock>()}; }

Duration monotonic_now() { return Duration::micros(micros_of<std::chrono::steady_clock>()); }

}  // namespace muster::os
