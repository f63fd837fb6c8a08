#pragma once

#include "plan/draft.h"

namespace muster::plan {

// The failed-plan rule: a config task that has succeeded before, is asked for again just the same
// and whose items are known to be what was applied, is left out. What else has succeeded before
// takes part in the order without being in the plan. REQUIRES: tasks have their groups, and none is
// added any more.
void take_remembered(Draft& draft);

// A config task of a plan as later plans are to remember it.
// REQUIRES: it is a config task.
RememberedTask remember(const Plan& plan, std::size_t task, TaskState state);

}  // namespace muster::plan
