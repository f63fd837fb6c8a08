#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/action/action.h"

namespace muster::core {

// The live actions and what they are found by. A final action leaves the table the moment it is
// put: finished history is the store's.
class ActionTable {
 public:
  // Null: not live.
  ActionPtr find(const ActionId& id) const;

  // Inserts, replaces, or removes (a final action).
  void put(const ActionPtr& action);

  std::size_t size() const { return by_id_.size(); }
  std::size_t count(Status status) const { return counts_[static_cast<std::size_t>(status)]; }

  // Live actions with this name, at most `limit`, oldest first.
  std::vector<ActionPtr> find_by_name(const std::string& name, std::size_t limit) const;

  // Agent actions of a target in creation order.
  const std::map<std::uint64_t, ActionId>& of_agent(const std::string& agent) const;

  // Actions derived from this one that are live, oldest first.
  std::vector<ActionPtr> children(const ActionId& parent) const;

  // Every live action in creation order. For start and tests: O(n log n).
  std::vector<ActionPtr> all() const;

 private:
  using Ordered = std::map<std::uint64_t, ActionId>;

  void index(const Action& action);
  void unindex(const Action& action);

  std::unordered_map<ActionId, ActionPtr> by_id_;  // never iterated into an effect unsorted
  std::unordered_map<std::string, Ordered> by_name_;
  std::unordered_map<std::string, Ordered> by_agent_;
  std::unordered_map<ActionId, Ordered> by_parent_;
  std::array<std::size_t, 13> counts_{};
};

}  // namespace muster::core
