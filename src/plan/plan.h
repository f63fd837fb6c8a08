#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/path.h"
#include "plan/index_table.h"
#include "plan/task.h"

// What a planner makes: tasks in phases, and why each stands where it does. Values; they point to
// nothing outside themselves.

namespace muster::plan {

// Who asked for a task, and what it is to the plan.
enum class TaskRole : std::uint8_t {
  Ordinary,
  Lock,     // takes its node out of service before the node's tasks
  Unlock,   // puts it back after them
  Release,  // puts a node back that an earlier plan has left locked
  Cleanup,  // the core's own: the item goes without anything being done on a node
};

// Why a task of the request is not in a phase.
enum class LeftOut : std::uint8_t {
  No,
  SucceededBefore,  // the same task has succeeded, and what is on the node is known
  NodeForRemoval,   // the node that it would configure is to be removed itself
};

// How one task is bound to another.
enum class OrderKind : std::uint8_t {
  RequiresTask,
  RequiresItem,
  RequiresCall,
  Sibling,  // their items stand in elements of one item, of which one requires the other
  Member,   // inside the graph only: of those that something waits for together
};

// What waits for what inside the scopes of a plan: an edge to each thing that a vertex waits for.
// The first vertices are the tasks of the plan, by index; those after them stand for several tasks
// that others wait for together, so that the graph grows with the tasks and not with their square,
// or for tasks of earlier plans.
class OrderGraph {
 public:
  struct Edge {
    std::uint32_t from;  // this vertex comes before
    OrderKind kind;
  };

  std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
  std::size_t edge_count() const { return edges_.size(); }
  // Edge number `i` of all, of which those of a vertex stand together.
  Edge edge(std::size_t i) const {
    return {edges_[i] & kVertexMask, static_cast<OrderKind>(edges_[i] >> kKindShift)};
  }
  std::size_t first_edge(std::size_t vertex) const { return first_[vertex]; }
  std::size_t end_edge(std::size_t vertex) const { return first_[vertex + 1]; }

  // Vertices are added in their order, each with its edges.
  void reserve(std::size_t vertices, std::size_t edges);
  void add_vertex() { first_.push_back(static_cast<std::uint32_t>(edges_.size())); }
  void add_edge(Edge edge);
  void finish() { add_vertex(); }

 private:
  static constexpr unsigned kKindShift = 29;
  static constexpr std::uint32_t kVertexMask = (1U << kKindShift) - 1;

  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> edges_;
};

// Tasks that may run at the same time, but that config tasks of one node keep their order. All are
// config tasks, or none is.
struct Phase {
  std::uint32_t group = 0;        // index into Plan::groups
  std::uint32_t cluster = kNone;  // index into Plan::clusters, or kNone: of no cluster
  std::uint32_t node = kNone;     // index into Plan::nodes: the node that is locked meanwhile
  std::uint32_t first = 0;        // its tasks stand together in Plan::tasks
  std::uint32_t count = 0;
  // Its rank among the phases of its scope: even ones are of callbacks and remotes, odd ones of
  // config tasks. -1: a phase of one task that is not sorted (locks), or the last one.
  std::int32_t rank = -1;
  // Phases that must have ended before; all of them stand before this one. What those require in
  // turn is not repeated.
  std::vector<std::uint32_t> after;
};

// Where a task stands. Of each task of the plan there is one.
struct Placement {
  std::uint32_t phase = kNone;  // kNone: left out
  TaskRole role = TaskRole::Ordinary;
  LeftOut left_out = LeftOut::No;
  // It is ordered as if its item stood in the element of its node that has the name of the one that
  // it stands in: what is declared for a cluster is done on a node in the node's own order.
  bool as_in_node = false;
  bool is_reversed = false;  // the order of siblings is turned around for it
};

struct Plan {
  std::vector<std::string> groups;    // in the order of the plan; the last is kCleanupGroup
  std::vector<model::Path> clusters;  // in the order of the plan
  std::vector<model::Path> nodes;     // that are locked
  std::vector<Phase> phases;
  // Phase by phase; after them those that were left out. A RequiredTask is an index into this.
  std::vector<Task> tasks;
  std::vector<Placement> placements;
  std::size_t planned = 0;  // tasks in phases
  OrderGraph order;
  std::vector<std::string> remembered;  // names of tasks of earlier plans, see is_remembered()
  std::uint32_t first_remembered = 0;   // vertex of the first of them
  std::vector<std::string> notices;     // what was asked for and does not bind, in words

  // The name of a task: task_id(), or for those that the planner put there lock:NODE, unlock:NODE,
  // release:NODE and cleanup:ITEM.
  std::string id(std::size_t task) const;
  // Nothing: no task has that name. Looks at every task.
  std::optional<std::size_t> find(std::string_view id) const;

  std::string_view group_of(const Phase& phase) const { return groups[phase.group]; }
  // Null: of no cluster.
  const model::Path* cluster_of(const Phase& phase) const {
    return phase.cluster == kNone ? nullptr : &clusters[phase.cluster];
  }
};

inline constexpr std::string_view kCleanupGroup = "CLEANUP";
// The plugin of tasks that the core itself adds.
inline constexpr std::string_view kCorePlugin = "core";

// There are no tasks, or all of them have been done before.
struct NothingToDo {
  std::vector<Task> left_out;
  std::vector<std::string> notices;
};

enum class PlanErrorKind : std::uint8_t {
  UnknownItem,  // a task names an item that is not there
  NotANode,     // a task, lock or option names as a node what is none
  NotACluster,  // an option names as a cluster what is none
  UnknownTag,
  WrongGroup,  // the task does not meet what its group demands
  DuplicateTask,
  UnknownTask,  // a requirement names a task that is not there
  RequiresOutOfScope,
  ReplacesClash,
  ClusterDependency,
  NodeOrder,
  Lock,
  Cycle,
};
std::string_view name(PlanErrorKind kind);

struct PlanError {
  PlanErrorKind kind;
  std::string task;    // its name; empty: it is about no task
  std::string plugin;  // that asked for it
  model::Path item;    // of the task, or what the error is about
  std::string message;

  bool operator==(const PlanError&) const = default;
};

struct PlanErrors {
  std::vector<PlanError> errors;  // sorted; at most kPlanErrorsMax of them
  std::size_t unnamed = 0;        // more than those
};

inline constexpr std::size_t kPlanErrorsMax = 1000;

using PlanOutcome = std::variant<Plan, NothingToDo, PlanErrors>;

}  // namespace muster::plan
