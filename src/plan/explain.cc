#include "plan/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/check.h"
#include "plan/order_text.h"
#include "plan/task_id.h"

namespace muster::plan {
namespace {

// A task of the plan that another waits for.
struct Binding {
  std::uint32_t task;
  OrderKind kind;     // how the wait begins
  std::uint32_t via;  // a task done before that stands between the two; kNone: there is none
};

const model::Path* node_of(const Task& task) {
  const auto* config = std::get_if<ConfigWork>(&task.work);
  return config == nullptr ? nullptr : &config->node;
}

class Explainer {
 public:
  explicit Explainer(const Plan& plan) : plan_(plan) {}

  // Every task in a phase that `task` waits for with no other such task between them.
  std::vector<Binding> bindings(std::uint32_t task) const {
    struct Open {
      std::uint32_t vertex;
      OrderKind kind;
      std::uint32_t via;
    };
    std::vector<Binding> found;
    std::set<std::uint32_t> seen = {task};
    std::vector<Open> open = {{task, OrderKind::Member, kNone}};
    while (!open.empty()) {
      const Open at = open.back();
      open.pop_back();
      for (std::size_t i = plan_.order.first_edge(at.vertex); i < plan_.order.end_edge(at.vertex);
           ++i) {
        const OrderGraph::Edge edge = plan_.order.edge(i);
        if (!seen.insert(edge.from).second) continue;
        const OrderKind kind = at.vertex == task ? edge.kind : at.kind;
        if (edge.from < plan_.planned) {
          found.push_back({edge.from, kind, at.via});
        } else {
          open.push_back(
              {edge.from, kind, is_done(edge.from) && at.via == kNone ? edge.from : at.via});
        }
      }
    }
    std::sort(found.begin(), found.end(),
              [](const Binding& a, const Binding& b) { return a.task < b.task; });
    return found;
  }

  std::vector<Reason> chain(std::uint32_t task) {
    for (;;) {
      const Phase& phase = phase_of(task);
      if (phase.rank < 0) break;
      const std::optional<Binding> binding = tightest(task);
      if (!binding || demand(task, binding->task) < phase.rank) {
        if (plan_.tasks[task].kind() == TaskKind::Config) add_separation(task);
        break;
      }
      add(kind_of(binding->kind), task, binding->task, text_of(task, *binding));
      task = binding->task;
    }
    add_scope(task);
    return std::move(reasons_);
  }

 private:
  const Phase& phase_of(std::uint32_t task) const {
    return plan_.phases[plan_.placements[task].phase];
  }
  bool is_done(std::uint32_t vertex) const {
    return vertex < plan_.first_remembered + plan_.remembered.size();
  }
  static std::size_t number(std::uint32_t phase) { return phase + std::size_t{1}; }

  // The rank that `other` alone would give to `task`.
  std::int32_t demand(std::uint32_t task, std::uint32_t other) const {
    const std::int32_t rank = phase_of(other).rank;
    const model::Path* mine = node_of(plan_.tasks[task]);
    const model::Path* theirs = node_of(plan_.tasks[other]);
    if (mine == nullptr) return theirs == nullptr ? rank + 2 : rank + 1;
    if (theirs == nullptr) return rank + 1;
    return *mine == *theirs ? rank : rank + 2;
  }

  // Among those that demand the same the one in the latest phase, so that no step of the chain is
  // passed over.
  std::optional<Binding> tightest(std::uint32_t task) const {
    std::optional<Binding> best;
    const auto weight = [&](const Binding& binding) {
      return std::tuple(demand(task, binding.task), plan_.placements[binding.task].phase,
                        -static_cast<int>(binding.kind));
    };
    for (const Binding& binding : bindings(task)) {
      if (!best || weight(binding) > weight(*best)) best = binding;
    }
    return best;
  }

