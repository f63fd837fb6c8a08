#pragma once

#include <cstdint>
#include <vector>

#include "plan/draft.h"
#include "plan/locking.h"
#include "plan/scope_graph.h"
#include "plan/scopes.h"

namespace muster::plan {

// An edge of the whole plan, between tasks of the draft, remembered ones included, and vertices
// that are numbered on after those.
struct DraftEdge {
  std::uint32_t to;
  std::uint32_t from;
  OrderKind kind;
};

// The phases of a plan, with tasks of the draft.
struct DraftPhases {
  std::vector<Phase> phases;         // `node` and `cluster` are those of ModelIndex
  std::vector<std::uint32_t> tasks;  // phase by phase
  std::vector<DraftEdge> edges;
  std::uint32_t vertices = 0;  // of edges
};

// Sorts scope by scope and puts the phases one after the other: groups, clusters, nodes with their
// locks. Tells of tasks that wait for each other.
DraftPhases build_phases(Draft& draft, const Locks& locks, const Slots& slots);

}  // namespace muster::plan
