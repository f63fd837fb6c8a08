#include "plan/requirements.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/resolve.h"
#include "plan/task_id.h"
#include "plan/task_nodes.h"

namespace muster::plan {
namespace {

std::string call_text(const Call& call) { return fmt::format("{} '{}'", call.type, call.id); }
std::string call_key(const Call& call) { return call.type + '\n' + call.id; }

}  // namespace

Requirements::Requirements(Draft& draft, const Slots& slots) : draft_(draft), slots_(slots) {
  find_demands();
  if (!demands_.empty()) find_scopes();
  for (std::uint32_t i = 0; i < draft.remembered.size(); ++i) {
    const auto task = static_cast<std::uint32_t>(draft.tasks.size() + i);
    remembered_calls_.add(fact(task).node, std::get<ConfigWork>(draft.task(task).work).call, task);
  }
  find_names();
}

void Requirements::find_demands() {
  for (const std::uint32_t task : slots_.tasks) {
    for (const Requirement& requirement : draft_.task(task).requirements) {
      const auto* wanted = std::get_if<RequiredItem>(&requirement);
      if (wanted == nullptr) continue;
      const std::uint32_t item = draft_.index.find(wanted->path);
      if (item == kNone || demand_of_item_.contains(item)) continue;
      demand_of_item_[item] = static_cast<std::uint32_t>(demands_.size());
      demands_.emplace_back().item = item;
    }
  }
  is_demanded_.resize(draft_.index.item_count());
  for (const Demand& demand : demands_) is_demanded_[demand.item] = true;
}

void Requirements::find_scopes() {
  for (std::uint32_t slot = 0; slot < slots_.tasks.size(); ++slot) {
    const std::uint32_t task = slots_.tasks[slot];
    if (!fact(task).is_planned()) continue;
    const std::uint32_t scope = slots_.scope_of[slot];
    for (std::uint32_t item = fact(task).item; item != kNone;
         item = draft_.index.item(item).parent) {
      if (!is_demanded_[item]) continue;
      Demand& demand = demands_[demand_of_item_.at(item)];
      if (demand.scopes.empty() || demand.scopes.back().first != scope) {
        demand.scopes.emplace_back(scope, task);
      }
      const std::uint32_t node = draft_.index.item(item).node;
      if (demand.stranger == kNone && draft_.group_of(fact(task)).lockable && node != kNone &&
          fact(task).node != kNone && fact(task).node != node) {
        demand.stranger = task;
      }
    }
  }
}

// Names are only made for tasks of scopes in which somebody asks for one.
void Requirements::find_names() {
  std::vector<bool> is_asked(slots_.scopes.size());
  for (std::uint32_t i = 0; i < draft_.remembered.size(); ++i) {
    const std::uint32_t slot = slots_.of_task[draft_.tasks.size() + i];
    const RememberedTask& remembered = draft_.request.remembered[draft_.remembered[i]];
    if (slot == kNone) continue;
    for (const std::string& name : remembered.required) by_name_.emplace(name, kNone);
    if (!remembered.required.empty()) is_asked[slots_.scope_of[slot]] = true;
  }
  if (by_name_.empty()) return;
  for (std::uint32_t slot = 0; slot < slots_.tasks.size(); ++slot) {
    if (!is_asked[slots_.scope_of[slot]]) continue;
    const auto found = by_name_.find(task_id(draft_.task(slots_.tasks[slot])));
    if (found != by_name_.end()) found->second = slots_.tasks[slot];
  }
}

void Requirements::connect_names(const Requirer& requirer, ScopeGraph& graph) {
  const std::size_t number = draft_.remembered[requirer.task - draft_.tasks.size()];
  for (const std::string& name : draft_.request.remembered[number].required) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end() || found->second == kNone) continue;
    bind(requirer, found->second, OrderKind::RequiresTask, graph);
  }
}

void Requirements::refuse(const Requirer& requirer, PlanErrorKind kind,
                          const std::string& message) {
  if (!requirer.is_silent) draft_.errors.add(kind, draft_.task(requirer.task), message);
}

