#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/schema.h"
#include "plan/task.h"

// The deployment ruleset: which groups a deployment plan has, in what order they come, which tasks
// belong to which, and what a group demands of its tasks. It comes from the core pack; the planner
// only follows it.

namespace muster::plan {

// Where a config task is to be done.
enum class NodeKind : std::uint8_t {
  Any,
  Ms,       // on the management server
  Managed,  // on a node of a cluster
};

// What must hold for a task. All of it must; what is empty holds always.
struct Condition {
  std::vector<TaskKind> tasks;
  std::string tag;
  NodeKind node = NodeKind::Any;
  std::string item_below;      // the task's item is of this type, or below an item of it
  std::string item_not_below;  // it is not
  bool initial_locks = false;  // the plan was asked to lock nodes that are still Initial
  model::Place place;
};

// A task of the group of one of the kinds that `must` names has to meet the rest of it.
struct Constraint {
  Condition must;
  std::string reason;  // why, for the error that names the task
};

struct Group {
  std::string name;
  std::string tag;  // a task with this tag belongs to the group
  std::string description;
  std::vector<std::string> requires_groups;  // that come before it
  std::vector<Condition> criteria;           // an untagged task for which one holds belongs to it
  std::vector<Constraint> constraints;
  bool per_cluster = false;      // its tasks are sorted cluster by cluster
  bool lockable = false;         // and node by node, where nodes can be locked
  bool takes_unmatched = false;  // gets the tasks that belong to no group
  model::Place place;
};

struct Ruleset {
  std::vector<Group> groups;       // in the order in which they are tried; the first that fits wins
  std::vector<std::size_t> order;  // of the plan: indexes of groups, each after what it requires
  std::size_t unmatched = 0;       // index of the group that takes what fits nowhere

  // Null: there is none.
  const Group* find_group(std::string_view name) const;
  const Group* find_by_tag(std::string_view tag) const;
};

inline constexpr std::size_t kRulesetTypesMax = 60;  // item types that conditions name

struct BuiltRuleset {
  std::optional<Ruleset> ruleset;              // nothing if there is any error
  std::vector<model::DefinitionError> errors;  // all of them, in the order of their places
};

// Checks the groups: names and tags that stand twice, unknown groups, tags and item types, cycles,
// not exactly one group for what fits nowhere, lockable groups that are not per cluster, groups per
// cluster or lockable groups with another group between them, more types than kRulesetTypesMax.
BuiltRuleset build_ruleset(std::vector<Group> groups, const model::Schema& schema);

}  // namespace muster::plan
