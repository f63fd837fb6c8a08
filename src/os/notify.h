#pragma once

#include <string_view>

namespace muster::os {

// Tells systemd ("READY=1") over NOTIFY_SOCKET, if it asked to be told. Best effort: a supervisor
// that does not listen is no reason to stop.
void notify_supervisor(std::string_view message);

}  // namespace muster::os
