#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/fd.h"

// What /proc says of processes. The table is read by scanning all of /proc: the per-task list of
// children is missing from kernels that were built without it, and the scan is needed only where
// processes are signalled, measured or looked for after a crash, never on the way of an ordinary
// run.

namespace muster::os {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';
  std::string name;
  std::uint64_t start_time = 0;  // clock ticks since boot; with the pid it names one process

  bool is_dead() const { return state == 'Z' || state == 'X'; }
};

std::optional<ProcessInfo> read_process(pid_t pid);
std::vector<ProcessInfo> list_processes();

// All processes below `root`, without it. Complete only where `root` is a subreaper, so that
// nothing below it can be adopted by another process.
std::vector<ProcessInfo> list_descendants(pid_t root);

// Whether the environment with which the process was started has exactly this "NAME=value".
bool has_environment(pid_t pid, std::string_view entry);

// A descriptor that names this very process and is readable when it has ended. Invalid if the
// process is gone or its pid now belongs to another.
UniqueFd open_process(pid_t pid, std::uint64_t start_time);
bool signal_process(const UniqueFd& process, int signal);

}  // namespace muster::os