void Requirements::connect(const Scope& scope, ScopeGraph& graph) {
  has_by_call_ = has_by_type_ = false;
  by_call_.clear();
  types_.clear();
  by_type_.clear();
  for (std::uint32_t i = 0; i < scope.count; ++i) {
    const std::uint32_t task = slots_.tasks[scope.first + i];
    const Requirer requirer{scope, task, i, fact(task).is_remembered};
    for (const Requirement& requirement : draft_.task(task).requirements) {
      std::visit([&](const auto& wanted) { connect(requirer, wanted, graph); }, requirement);
    }
    if (fact(task).is_remembered) connect_names(requirer, graph);
  }
  if (!touched_.empty()) connect_members(scope, graph);
}

// An edge, unless the other is of another scope, or one of them makes what the other removes: then
// neither order would be right for every plugin.
void Requirements::bind(const Requirer& requirer, std::uint32_t other, OrderKind kind,
                        ScopeGraph& graph) {
  if (other == requirer.task) return;
  if (fact(requirer.task).is_removal != fact(other).is_removal) {
    if (fact(requirer.task).is_planned() && fact(other).is_planned()) {
      draft_.note(
          fmt::format("{} requires {}; it does not wait for it, since one of them removes "
                      "its item and the other does not",
                      describe(draft_.task(requirer.task)), describe(draft_.task(other))));
    }
    return;
  }
  const std::uint32_t slot = slots_.of_task[other];
  const Scope& scope = requirer.scope;
  if (slot == kNone || slot < scope.first || slot >= scope.first + scope.count) return;
  graph.add_edge({requirer.vertex, slot - scope.first, kind});
}

void Requirements::connect(const Requirer& requirer, const RequiredTask& wanted,
                           ScopeGraph& graph) {
  if (requirer.is_silent) return;  // it has no such requirements
  if (wanted.index >= draft_.given_count) {
    refuse(requirer, PlanErrorKind::UnknownTask,
           fmt::format("requires task number {}, but there are only {} tasks", wanted.index,
                       draft_.given_count));
    return;
  }
  const DraftTask& mine = fact(requirer.task);
  for (const std::uint32_t other : required_tasks(draft_, requirer.task, wanted)) {
    const DraftTask& theirs = fact(other);
    if (theirs.is_refused || theirs.left_out == LeftOut::NodeForRemoval) continue;
    const Task& task = draft_.task(other);
    if (theirs.group != mine.group) {
      refuse(
          requirer, PlanErrorKind::RequiresOutOfScope,
          fmt::format("is in {} and requires {}, which is in {}; a task can require tasks of its "
                      "own group",
                      group_name(requirer.task), describe(task), group_name(other)));
    } else if (theirs.cluster != mine.cluster) {
      refuse(requirer, PlanErrorKind::RequiresOutOfScope,
             fmt::format("requires {}, which is done in another cluster; in {} a task can require "
                         "tasks of its own cluster",
                         describe(task), group_name(other)));
    } else if (draft_.group_of(mine).lockable && !share_node(draft_, requirer.task, other)) {
      refuse(requirer, PlanErrorKind::RequiresOutOfScope,
             fmt::format("requires {}, which is done on another node; in {} a task can require "
                         "tasks of its own node",
                         describe(task), group_name(other)));
    } else {
      bind(requirer, other, OrderKind::RequiresTask, graph);
    }
  }
}

// Why what is in scope `other` need not be done before the requirer; empty: it is.
std::string Requirements::not_before(const Requirer& requirer, const Scope& other) const {
  const Scope& scope = requirer.scope;
  const std::string& name = draft_.request.ruleset.groups[other.group].name;
  if (scope.part != Scope::Part::Cluster || other.part != Scope::Part::Cluster) {
    return other.group_place <= scope.group_place
               ? ""
               : fmt::format("is in {}, which comes later", name);
  }
  if (scope.cluster != other.cluster) {
    if (draft_.clusters.depends(scope.cluster, other.cluster)) return {};
    return fmt::format("is in {} of cluster {}, which cluster {} does not depend on", name,
                       draft_.index.clusters()[other.cluster].place->path().text(),
                       draft_.index.clusters()[scope.cluster].place->path().text());
  }
  if (other.group_place > scope.group_place)
    return fmt::format("is in {}, which comes later", name);
  return {};
}

