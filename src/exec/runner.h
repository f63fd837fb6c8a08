#pragma once

#include <string>
#include <string_view>

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
// directory, which marks the attempt as started; does the work; records the result; exits. If the
// attempt was started before, or nothing can be started, it says so on the connection instead.
[[noreturn]] void run_runner(const RunnerContext& context, std::string_view request,
                             UniqueFd connection);

}  // namespace muster::exec
