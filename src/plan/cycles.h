#pragma once

#include <cstdint>
#include <vector>

#include "plan/scope_graph.h"

namespace muster::plan {

// What a task says itself counts for more than the order of siblings: where a task waits for a
// sibling that requires it, also by way of others, it does not wait for that one. True: there was
// such a thing, and the graph is to be sorted again. REQUIRES: sort() has found stuck vertices; the
// vertices below `tasks` are those of tasks.
bool drop_overridden(ScopeGraph& graph, std::uint32_t tasks);

// A task on a cycle, and how it waits for the next one.
struct CycleStep {
  std::uint32_t vertex;
  OrderKind kind;
};

// For each knot of vertices that wait for each other a short cycle in it, which begins with its
// first task. REQUIRES: as above.
std::vector<std::vector<CycleStep>> find_cycles(const ScopeGraph& graph, std::uint32_t tasks);

}  // namespace muster::plan