  static ReasonKind kind_of(OrderKind kind) {
    switch (kind) {
      case OrderKind::RequiresTask:
        return ReasonKind::RequiresTask;
      case OrderKind::RequiresItem:
        return ReasonKind::RequiresItem;
      case OrderKind::RequiresCall:
        return ReasonKind::RequiresCall;
      case OrderKind::Sibling:
      case OrderKind::Member:
        break;
    }
    return ReasonKind::Sibling;
  }

  std::string text_of(std::uint32_t task, const Binding& binding) const {
    const bool is_same_phase = plan_.placements[task].phase == plan_.placements[binding.task].phase;
    const std::string where =
        is_same_phase ? std::string("before it in the same phase")
                      : fmt::format("in phase {}", number(plan_.placements[binding.task].phase));
    const std::string other = plan_.id(binding.task);
    if (binding.via != kNone) {
      const std::string via = binding.via < plan_.tasks.size()
                                  ? plan_.id(binding.via)
                                  : plan_.remembered[binding.via - plan_.first_remembered];
      return fmt::format(
          "it comes after {}, which was done by an earlier plan and comes after {}, {}", via, other,
          where);
    }
    switch (binding.kind) {
      case OrderKind::RequiresTask:
        return fmt::format("it requires task {}, {}", other, where);
      case OrderKind::RequiresItem:
        return fmt::format("it requires an item of which {} is a task, {}", other, where);
      case OrderKind::RequiresCall: {
        const Call& call = std::get<ConfigWork>(plan_.tasks[binding.task].work).call;
        return fmt::format("it requires {} '{}': {}, {}", call.type, call.id, other, where);
      }
      case OrderKind::Sibling:
      case OrderKind::Member:
        break;
    }
    return fmt::format(
        "it comes after {}, {}, because {}", other, where,
        sibling_reason(item_of(task), item_of(binding.task), plan_.placements[task].is_reversed));
  }

  model::Path item_of(std::uint32_t task) const {
    return ordered_item(plan_.tasks[task], plan_.placements[task].as_in_node);
  }

  void add(ReasonKind kind, std::uint32_t task, std::size_t other, std::string text) {
    const std::size_t other_phase =
        other < plan_.planned ? plan_.placements[other].phase : plan_.phases.size();
    reasons_.push_back(
        {kind, task, plan_.placements[task].phase, other, other_phase, std::move(text)});
  }

  static bool same_scope(const Phase& a, const Phase& b) {
    return a.group == b.group && a.cluster == b.cluster && a.node == b.node && a.rank >= 0 &&
           b.rank >= 0;
  }

  std::uint32_t first_of_scope(std::uint32_t phase) const {
    while (phase > 0 && same_scope(plan_.phases[phase], plan_.phases[phase - 1])) --phase;
    return phase;
  }

  void add_separation(std::uint32_t task) {
    const std::uint32_t first = first_of_scope(plan_.placements[task].phase);
    if (plan_.phases[first].rank != 0) return;
    const Phase& phase = plan_.phases[first];
    add(ReasonKind::Separation, task, phase.first,
        fmt::format("a config task shares no phase with callbacks and remotes, which come first: "
                    "phase {}",
                    number(first)));
  }

  void add_scope(std::uint32_t task) {
    const std::uint32_t first = first_of_scope(plan_.placements[task].phase);
    const Phase& phase = plan_.phases[first];
    if (phase.after.empty()) {
      add(ReasonKind::Nothing, task, plan_.tasks.size(),
          fmt::format("nothing of the plan comes before {} there", plan_.group_of(phase)));
    }
    for (const std::uint32_t before : phase.after) {
      auto [kind, text] = between(task, phase, before);
      add(kind, task, plan_.phases[before].first, std::move(text));
    }
  }

