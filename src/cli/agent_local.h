#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/actions.h"
#include "cli/api_client.h"
#include "cli/context.h"

// `muster agent actions ...` and `muster agent info`: an agent asked directly, over its local API,
// controller or no controller.

namespace muster::cli {

struct AgentAddress {
  std::string socket;  // empty: <state_dir>/agent.sock
  std::string state_dir;
};

Outcome<ApiClient> connect_agent(const AgentAddress& address);

struct ScheduleOptions {
  std::string kind;
  std::string id;
  std::string name;
  std::vector<std::string> inputs;
  std::string inputs_json;
  std::string timeout;
};

Outcome<ExitCode> agent_info(Context& context, ApiClient& client);
Outcome<ExitCode> agent_schedule(Context& context, ApiClient& client,
                                 const ScheduleOptions& options);
struct AgentListOptions {
  std::string state = "all";  // or queue, finished
  std::optional<std::size_t> limit;
};

Outcome<ExitCode> agent_list(Context& context, ApiClient& client, const AgentListOptions& options);

// The id of an action that the agent has, from a UUID, a name or the first digits of an id. The
// agent itself takes only UUIDs.
Outcome<std::string> resolve_local(ApiClient& client, const std::string& ref);

Outcome<ExitCode> agent_cancel(Context& context, ApiClient& client, const std::string& id,
                               const std::string& reason);

}  // namespace muster::cli
