#pragma once

#include <sys/types.h>

// Signals to everything below a subreaper. The caller is that subreaper and has one thread.

namespace muster::exec {

// One pass over all descendants. A process group whose leader has not been reaped can be given as
// `group`: it is signalled as a whole, which a process that forks meanwhile cannot escape.
void signal_tree(pid_t group, int signal);

// Stops all descendants, looking again until no new one has appeared.
void stop_tree(pid_t group);

}  // namespace muster::exec