  std::pair<ReasonKind, std::string> between(std::uint32_t task, const Phase& phase,
                                             std::uint32_t index) const {
    const Phase& before = plan_.phases[index];
    const TaskRole role = plan_.placements[task].role;
    const TaskRole role_before = plan_.placements[before.first].role;
    const std::string last = fmt::format("the last of which is phase {}", number(index));
    if (role == TaskRole::Cleanup) {
      return {ReasonKind::Cleanup,
              fmt::format("items are removed from the model after all other phases, {}", last)};
    }
    if (role == TaskRole::Release) {
      return {ReasonKind::Unlock,
              fmt::format("{} was left locked; it is unlocked before the nodes of its cluster are "
                          "changed, after phase {}",
                          plan_.nodes[phase.node].text(), number(index))};
    }
    if (phase.node != kNone && phase.node == before.node) {
      const std::string& node = plan_.nodes[phase.node].text();
      if (role == TaskRole::Unlock) {
        return {ReasonKind::Unlock, fmt::format("{} is unlocked after its phases, {}", node, last)};
      }
      if (role_before == TaskRole::Lock) {
        return {ReasonKind::Lock,
                fmt::format("{} is locked before its phases, in phase {}", node, number(index))};
      }
      if (role_before == TaskRole::Release) {
        return {ReasonKind::Lock,
                fmt::format("{} was left locked and is unlocked, in phase {}, before it is locked "
                            "again",
                            node, number(index))};
      }
    }
    if (phase.cluster != kNone && before.cluster != kNone && phase.cluster != before.cluster) {
      return {ReasonKind::ClusterOrder,
              fmt::format("cluster {} depends on cluster {}: after the phases of that, {}",
                          plan_.clusters[phase.cluster].text(),
                          plan_.clusters[before.cluster].text(), last)};
    }
    // The groups of one locked node come before those of the next; a group that comes after all
    // nodes is a later one.
    if (phase.cluster == before.cluster && before.node != kNone && phase.node != before.node &&
        phase.group <= before.group) {
      return {ReasonKind::NodeOrder,
              fmt::format("locked nodes come one after the other and before those that are not "
                          "locked: after the phases of {}, {}",
                          plan_.nodes[before.node].text(), last)};
    }
    const model::Path* cluster = plan_.cluster_of(before);
    return {ReasonKind::GroupOrder,
            fmt::format("{} comes after the phases of {}{}{}, {}", plan_.group_of(phase),
                        plan_.group_of(before), cluster == nullptr ? "" : " of cluster ",
                        cluster == nullptr ? "" : cluster->text(), last)};
  }

  const Plan& plan_;
  std::vector<Reason> reasons_;
};

}  // namespace

std::string_view name(ReasonKind kind) {
  switch (kind) {
    case ReasonKind::RequiresTask:
      return "requires_task";
    case ReasonKind::RequiresItem:
      return "requires_item";
    case ReasonKind::RequiresCall:
      return "requires_call";
    case ReasonKind::Sibling:
      return "sibling";
    case ReasonKind::Separation:
      return "separation";
    case ReasonKind::GroupOrder:
      return "group_order";
    case ReasonKind::ClusterOrder:
      return "cluster_order";
    case ReasonKind::NodeOrder:
      return "node_order";
    case ReasonKind::Lock:
      return "lock";
    case ReasonKind::Unlock:
      return "unlock";
    case ReasonKind::Cleanup:
      return "cleanup";
    case ReasonKind::Nothing:
      return "nothing";
  }
  return "";
}

std::vector<Reason> explain(const Plan& plan, std::size_t task) {
  MUSTER_CHECK(task < plan.planned, "task {} of {} is in no phase", task, plan.tasks.size());
  return Explainer(plan).chain(static_cast<std::uint32_t>(task));
}

std::vector<std::size_t> required_in_phase(const Plan& plan, std::size_t task) {
  std::vector<std::size_t> found;
  const model::Path* node = node_of(plan.tasks[task]);
  if (node == nullptr || task >= plan.planned) return found;
  for (const Binding& binding : Explainer(plan).bindings(static_cast<std::uint32_t>(task))) {
    if (plan.placements[binding.task].phase != plan.placements[task].phase) continue;
    const model::Path* other = node_of(plan.tasks[binding.task]);
    if (other != nullptr && *other == *node) found.push_back(binding.task);
  }
  return found;
}

}  // namespace muster::plan
