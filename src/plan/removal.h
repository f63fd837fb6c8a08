#pragma once

#include "plan/draft.h"

namespace muster::plan {

// What the core does for items that are to be removed and that no plugin has made a task for: a
// config task that takes what earlier plans put there out of a node's configuration, or else a mere
// clean-up. REQUIRES: tasks are resolved.
void add_removal_tasks(Draft& draft);

}  // namespace muster::plan
