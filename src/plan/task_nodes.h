#pragma once

#include <cstdint>
#include <vector>

#include "plan/draft.h"

namespace muster::plan {

// Whether some node is a node of both tasks.
bool share_node(const Draft& draft, std::uint32_t a, std::uint32_t b);

// The tasks that a RequiredTask of `task` stands for: what was asked for, or where that was split
// by node the parts that share a node with `task`, or all parts if none does.
std::vector<std::uint32_t> required_tasks(const Draft& draft, std::uint32_t task,
                                          const RequiredTask& required);

}  // namespace muster::plan
