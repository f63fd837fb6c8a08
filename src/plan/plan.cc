#include "plan/plan.h"

#include "base/check.h"
#include "plan/task_id.h"

namespace muster::plan {

void OrderGraph::reserve(std::size_t vertices, std::size_t edges) {
  first_.reserve(vertices + 1);
  edges_.reserve(edges);
}

void OrderGraph::add_edge(Edge edge) {
  MUSTER_CHECK(edge.from <= kVertexMask && edges_.size() < kNone,
               "a plan of {} order constraints is too large", edges_.size());
  edges_.push_back(edge.from | static_cast<std::uint32_t>(edge.kind) << kKindShift);
}

std::string Plan::id(std::size_t task) const {
  const auto of_node = [&](std::string_view role) {
    return std::string(role) + path_in_id(nodes[phases[placements[task].phase].node]);
  };
  switch (placements[task].role) {
    case TaskRole::Ordinary:
      return task_id(tasks[task]);
    case TaskRole::Lock:
      return of_node("lock:");
    case TaskRole::Unlock:
      return of_node("unlock:");
    case TaskRole::Release:
      return of_node("release:");
    case TaskRole::Cleanup:
      return "cleanup:" + path_in_id(tasks[task].item);
  }
  return {};
}

std::optional<std::size_t> Plan::find(std::string_view wanted) const {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (id(i) == wanted) return i;
  }
  return std::nullopt;
}

std::string_view name(PlanErrorKind kind) {
  switch (kind) {
    case PlanErrorKind::UnknownItem:
      return "unknown_item";
    case PlanErrorKind::NotANode:
      return "not_a_node";
    case PlanErrorKind::NotACluster:
      return "not_a_cluster";
    case PlanErrorKind::UnknownTag:
      return "unknown_tag";
    case PlanErrorKind::WrongGroup:
      return "wrong_group";
    case PlanErrorKind::DuplicateTask:
      return "duplicate_task";
    case PlanErrorKind::UnknownTask:
      return "unknown_task";
    case PlanErrorKind::RequiresOutOfScope:
      return "requires_out_of_scope";
    case PlanErrorKind::ReplacesClash:
      return "replaces_clash";
    case PlanErrorKind::ClusterDependency:
      return "cluster_dependency";
    case PlanErrorKind::NodeOrder:
      return "node_order";
    case PlanErrorKind::Lock:
      return "lock";
    case PlanErrorKind::Cycle:
      return "cycle";
  }
  return "";
}

}  // namespace muster::plan
