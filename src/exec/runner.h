#pragma once

#include <string>

#include "exec/fd.h"

namespace muster::exec {

// What a runner inherits from its spawner. The descriptors are borrowed.
struct RunnerContext {
  int runs = -1;        // directory of the run directories
  int state_lock = -1;  // kept until the run can be found by a new agent
  std::string run_root;
  std::string boot_id;
  std::string version;
};

// The life of a runner, in a process of its own that the spawner has just forked: makes the run
// directory, which marks the attempt as started; does the work; records the result. If the attempt
// was started before, or nothing can be started, it says so on the connection instead and exits.
//
// To fork and to end a process costs more than most short programs. So a runner whose agent is
// still there, and whose run has left no process behind, tells that it is idle and takes the next
// run from the same connection. It holds nothing of the run before then, and exits when the agent
// closes the connection or dies.
[[noreturn]] void run_runner(RunnerContext context, std::string request, UniqueFd connection);

}  // namespace muster::exec
