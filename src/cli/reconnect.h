#pragma once

#include "base/backoff.h"

namespace muster::cli {

// How long a command that follows a stream waits before it asks for it again.
inline constexpr Backoff kReconnect = {Duration::millis(200), Duration::seconds(5)};

}  // namespace muster::cli
