#include "plan/remembered.h"

#include <algorithm>

#include "plan/grouping.h"
#include "plan/resolve.h"
#include "plan/task_id.h"
#include "plan/task_nodes.h"

namespace muster::plan {
namespace {

// Requirements other than of tasks, as texts.
std::vector<std::string> requirement_texts(const Task& task) {
  std::vector<std::string> texts;
  for (const Requirement& requirement : task.requirements) {
    if (const auto* item = std::get_if<RequiredItem>(&requirement)) {
      texts.push_back(item->path.text());
    } else if (const auto* call = std::get_if<RequiredCall>(&requirement)) {
      texts.push_back(call->call.type + '\n' + call->call.id);
    }
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

void sort_names(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

class Memory {
 public:
  explicit Memory(Draft& draft) : draft_(draft), grouping_(draft) {}

  void take() {
    find_replaced();
    const auto& all = draft_.request.remembered;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].state == TaskState::Success) take(i);
    }
  }

 private:
  void find_replaced() {
    for (std::uint32_t i = 0; i < draft_.tasks.size(); ++i) {
      const auto* config = std::get_if<ConfigWork>(&draft_.tasks[i].work);
      const DraftTask& fact = draft_.facts[i];
      if (config == nullptr || !fact.is_planned() || fact.node == kNone) continue;
      for (const Call& call : config->replaces) {
        replaced_.add(fact.node, call, static_cast<std::uint32_t>(entries_.size()));
        entries_.emplace_back(fact.node, &call);
      }
    }
  }

  bool is_replaced(std::uint32_t node, const Call& call) const {
    const auto node_of = [&](std::uint32_t entry) { return entries_[entry].first; };
    const auto call_of = [&](std::uint32_t entry) -> const Call& {
      return *entries_[entry].second;
    };
    return replaced_.find(node, call, node_of, call_of) != kNone;
  }

  void take(std::uint32_t i) {
    const RememberedTask& old = draft_.request.remembered[i];
    const auto& work = std::get<ConfigWork>(old.task.work);
    const std::uint32_t item = draft_.index.find(work.node);
    const std::uint32_t node = item == kNone ? kNone : draft_.index.as_node(item);
    if (node == kNone || draft_.index.nodes()[node].place->item().is_for_removal()) return;
    const std::uint32_t asked = find_call(draft_, node, work.call);
    if (asked == kNone) {
      if (!is_replaced(node, work.call)) keep_in_order(i, node);
      return;
    }
    DraftTask& fact = draft_.facts[asked];
    if (!fact.is_planned() || !is_same(asked, old) || is_in_doubt(asked)) return;
    fact.left_out = LeftOut::SucceededBefore;
    fact.is_removal = fact.is_reversed = false;
  }

  void keep_in_order(std::uint32_t i, std::uint32_t node) {
    const RememberedTask& old = draft_.request.remembered[i];
    DraftTask fact;
    fact.is_remembered = true;
    fact.item = draft_.index.find(old.task.item);
    fact.node = node;
    if (fact.item == kNone || !grouping_.assign_remembered(draft_, old.task, fact)) return;
    set_anchor(draft_, old.task, fact);
    draft_.remembered.push_back(i);
    draft_.facts.push_back(fact);
  }

  bool is_same(std::uint32_t i, const RememberedTask& old) const {
    const Task& task = draft_.tasks[i];
    const auto& work = std::get<ConfigWork>(task.work);
    const auto& before = std::get<ConfigWork>(old.task.work);
    if (task.has_future || old.task.has_future || !work.persist || !before.persist) return false;
    if (task.item != old.task.item || work.attributes != before.attributes) return false;
    if (draft_.group_of(draft_.facts[i]).name != old.group) return false;
    std::vector<std::string> required;
    for (const Requirement& requirement : task.requirements) {
      const auto* wanted = std::get_if<RequiredTask>(&requirement);
      if (wanted == nullptr || wanted->index >= draft_.given_count) continue;
      for (const std::uint32_t other : required_tasks(draft_, i, *wanted)) {
        const auto* config = std::get_if<ConfigWork>(&draft_.tasks[other].work);
        // What nodes are not held to is done anew, and whatever requires it after it.
        if (config != nullptr && !config->persist) return false;
        required.push_back(task_id(draft_.tasks[other]));
      }
    }
    sort_names(required);
    return required == old.required && requirement_texts(task) == requirement_texts(old.task);
  }

  // Whether what is on the node can be told from what was applied.
  bool is_in_doubt(std::uint32_t i) const {
    if (!draft_.index.item(draft_.facts[i].item).place->item().determinable) return true;
    const auto& items = draft_.tasks[i].model_items;
    return std::any_of(items.begin(), items.end(), [&](const model::Path& path) {
      const model::Node* place = draft_.request.model.find(path);
      return place != nullptr && !place->item().determinable;
    });
  }

  Draft& draft_;
  const Grouping grouping_;
  CallTable replaced_;
  std::vector<std::pair<std::uint32_t, const Call*>> entries_;  // node and call
};

}  // namespace

void take_remembered(Draft& draft) { Memory(draft).take(); }

RememberedTask remember(const Plan& plan, std::size_t task, TaskState state) {
  RememberedTask made;
  made.task = plan.tasks[task];
  made.state = state;
  if (plan.placements[task].phase != kNone) {
    made.group = plan.group_of(plan.phases[plan.placements[task].phase]);
  }
  std::vector<Requirement> kept;
  for (Requirement& requirement : made.task.requirements) {
    if (const auto* wanted = std::get_if<RequiredTask>(&requirement)) {
      made.required.push_back(task_id(plan.tasks[wanted->index]));
    } else {
      kept.push_back(std::move(requirement));
    }
  }
  made.task.requirements = std::move(kept);
  sort_names(made.required);
  return made;
}

}  // namespace muster::plan
