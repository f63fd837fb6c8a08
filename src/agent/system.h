#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

// What the agent's process takes from the machine: time, randomness, a name, its supervisor.

namespace muster::agent {

Timestamp system_now();
// Unpredictable: ids made from it cannot be guessed.
std::uint64_t system_random();
// The short host name, made fit to name an agent; "agent" if nothing is left of it.
std::string host_agent_name();
// Tells systemd (NOTIFY_SOCKET), if it asked to be told. Best effort.
void notify_supervisor(std::string_view message);

}  // namespace muster::agent
