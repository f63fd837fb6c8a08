#include "plan/grouping.h"

#include <fmt/format.h>

#include <string_view>

#include "base/nearest.h"
#include "model/quoted.h"

namespace muster::plan {
namespace {

std::uint8_t bit(TaskKind kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}

std::string_view word(TaskKind kind) {
  switch (kind) {
    case TaskKind::Config:
      return "config";
    case TaskKind::Callback:
      return "callback";
    case TaskKind::Remote:
      return "remote";
  }
  return "";
}

bool is_on_ms(const Draft& draft, const DraftTask& fact) {
  return fact.node != kNone && draft.index.nodes()[fact.node].is_ms;
}

// By which cluster the task is sorted: a config task by its node, any other by its item.
std::uint32_t cluster_of(const Draft& draft, const Task& task, const DraftTask& fact) {
  if (task.kind() == TaskKind::Config) return draft.index.nodes()[fact.node].cluster;
  return draft.index.item(fact.item).cluster;
}

}  // namespace

Grouping::Grouping(const Draft& draft) : initial_locks_(draft.request.locks.initial) {
  for (const Group& group : draft.request.ruleset.groups) {
    GroupRules rules;
    for (const Condition& condition : group.criteria) {
      rules.criteria.push_back(make_rule(draft.index, condition));
    }
    for (const Constraint& constraint : group.constraints) {
      rules.constraints.push_back(make_rule(draft.index, constraint.must));
    }
    numbers_.push_back(rules_.size());
    rules_.push_back(std::move(rules));
  }
}

Grouping::Rule Grouping::make_rule(const ModelIndex& index, const Condition& condition) {
  Rule rule{&condition, 0, index.bit_of(condition.item_below), 0, !condition.item_below.empty()};
  for (const TaskKind kind : condition.tasks) rule.kinds |= bit(kind);
  if (condition.tasks.empty()) rule.kinds = 0xFF;
  if (!condition.item_not_below.empty()) rule.not_below = index.bit_of(condition.item_not_below);
  return rule;
}

bool Grouping::holds(const Draft& draft, const Rule& rule, const Task& task,
                     const DraftTask& fact) const {
  if ((rule.kinds & bit(task.kind())) == 0) return false;
  const Condition& condition = *rule.condition;
  if (!condition.tag.empty() && condition.tag != task.tag) return false;
  if (condition.initial_locks && !initial_locks_) return false;
  if (condition.node == NodeKind::Ms && !is_on_ms(draft, fact)) return false;
  if (condition.node == NodeKind::Managed && is_on_ms(draft, fact)) return false;
  const std::uint64_t bits = draft.index.item(fact.item).bits;
  if (rule.has_below && (bits & rule.below) == 0) return false;
  return (bits & rule.not_below) == 0;
}

// A tagged task is taken by the group of the tag, unless a group before it has a criterion for
// tasks of that tag; an untagged one by the first group with a criterion that names no tag.
const std::size_t* Grouping::find_group(const Draft& draft, const Task& task,
                                        const DraftTask& fact) const {
  const auto& groups = draft.request.ruleset.groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!task.tag.empty() && groups[i].tag == task.tag) return &numbers_[i];
    for (const Rule& rule : rules_[i].criteria) {
      if (rule.condition->tag == task.tag && holds(draft, rule, task, fact)) return &numbers_[i];
    }
  }
  return task.tag.empty() ? &numbers_[draft.request.ruleset.unmatched] : nullptr;
}

std::string Grouping::broken_by(const Draft& draft, const Rule& rule, const Task& task,
                                const DraftTask& fact) const {
  if ((rule.kinds & bit(task.kind())) == 0 || holds(draft, rule, task, fact)) return {};
  const Condition& must = *rule.condition;
  std::string demand;
  const auto add = [&](std::string text) {
    demand += demand.empty() ? "" : " and ";
    demand += text;
  };
  if (must.node == NodeKind::Ms) add("be on the management server");
  if (must.node == NodeKind::Managed) add("be on a node of a cluster");
  if (rule.has_below) add(fmt::format("be for an item of type {} or below one", must.item_below));
  if (!must.item_not_below.empty()) {
    add(fmt::format("not be for an item of type {} or below one", must.item_not_below));
  }
  if (!must.tag.empty()) add(fmt::format("have tag {}", must.tag));
  if (must.initial_locks) add("be in a plan that locks Initial nodes");
  return fmt::format("a {} task there must {}", word(task.kind()), demand);
}

