#pragma once

#include <string>

#include "cli/api_client.h"
#include "cli/context.h"

// `muster nodes`: the agents that the controller knows.

namespace muster::cli {

Outcome<ExitCode> list_nodes(Context& context, ApiClient& client);
Outcome<ExitCode> show_node(Context& context, ApiClient& client, const std::string& name);
// Asks one agent, or with an empty name every agent, for its view now.
Outcome<ExitCode> refresh_nodes(Context& context, ApiClient& client, const std::string& name);

}  // namespace muster::cli
