#pragma once

#include "base/json.h"
#include "core/fleet/agent.h"

namespace muster::controller {

// An agent as the API shows it, without its queue.
Json agent_json(const core::Agent& agent);

}  // namespace muster::controller
