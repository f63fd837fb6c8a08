#pragma once

#include "plan/draft.h"

namespace muster::plan {

// Finds the items and nodes that a task names, and tells of those that are not there. A config task
// of a node that is to be removed is left out: the node goes, and what is on it with it.
void resolve_task(Draft& draft, std::uint32_t task);

// The item by which a task is ordered among siblings: its own; but what is declared for a cluster,
// say, and done by a config task on a node is ordered as if it stood in the element of the node
// that has the same name, if there is one. REQUIRES: its item and node are known.
void set_anchor(Draft& draft, const Task& task, DraftTask& fact);

// All tasks; then tells of config tasks that ask for the same call on a node, and of `replaces`
// that clash.
void resolve_tasks(Draft& draft);

// All tasks, as far as says where they are done and what has to be removed without them: nothing is
// told about calls.
void resolve_places(Draft& draft);

// The config task of this plan with this call on the node, or kNone.
std::uint32_t find_call(const Draft& draft, std::uint32_t node, const Call& call);

}  // namespace muster::plan
