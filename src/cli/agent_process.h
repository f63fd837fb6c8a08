#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/failure.h"

namespace muster::cli {

// What `muster agent` was told, as text.
struct AgentFlags {
  std::string name;  // empty: the host's name
  std::string state_dir = "/var/lib/muster-agent";
  std::vector<std::string> controllers;
  std::vector<std::string> labels;  // key=value
  std::string socket;               // empty: <state_dir>/agent.sock
  std::string socket_mode;
  std::string listen;
  bool insecure = false;
  std::string log_level = "info";
  std::string log_format = "text";
  pid_t parent = 0;
};

// Runs the agent until it is told to stop.
Outcome<ExitCode> run_agent_process(const AgentFlags& flags);

}  // namespace muster::cli
