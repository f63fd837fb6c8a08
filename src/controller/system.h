#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"

// What the controller's process takes from the machine: time, randomness, its supervisor.

namespace muster::controller {

Timestamp system_clock_now();
// Unpredictable: ids made from it are not guessable.
std::uint64_t system_random();
// Tells systemd (NOTIFY_SOCKET), if it asked to be told.
void notify_supervisor(std::string_view message);

}  // namespace muster::controller
