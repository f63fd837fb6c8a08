#pragma once

#include <string>

#include "base/json.h"
#include "core/event.h"

namespace muster::controller {

Json event_json(const core::Event& event);
// As a server-sent event: id, event and data lines, and the empty line that ends it.
std::string event_sse(const core::Event& event);

}  // namespace muster::controller
