#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/action/action.h"

namespace muster::core {

// Looks for a cycle among everything reachable from `starts`. `dependencies_of` answers what an
// action depends on. The answer is the cycle as a path whose first and last element are the same.
// Iterative, linear in what is reachable: a chain may be as long as the table.
std::optional<std::vector<ActionId>> find_cycle(
    const std::vector<ActionId>& starts,
    const std::function<std::vector<ActionId>(const ActionId&)>& dependencies_of);

}  // namespace muster::core
