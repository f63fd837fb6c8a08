#pragma once

#include <string>
#include <vector>

#include "model/path.h"
#include "model/schema.h"
#include "model/tree.h"
#include "plan/plan.h"
#include "plan/ruleset.h"
#include "plan/task.h"

// From the tasks that plugins ask for to a plan. A pure function, nearly linear in tasks and
// requirements; the same tasks in another order give the same plan.
//
// What a plan keeps to, in the order in which it decides: the groups of the ruleset; in the groups
// per cluster the order of clusters, of which those that do not depend on each other run at the
// same time; in a cluster whose nodes are locked, one node after the other; then, inside one such
// scope, what tasks require, and the `require` between the elements of an item, turned around for
// what is removed. docs/planning.md tells it to people.

namespace muster::plan {

struct LockPolicy {
  bool lock = true;                 // false: no node is locked
  bool initial = false;             // also nodes that are still Initial
  std::vector<model::Path> not_in;  // clusters whose nodes are not locked
};

// What one plugin answered for one node.
struct LockPair {
  model::Path node;
  Task lock;
  Task unlock;
};

enum class TaskState : std::uint8_t { Initial, Running, Success, Failed, Stopped };

// A config task that a node is held to since an earlier plan. remember() (remembered.h) makes one.
struct RememberedTask {
  Task task;  // without RequiredTask among its requirements
  TaskState state = TaskState::Initial;
  std::string group;
  std::vector<std::string> required;  // the names of tasks that it requires; sorted
};

// Ids of all nodes of a cluster, the first to be locked first.
struct NodeOrder {
  model::Path cluster;
  std::vector<std::string> nodes;
};

struct PlanRequest {
  const model::Tree& model;
  const model::Schema& schema;
  const Ruleset& ruleset;
  LockPolicy locks = {};
  std::vector<NodeOrder> node_orders = {};
  // No two of one node with the same call. Not looked into where nothing of the plan touches it.
  const std::vector<RememberedTask>& remembered;
};

// The nodes for which plugins are to be asked for lock tasks, by path: those that the policy lets
// be locked, and that have a task which is done under a lock or were left locked. What is wrong
// with tasks is left for make_plan() to tell.
std::vector<model::Path> nodes_to_lock(const PlanRequest& request, const std::vector<Task>& tasks);

// REQUIRES: `tasks` has less than 2^29 entries.
PlanOutcome make_plan(const PlanRequest& request, std::vector<Task> tasks,
                      std::vector<LockPair> locks);

}  // namespace muster::plan