bool Requirements::check_item(const Requirer& requirer, Demand& demand) {
  const DraftTask& mine = fact(requirer.task);
  bool good = true;
  const auto wrong = [&](const std::string& what) {
    refuse(requirer, PlanErrorKind::RequiresOutOfScope,
           fmt::format("requires item {}, {}", draft_.index.item(demand.item).place->path().text(),
                       what));
    good = false;
  };
  if (draft_.group_of(mine).lockable) {
    const std::uint32_t node = draft_.index.item(demand.item).node;
    const std::string& group = draft_.group_of(mine).name;
    if (node == kNone || draft_.index.nodes()[node].is_ms) {
      wrong(fmt::format("which is not in a node; in {} a task can require items of its own node",
                        group));
      return false;
    }
    if (mine.node != kNone && mine.node != node) {
      wrong(
          fmt::format("which is in another node than {}; in {} a task can require items of its "
                      "own node",
                      draft_.index.nodes()[mine.node].place->path().text(), group));
      return false;
    }
    if (demand.stranger != kNone) {
      wrong(fmt::format("for which {} is done on another node",
                        describe(draft_.task(demand.stranger))));
      return false;
    }
  }
  if (demand.checked == &requirer.scope) return good;
  for (const auto& [scope, task] : demand.scopes) {
    const std::string why = not_before(requirer, slots_.scopes[scope]);
    if (!why.empty()) wrong(fmt::format("for which {} {}", describe(draft_.task(task)), why));
  }
  if (good) demand.checked = &requirer.scope;
  return good;
}

void Requirements::connect(const Requirer& requirer, const RequiredItem& wanted,
                           ScopeGraph& graph) {
  const std::uint32_t item = draft_.index.find(wanted.path);
  if (item == kNone) {
    refuse(requirer, PlanErrorKind::UnknownItem,
           fmt::format("requires item {}, which is not there", wanted.path.text()));
    return;
  }
  const std::uint32_t number = demand_of_item_.at(item);
  Demand& demand = demands_[number];
  if (!requirer.is_silent && !check_item(requirer, demand)) return;
  const DraftTask& mine = fact(requirer.task);
  if (mine.is_planned() && draft_.index.item(item).place->item().is_for_removal() &&
      !mine.is_removal) {
    draft_.note(
        fmt::format("{} requires item {}, which is to be removed; it does not wait for that",
                    describe(draft_.task(requirer.task)), wanted.path.text()));
  }
  const std::size_t side = mine.is_removal ? 1 : 0;
  const bool is_new = demand.vertex[0] == kNone && demand.vertex[1] == kNone &&
                      demand.inside[0].empty() && demand.inside[1].empty();
  if (is_new) touched_.push_back(number);
  if (draft_.index.is_at_or_below(mine.item, item)) {
    demand.inside[side].push_back(requirer.vertex);
    return;
  }
  if (demand.vertex[side] == kNone) demand.vertex[side] = graph.add({});
  graph.add_edge({requirer.vertex, demand.vertex[side], OrderKind::RequiresItem});
}

void Requirements::connect_members(const Scope& scope, ScopeGraph& graph) {
  for (std::uint32_t i = 0; i < scope.count; ++i) {
    const DraftTask& member = fact(slots_.tasks[scope.first + i]);
    const std::size_t side = member.is_removal ? 1 : 0;
    for (std::uint32_t item = member.item; item != kNone; item = draft_.index.item(item).parent) {
      if (!is_demanded_[item]) continue;
      const Demand& demand = demands_[demand_of_item_.at(item)];
      if (demand.vertex[side] != kNone) {
        graph.add_edge({demand.vertex[side], i, OrderKind::Member});
      }
      // One task may require everything else of the item that it is for. Two such require each
      // other: that much is enough to be told of.
      for (std::size_t k = 0; k < demand.inside[side].size() && k < 2; ++k) {
        const std::uint32_t requirer = demand.inside[side][k];
        if (requirer != i) graph.add_edge({requirer, i, OrderKind::RequiresItem});
      }
    }
  }
  for (const std::uint32_t number : touched_) {
    Demand& demand = demands_[number];
    for (const std::size_t side : {0, 1}) {
      demand.vertex[side] = kNone;
      demand.inside[side].clear();
    }
  }
  touched_.clear();
}

