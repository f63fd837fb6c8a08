#pragma once

#include <string>

#include "base/time.h"
#include "exec/executor.h"
#include "exec/run_directory.h"

// What becomes of a run whose runner is gone without a result.

namespace muster::exec {

// Kills what a dead runner has left: the process group of its child, and whatever carries the run's
// mark in its environment, wherever it has moved. A pid that was used again is never touched.
// Blocks until all of it is dead, for no longer than `deadline`; false if something is left.
bool kill_leftovers(const RunDirectory& directory, const RunKey& key, const std::string& boot_id,
                    Duration deadline);

// Settles the run: kills the leftovers, and records the ERROR in the directory, so that it is
// settled once and for all. REQUIRES: the runner is dead.
RunResult settle_lost_run(const RunDirectory& directory, const RunKey& key,
                          const std::string& boot_id);

// For a run that left no directory.
RunResult lost_before_start(std::string reason);
// The host has restarted since the run was asked for, and a directory that is missing may have been
// lost with the power: starting it could mean starting it twice.
RunResult unknown_after_restart();

}  // namespace muster::exec
