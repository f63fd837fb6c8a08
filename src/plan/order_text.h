#pragma once

#include <string>
#include <vector>

#include "plan/cycles.h"
#include "plan/draft.h"
#include "plan/scopes.h"

namespace muster::plan {

// Tells of tasks that wait for each other, with the reason for each step of the way.
void tell_cycle(Draft& draft, const Slots& slots, const Scope& scope,
                const std::vector<CycleStep>& cycle);

// "'os' of /…/n1 comes before 'items'": how the order of siblings binds two items, of which the
// first comes later; the other way round where what they are for is removed.
std::string sibling_reason(const model::Path& later, const model::Path& earlier, bool is_reversed);

// The item that a task is ordered by, see Placement::as_in_node.
model::Path ordered_item(const Task& task, bool as_in_node);

}  // namespace muster::plan
