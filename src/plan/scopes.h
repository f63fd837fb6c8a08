#pragma once

#include <cstdint>
#include <vector>

#include "plan/draft.h"
#include "plan/locking.h"

namespace muster::plan {

// Tasks that are sorted together: those of a group; in a group per cluster, those of one cluster;
// in a cluster with locks, those of one locked node, or of all nodes that are not locked.
struct Scope {
  // Which part of the plan it is in, in their order.
  enum class Part : std::uint8_t { BeforeClusters, Cluster, AfterClusters };
  // And which part of a cluster.
  enum class Step : std::uint8_t { BeforeNodes, LockedNode, OtherNodes, AfterNodes };

  Part part = Part::BeforeClusters;
  Step step = Step::BeforeNodes;
  std::uint16_t group = 0;        // index into Ruleset::groups
  std::uint16_t group_place = 0;  // its place in the order of the plan
  std::uint32_t cluster = kNone;
  std::uint32_t node = kNone;  // the locked one
  std::uint32_t first = 0;     // its tasks stand together in Slots::tasks
  std::uint32_t count = 0;
};

// Tasks in the order of scopes; in each by item, then by what makes them the same: in an order that
// does not depend on that in which they were given.
struct Slots {
  std::vector<std::uint32_t> tasks;     // indexes of the draft
  std::vector<std::uint32_t> of_task;   // the slot of each task; kNone: it has none
  std::vector<std::uint32_t> scope_of;  // by slot
  std::vector<Scope> scopes;
};

// The given tasks by item, then by what makes them the same. REQUIRES: items have ranks.
std::vector<std::uint32_t> ranked(const Draft& draft, const std::vector<std::uint32_t>& tasks);

// Tells of callbacks and remotes that are asked for twice. Leaves out tasks of earlier plans in
// scopes that have nothing to do.
Slots make_slots(Draft& draft, const Locks& locks);

}  // namespace muster::plan