bool Grouping::assign_remembered(const Draft& draft, const Task& task, DraftTask& fact) const {
  const std::size_t* group = find_group(draft, task, fact);
  if (group == nullptr) return false;
  fact.group = static_cast<std::uint16_t>(*group);
  if (!draft.group_of(fact).per_cluster) return true;
  fact.cluster = cluster_of(draft, task, fact);
  return fact.cluster != kNone;
}

bool Grouping::assign(Draft& draft, std::uint32_t i) const {
  const Task& task = draft.tasks[i];
  DraftTask& fact = draft.facts[i];
  const std::size_t* found = find_group(draft, task, fact);
  if (found == nullptr) {
    std::vector<std::string_view> tags;
    for (const Group& group : draft.request.ruleset.groups) {
      if (!group.tag.empty()) tags.push_back(group.tag);
    }
    draft.refuse(i, PlanErrorKind::UnknownTag,
                 fmt::format("has tag {}, which is the tag of no group{}", model::quoted(task.tag),
                             did_you_mean(task.tag, tags)));
    return false;
  }
  fact.group = static_cast<std::uint16_t>(*found);
  const Group& group = draft.group_of(fact);
  const std::string why_there =
      task.tag.empty() ? std::string() : fmt::format(", by its tag {}", task.tag);
  bool good = true;
  for (std::size_t c = 0; c < group.constraints.size(); ++c) {
    const std::string broken = broken_by(draft, rules_[*found].constraints[c], task, fact);
    if (broken.empty()) continue;
    draft.refuse(i, PlanErrorKind::WrongGroup,
                 fmt::format("does not fit {}{}: {}, because {}", group.name, why_there, broken,
                             group.constraints[c].reason));
    good = false;
  }
  if (!good || !group.per_cluster) return good;
  fact.cluster = cluster_of(draft, task, fact);
  if (fact.cluster != kNone) return true;
  draft.refuse(
      i, PlanErrorKind::WrongGroup,
      fmt::format("does not fit {}{}: the group is sorted by cluster, and neither its item "
                  "nor its node is in one",
                  group.name, why_there));
  return false;
}

namespace {

// In a group that is done node by node, a remote task runs on nodes of the cluster of its item.
void check_nodes(Draft& draft, std::uint32_t i) {
  const auto* remote = std::get_if<RemoteWork>(&draft.tasks[i].work);
  const DraftTask& fact = draft.facts[i];
  if (remote == nullptr || !draft.group_of(fact).lockable) return;
  for (const model::Path& path : remote->nodes) {
    const std::uint32_t node = draft.index.as_node(draft.index.find(path));
    if (draft.index.nodes()[node].cluster == fact.cluster) continue;
    draft.refuse(i, PlanErrorKind::WrongGroup,
                 fmt::format("does not fit {}: it is to run on {}, which is not a node of cluster "
                             "{}; the group is done node by node in the cluster of the task's item",
                             draft.group_of(fact).name, path.text(),
                             draft.index.clusters()[fact.cluster].place->path().text()));
    return;
  }
}

}  // namespace

void assign_groups(Draft& draft) {
  const Grouping grouping(draft);
  for (std::uint32_t i = 0; i < draft.tasks.size(); ++i) {
    const DraftTask& fact = draft.facts[i];
    if (!fact.is_planned() || fact.role != TaskRole::Ordinary) continue;
    if (grouping.assign(draft, i)) check_nodes(draft, i);
  }
}

}  // namespace muster::plan
