#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

// Why a task of a plan is in its phase. Computed from the plan when somebody asks.

namespace muster::plan {

enum class ReasonKind : std::uint8_t {
  RequiresTask,
  RequiresItem,
  RequiresCall,
  Sibling,
  Separation,    // config tasks share no phase with others
  GroupOrder,    // the group comes after another
  ClusterOrder,  // the cluster depends on another
  NodeOrder,     // nodes of the cluster are locked one after the other
  Lock,          // the node is locked before its tasks
  Unlock,        // and unlocked after them
  Cleanup,       // items go when everything else is done
  Nothing,       // nothing has to be done before it
};
std::string_view name(ReasonKind kind);

// One step of the chain: `task` is in `phase` because of this. The next step tells of `other`.
struct Reason {
  ReasonKind kind;
  std::size_t task;         // index into Plan::tasks
  std::size_t phase;        // index of its phase
  std::size_t other;        // the task that comes before; Plan::tasks.size(): none
  std::size_t other_phase;  // the phase that comes before; Plan::phases.size(): none
  std::string text;         // in words; phases are numbered from 1
};

// The chain of constraints that puts the task where it is: from the task back, each time to what
// binds it most, to the first phase of its scope; then what that phase comes after.
// REQUIRES: the task is in a phase.
std::vector<Reason> explain(const Plan& plan, std::size_t task);

// The tasks of the same phase and node that a config task comes after, by index: what is to be kept
// when they are applied together. Those that the found ones come after are not repeated, unless
// they bind the task themselves.
std::vector<std::size_t> required_in_phase(const Plan& plan, std::size_t task);

}  // namespace muster::plan
