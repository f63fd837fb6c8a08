#include "plan/template_order.h"

#include <set>

namespace muster::plan {
namespace {

std::string key_of(const model::Path& node, const Call& call) {
  return node.text() + '\n' + call.type + '\n' + call.id;
}

const ConfigWork& config_of(const Task& task) { return std::get<ConfigWork>(task.work); }

}  // namespace

void TemplateOrder::drop_taken_over(const std::vector<Task>& tasks) {
  std::unordered_map<std::string, std::size_t> removals;
  std::vector<bool> is_removal(tasks.size());
  for (std::size_t i = 0; i < leaving_.size(); ++i) {
    if (!leaving_[i].is_for_removal) continue;
    const ConfigWork& work = config_of(tasks[leaving_[i].task]);
    removals.emplace(key_of(work.node, work.call), i);
    is_removal[leaving_[i].task] = true;
  }
  if (removals.empty()) return;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto* const work = std::get_if<ConfigWork>(&tasks[i].work);
    if (work == nullptr || is_removal[i]) continue;
    const auto found = removals.find(key_of(work->node, work->call));
    if (found != removals.end()) leaving_[found->second].is_dropped = true;
  }
}

void TemplateOrder::turn_calls(std::vector<Task>& tasks) {
  for (std::size_t i = 0; i < leaving_.size(); ++i) {
    if (leaving_[i].is_dropped) continue;
    const ConfigWork& work = config_of(tasks[leaving_[i].task]);
    by_call_.emplace(key_of(work.node, work.call), i);
  }
  for (const Leaving& each : leaving_) {
    if (each.is_dropped) continue;
    const ConfigWork& work = config_of(tasks[each.task]);
    for (const Call& call : each.wanted.calls) {
      const auto found = by_call_.find(key_of(work.node, call));
      if (found == by_call_.end()) continue;
      const Leaving& other = leaving_[found->second];
      if (other.task == each.task || other.is_for_removal != each.is_for_removal) continue;
      tasks[other.task].requirements.push_back(RequiredCall{work.call});
    }
  }
}

// Only where items go: among tasks of items that stay, those of the type that make something would
// be waited for as well.
void TemplateOrder::turn_types(std::vector<Task>& tasks) {
  // For a node and a type, the types that come after every resource of it.
  std::unordered_map<std::string, std::set<std::string>> behind;
  for (const Leaving& each : leaving_) {
    if (each.is_dropped) continue;
    Task& task = tasks[each.task];
    const ConfigWork& work = config_of(task);
    for (const std::string& type : each.wanted.types) {
      if (each.is_for_removal) {
        behind[key_of(work.node, {type, ""})].insert(work.call.type);
      } else {
        task.requirements.push_back(RequiredCall{{type, ""}});
      }
    }
  }
  for (const Leaving& each : leaving_) {
    if (each.is_dropped || !each.is_for_removal) continue;
    Task& task = tasks[each.task];
    const ConfigWork& work = config_of(task);
    const auto found = behind.find(key_of(work.node, {work.call.type, ""}));
    if (found == behind.end()) continue;
    for (const std::string& type : found->second) {
      if (type != work.call.type) task.requirements.push_back(RequiredCall{{type, ""}});
    }
  }
}

void TemplateOrder::remove_dropped(std::vector<Task>& tasks) const {
  auto next = leaving_.begin();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    while (next != leaving_.end() && next->task < i) ++next;
    if (next != leaving_.end() && next->task == i && next->is_dropped) continue;
    if (kept != i) tasks[kept] = std::move(tasks[i]);
    ++kept;
  }
  tasks.resize(kept);
}

void TemplateOrder::settle(std::vector<Task>& tasks) && {
  if (leaving_.empty()) return;
  drop_taken_over(tasks);
  turn_calls(tasks);
  turn_types(tasks);
  remove_dropped(tasks);
}

}  // namespace muster::plan
