#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::agent {

// Everything that `muster agent` can be told.
struct AgentOptions {
  std::string name;  // empty: the host's
  std::string state_dir = "/var/lib/muster-agent";
  std::vector<std::string> controllers;  // "127.0.0.1:8441"; none: the agent stands alone
  std::map<std::string, std::string> labels;
  std::string local_socket;  // empty: <state_dir>/agent.sock
  unsigned local_socket_mode = 0600;
  std::string local_tcp;  // "127.0.0.1:8442"; empty: none
  bool insecure = false;  // allow controllers, and a local_tcp, that are not loopback
  std::string log_level = "info";
  std::string log_format = "text";
  std::size_t queue_max = 10'000;
  std::size_t keep_finished = 1000;
  Duration keep_finished_for = Duration::days(14);
  Duration default_timeout = Duration::seconds(3600);
  // How long to wait for an earlier agent on the same state directory to be gone.
  Duration lock_wait = Duration::seconds(10);
  std::string version;
};

// Runs an agent until SIGTERM or SIGINT; the answer is the exit code of the process. Actions that
// run then go on, and the next agent on the same state directory attaches to them. What is wrong at
// the start (a state directory in use, a damaged journal, an address that cannot be bound) is
// printed with what to do.
//
// REQUIRES: the process has a single thread and has not used gRPC; it is about to fork.
int run_agent(const AgentOptions& options);

}  // namespace muster::agent
