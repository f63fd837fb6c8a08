#include "cli/agent_process.h"

#include "agent/agent_main.h"
#include "cli/dev_spawn.h"
#include "cli/numbers.h"
#include "cli/system.h"

namespace muster::cli {

Outcome<ExitCode> run_agent_process(const AgentFlags& flags) {
  agent::AgentOptions options;
  options.name = flags.name;
  options.state_dir = flags.state_dir;
  options.controllers = flags.controllers;
  options.local_socket = flags.socket;
  MUSTER_TRY(set_mode(options.local_socket_mode, flags.socket_mode, "--socket-mode"));
  options.local_tcp = flags.listen;
  options.insecure = flags.insecure;
  options.log_level = flags.log_level;
  options.log_format = flags.log_format;
  options.version = kVersion;
  for (const std::string& label : flags.labels) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      return usage("--label '{}' is not key=value", label);
    }
    const std::string key = label.substr(0, equals);
    if (!options.labels.emplace(key, label.substr(equals + 1)).second) {
      return usage("--label '{}' is given twice", key);
    }
  }
  if (flags.parent != 0) MUSTER_TRY(end_with_parent(flags.parent));
  return static_cast<ExitCode>(agent::run_agent(options));
}

}  // namespace muster::cli
