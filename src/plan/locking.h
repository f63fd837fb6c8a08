#pragma once

#include <cstdint>
#include <vector>

#include "plan/draft.h"

namespace muster::plan {

// The tasks that lock and unlock a node; kNone: there is none.
struct NodeLock {
  std::uint32_t lock = kNone;
  std::uint32_t unlock = kNone;
  std::uint32_t release = kNone;  // of a node that an earlier plan has left locked
};

struct Locks {
  std::vector<NodeLock> of_node;        // by node
  std::vector<std::uint32_t> position;  // of each node among those of its cluster
  std::vector<bool> in_cluster;         // by cluster: some node of it is locked

  bool is_locked(std::uint32_t node) const { return of_node[node].lock != kNone; }
};

// Nodes that are to be locked, in order: the policy lets them, and they have a task of a group that
// is done under locks, or were left locked. REQUIRES: tasks have their groups.
std::vector<std::uint32_t> lockable_nodes(Draft& draft);

// Takes the lock tasks into the draft, and splits remote tasks that run on several nodes of which
// some are locked. Tells of pairs for nodes that are not to be locked, of two pairs for one node,
// of lock tasks that require something, and of node orders that are none.
Locks arrange_locks(Draft& draft, std::vector<LockPair> pairs);

}  // namespace muster::plan
