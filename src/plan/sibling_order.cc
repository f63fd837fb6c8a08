#include "plan/sibling_order.h"

#include <algorithm>

namespace muster::plan {

SiblingOrder::SiblingOrder(const Draft& draft)
    : draft_(draft), has_gate_(draft.index.item_count()) {}

const std::vector<std::uint16_t>& SiblingOrder::earlier(std::uint32_t owner, std::uint16_t element,
                                                        bool is_reversed) const {
  const TypeFacts::ElementOrder& order = draft_.index.item(owner).type->elements[element];
  return is_reversed ? order.behind : order.before;
}

namespace {

std::size_t hash_of(std::uint32_t owner, std::uint16_t element, std::uint32_t node,
                    bool is_reversed) {
  return mix(mix(owner, node), static_cast<std::size_t>(element) * 2 + (is_reversed ? 1 : 0));
}

}  // namespace

std::uint32_t SiblingOrder::find(std::uint32_t owner, std::uint16_t element, std::uint32_t node,
                                 bool is_reversed) const {
  return table_.find(hash_of(owner, element, node, is_reversed), [&](std::uint32_t i) {
    const Gate& gate = gates_[i];
    return gate.owner == owner && gate.element == element && gate.node == node &&
           gate.is_reversed == is_reversed;
  });
}

std::uint32_t SiblingOrder::demand(std::uint32_t owner, std::uint16_t element, std::uint32_t node,
                                   bool is_reversed, ScopeGraph& graph) {
  const std::uint32_t known = find(owner, element, node, is_reversed);
  if (known != kNone) return gates_[known].vertex;
  const std::uint32_t vertex = graph.add({});
  table_.add(hash_of(owner, element, node, is_reversed), static_cast<std::uint32_t>(gates_.size()));
  gates_.push_back({owner, element, is_reversed, node, vertex});
  has_gate_[owner] = true;
  if (node != kNone) {
    for (const std::uint16_t other : earlier(owner, element, is_reversed)) {
      graph.add_edge({vertex, demand(owner, other, node, is_reversed, graph), OrderKind::Sibling});
    }
    if (node != kAnyNode && has_unbound_) {
      graph.add_edge(
          {vertex, demand(owner, element, kNone, is_reversed, graph), OrderKind::Sibling});
    }
  }
  return vertex;
}

void SiblingOrder::wait(const DraftTask& fact, std::uint32_t vertex, ScopeGraph& graph) {
  const std::uint32_t node = fact.node == kNone ? kAnyNode : fact.node;
  for (std::uint32_t item = fact.anchor; item != kNone;) {
    const ItemFacts& facts = draft_.index.item(item);
    if (facts.element != ItemFacts::kNoElement) {
      for (const std::uint16_t other : earlier(facts.parent, facts.element, fact.is_reversed)) {
        graph.add_edge({vertex, demand(facts.parent, other, node, fact.is_reversed, graph),
                        OrderKind::Sibling});
      }
    }
    item = facts.parent;
  }
}

void SiblingOrder::take_part(const DraftTask& fact, std::uint32_t vertex, ScopeGraph& graph) {
  for (std::uint32_t item = fact.anchor; item != kNone;) {
    const ItemFacts& facts = draft_.index.item(item);
    if (facts.element != ItemFacts::kNoElement && has_gate_[facts.parent]) {
      for (const std::uint32_t node : {fact.node, kAnyNode}) {
        const std::uint32_t gate = find(facts.parent, facts.element, node, fact.is_reversed);
        if (gate != kNone) graph.add_edge({gates_[gate].vertex, vertex, OrderKind::Member});
      }
    }
    item = facts.parent;
  }
}

void SiblingOrder::connect(const Slots& slots, const Scope& scope, ScopeGraph& graph) {
  const auto fact = [&](std::uint32_t i) -> const DraftTask& {
    return draft_.facts[slots.tasks[scope.first + i]];
  };
  has_unbound_ = false;
  for (std::uint32_t i = 0; i < scope.count; ++i) {
    has_unbound_ = has_unbound_ || fact(i).node == kNone;
  }
  for (std::uint32_t i = 0; i < scope.count; ++i) wait(fact(i), i, graph);
  if (!gates_.empty()) {
    for (std::uint32_t i = 0; i < scope.count; ++i) take_part(fact(i), i, graph);
  }
  for (const Gate& gate : gates_) has_gate_[gate.owner] = false;
  gates_.clear();
  table_.clear();
}

}  // namespace muster::plan
