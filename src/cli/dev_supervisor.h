#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/context.h"

namespace muster::cli {

struct DevOptions {
  std::uint32_t agents = 3;
  std::string data_dir = ".muster-dev";
  std::string listen;        // empty: 127.0.0.1:8440, or a free port where that is taken
  std::string agent_listen;  // empty: 127.0.0.1:8441, likewise
  std::string agent_prefix = "a";
  std::string log_level = "info";
};

// A process of the fleet: how it is started, and how it stands.
struct DevChild {
  std::string name = {};
  std::vector<std::string> arguments = {};  // after the program
  std::string log_file = {};
  pid_t pid = 0;  // 0: not running
  Timestamp started_at = {};
  Timestamp start_due = {};        // while not running
  std::uint32_t quick_deaths = 0;  // in a row
};

// The command lines of a fleet in `directory` (absolute), controller first.
std::vector<DevChild> dev_children(const DevOptions& options, const std::string& directory,
                                   const std::string& listen, const std::string& agent_listen,
                                   pid_t supervisor);

// Text of the pids file: "name pid" per running process.
std::string pids_text(const std::vector<DevChild>& children);

// `host:port` if it is free, else the same host with a port that is. Errors: InvalidValue for
// something else than an IPv4 address and a port, IoError.
Result<std::string> free_address(const std::string& preferred);

// `muster dev`: a controller and agents as real processes, restarted when they die, until SIGINT or
// SIGTERM. Fails once the fleet cannot start at all. One at a time per data directory.
Outcome<ExitCode> run_dev(Context& context, const DevOptions& options);

}  // namespace muster::cli
