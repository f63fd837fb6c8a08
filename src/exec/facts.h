#pragma once

#include <string>

#include "core/fleet/agent.h"
#include "exec/child_report.h"

namespace muster::exec {

// What this host is, for an agent that introduces itself. What cannot be found out is empty.
// `version` is that of the program. Any thread.
core::AgentFacts gather_facts(const std::string& version);

// The kind `facts`: the same, and cpus, memory_bytes and boot_id.
ChildReport run_facts(const std::string& version);

}  // namespace muster::exec
