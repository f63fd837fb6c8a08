#include "core/action/action_table.h"

#include <algorithm>

namespace muster::core {
namespace {

template <typename Map, typename Key>
void drop(Map& map, const Key& key, std::uint64_t seq) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  found->second.erase(seq);
  if (found->second.empty()) map.erase(found);
}

}  // namespace

ActionPtr ActionTable::find(const ActionId& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void ActionTable::put(const ActionPtr& action) {
  const auto found = by_id_.find(action->id());
  if (found != by_id_.end()) {
    const Action& old = *found->second;
    --counts_[static_cast<std::size_t>(old.status)];
    if (action->is_final()) {
      unindex(old);
      by_id_.erase(found);
      return;
    }
    if (old.spec != action->spec) {
      unindex(old);
      index(*action);
    }
    found->second = action;
    ++counts_[static_cast<std::size_t>(action->status)];
    return;
  }
  if (action->is_final()) return;
  by_id_.emplace(action->id(), action);
  index(*action);
  ++counts_[static_cast<std::size_t>(action->status)];
}

void ActionTable::index(const Action& action) {
  const ActionSpec& spec = *action.spec;
  by_name_[spec.name].emplace(spec.seq, spec.id);
  if (spec.side == Side::Agent) by_agent_[spec.target].emplace(spec.seq, spec.id);
  if (spec.parent) by_parent_[*spec.parent].emplace(spec.seq, spec.id);
}

void ActionTable::unindex(const Action& action) {
  const ActionSpec& spec = *action.spec;
  drop(by_name_, spec.name, spec.seq);
  if (spec.side == Side::Agent) drop(by_agent_, spec.target, spec.seq);
  if (spec.parent) drop(by_parent_, *spec.parent, spec.seq);
}

std::vector<ActionPtr> ActionTable::find_by_name(const std::string& name, std::size_t limit) const {
  std::vector<ActionPtr> result;
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return result;
  for (const auto& [seq, id] : found->second) {
    if (result.size() == limit) break;
    result.push_back(find(id));
  }
  return result;
}

const std::map<std::uint64_t, ActionId>& ActionTable::of_agent(const std::string& agent) const {
  static const Ordered kNone;
  const auto found = by_agent_.find(agent);
  return found == by_agent_.end() ? kNone : found->second;
}

std::vector<ActionPtr> ActionTable::children(const ActionId& parent) const {
  std::vector<ActionPtr> result;
  const auto found = by_parent_.find(parent);
  if (found == by_parent_.end()) return result;
  for (const auto& [seq, id] : found->second) result.push_back(find(id));
  return result;
}

std::vector<ActionPtr> ActionTable::all() const {
  std::vector<ActionPtr> result;
  result.reserve(by_id_.size());
  for (const auto& [id, action] : by_id_) result.push_back(action);
  std::sort(result.begin(), result.end(),
            [](const ActionPtr& a, const ActionPtr& b) { return a->spec->seq < b->spec->seq; });
  return result;
}

}  // namespace muster::core
