#pragma once

#include <sys/types.h>

#include <string>

#include "exec/executor.h"
#include "exec/run_directory.h"
#include "exec/run_work.h"

namespace muster::exec {

// The environment variable by which anything that a run has started can be recognised, also after
// its runner was killed.
inline constexpr char kRunVariable[] = "MUSTER_RUN";

// References are to things that outlive the run.
struct ChildPlan {
  const RunSpec& spec;
  const RunWork& work;
  const RunDirectory& directory;
  std::string directory_path;
  std::string boot_id;
  std::string version;
};

struct ChildPipes {
  int output = -1;
  int report = -1;
  pid_t runner = -1;
};

// The life of the child, in the process that the runner has just forked: leads its own process
// group, dies with the runner, writes to the pipes, and either executes the program of an exec
// action or does the work itself.
[[noreturn]] void run_child(const ChildPlan& plan, const ChildPipes& pipes);

}  // namespace muster::exec
