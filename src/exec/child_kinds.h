#pragma once

#include <string>

#include "exec/child_report.h"
#include "exec/run_work.h"

namespace muster::exec {

// Does the work of a kind that needs no program, in the calling process, which is a child of its
// own: it may block, and a signal may end it at any point.
ChildReport run_child_kind(const RunWork& work, const std::string& version);

}  // namespace muster::exec