std::vector<std::uint32_t> Requirements::tasks_with(const Requirer& requirer, const Call& call) {
  std::vector<std::uint32_t> found;
  const auto look_on = [&](std::uint32_t node) {
    std::uint32_t task = find_call(draft_, node, call);
    if (task == kNone) {
      task = remembered_calls_.find(
          node, call, [&](std::uint32_t i) { return fact(i).node; },
          [&](std::uint32_t i) -> const Call& {
            return std::get<ConfigWork>(draft_.task(i).work).call;
          });
    }
    if (task != kNone) found.push_back(task);
  };
  if (fact(requirer.task).node != kNone) {
    look_on(fact(requirer.task).node);
    return found;
  }
  if (const auto* remote = std::get_if<RemoteWork>(&draft_.task(requirer.task).work)) {
    for (const model::Path& path : remote->nodes) {
      look_on(draft_.index.as_node(draft_.index.find(path)));
    }
    return found;
  }
  if (!has_by_call_) {
    has_by_call_ = true;
    for (std::uint32_t i = 0; i < requirer.scope.count; ++i) {
      const std::uint32_t task = slots_.tasks[requirer.scope.first + i];
      const auto* config = std::get_if<ConfigWork>(&draft_.task(task).work);
      if (config != nullptr) by_call_[call_key(config->call)].push_back(task);
    }
  }
  const auto tasks = by_call_.find(call_key(call));
  return tasks == by_call_.end() ? found : tasks->second;
}

void Requirements::connect_type(const Requirer& requirer, const std::string& type,
                                ScopeGraph& graph) {
  const auto key = [&](const DraftTask& task, std::uint32_t number) {
    return static_cast<std::uint64_t>(task.node) << 32U | static_cast<std::uint64_t>(number) << 1U |
           (task.is_removal ? 1U : 0U);
  };
  if (!has_by_type_) {
    has_by_type_ = true;
    for (std::uint32_t i = 0; i < requirer.scope.count; ++i) {
      const std::uint32_t task = slots_.tasks[requirer.scope.first + i];
      const auto* const config = std::get_if<ConfigWork>(&draft_.task(task).work);
      if (config == nullptr) continue;
      const auto number =
          types_.emplace(config->call.type, static_cast<std::uint32_t>(types_.size()))
              .first->second;
      by_type_[key(fact(task), number)].vertices.push_back(i);
    }
  }
  const DraftTask& mine = fact(requirer.task);
  const auto* const config = std::get_if<ConfigWork>(&draft_.task(requirer.task).work);
  const auto number = types_.find(type);
  if (mine.node == kNone || number == types_.end()) return;
  if (config != nullptr && config->call.type == type) return;
  const auto found = by_type_.find(key(mine, number->second));
  if (found == by_type_.end()) return;
  TypeOnNode& all = found->second;
  if (all.gate == kNone) {
    all.gate = graph.add({});
    for (const std::uint32_t vertex : all.vertices) {
      graph.add_edge({all.gate, vertex, OrderKind::Member});
    }
  }
  graph.add_edge({requirer.vertex, all.gate, OrderKind::RequiresCall});
}

void Requirements::connect(const Requirer& requirer, const RequiredCall& wanted,
                           ScopeGraph& graph) {
  if (wanted.is_of_type()) {
    connect_type(requirer, wanted.call.type, graph);
    return;
  }
  for (const std::uint32_t other : tasks_with(requirer, wanted.call)) {
    const DraftTask& theirs = fact(other);
    if (theirs.is_refused || theirs.left_out == LeftOut::NodeForRemoval) continue;
    if (theirs.group != fact(requirer.task).group && !theirs.is_remembered) {
      refuse(
          requirer, PlanErrorKind::RequiresOutOfScope,
          fmt::format("is in {} and requires {}, for which {} is in {}; a task can require tasks "
                      "of its own group",
                      group_name(requirer.task), call_text(wanted.call),
                      describe(draft_.task(other)), group_name(other)));
      continue;
    }
    bind(requirer, other, OrderKind::RequiresCall, graph);
  }
}

}  // namespace muster::plan
