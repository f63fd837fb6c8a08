#pragma once

#include <cstdint>
#include <vector>

#include "plan/draft.h"
#include "plan/scope_graph.h"
#include "plan/scopes.h"

namespace muster::plan {

// Puts the `require` between the elements of an item into the graph of a scope. A task waits for
// all tasks of the same scope whose items are in an element that its own element, or one above it,
// requires; where items are removed it is the other way round. It holds between tasks of one node,
// and between those and tasks of no node.
//
// There is a vertex for each element that anything waits for, the gate: it stands for all tasks in
// that element and in those that it requires in turn. So edges are as many as tasks and gates.
class SiblingOrder {
 public:
  explicit SiblingOrder(const Draft& draft);

  // REQUIRES: the first vertices of `graph` are the tasks of the scope.
  void connect(const Slots& slots, const Scope& scope, ScopeGraph& graph);

 private:
  struct Gate {
    std::uint32_t owner;
    std::uint16_t element;
    bool is_reversed;
    std::uint32_t node;  // of the tasks that it stands for; or kAnyNode, or kNone
    std::uint32_t vertex;
  };
  static constexpr std::uint32_t kAnyNode = kNone - 1;

  std::uint32_t find(std::uint32_t owner, std::uint16_t element, std::uint32_t node,
                     bool is_reversed) const;
  std::uint32_t demand(std::uint32_t owner, std::uint16_t element, std::uint32_t node,
                       bool is_reversed, ScopeGraph& graph);
  void wait(const DraftTask& fact, std::uint32_t vertex, ScopeGraph& graph);
  void take_part(const DraftTask& fact, std::uint32_t vertex, ScopeGraph& graph);
  const std::vector<std::uint16_t>& earlier(std::uint32_t owner, std::uint16_t element,
                                            bool is_reversed) const;

  const Draft& draft_;
  std::vector<Gate> gates_;  // of the scope
  IndexTable table_;
  std::vector<bool> has_gate_;  // items with an element that has one
  bool has_unbound_ = false;    // some task of the scope has no node
};

}  // namespace muster::plan
