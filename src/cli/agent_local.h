#pragma once

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
Outcome<ExitCode> agent_list(Context& context, ApiClient& client);
Outcome<ExitCode> agent_cancel(Context& context, ApiClient& client, const std::string& id,
                               const std::string& reason);

}  // namespace muster::cli
