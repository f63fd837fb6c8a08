#include "plan/scope_graph.h"

#include <algorithm>
#include <functional>

namespace muster::plan {

void ScopeGraph::clear() {
  vertices_.clear();
  edges_.clear();
}

std::uint32_t ScopeGraph::add(Vertex vertex) {
  vertices_.push_back(vertex);
  return static_cast<std::uint32_t>(vertices_.size() - 1);
}

std::span<const std::uint32_t> ScopeGraph::edges_to(std::uint32_t vertex) const {
  return std::span(to_.edges).subspan(to_.first[vertex], to_.first[vertex + 1] - to_.first[vertex]);
}

std::span<const std::uint32_t> ScopeGraph::edges_from(std::uint32_t vertex) const {
  return std::span(from_.edges)
      .subspan(from_.first[vertex], from_.first[vertex + 1] - from_.first[vertex]);
}

void ScopeGraph::fill(Adjacency& adjacency, std::uint32_t Edge::* end) const {
  adjacency.first.assign(vertices_.size() + 2, 0);
  adjacency.edges.resize(edges_.size());
  // Counted two places on, summed up, and moved on while filling: in the end first[v] is right.
  for (const Edge& edge : edges_) ++adjacency.first[edge.*end + 2];
  for (std::size_t i = 1; i < adjacency.first.size(); ++i) {
    adjacency.first[i] += adjacency.first[i - 1];
  }
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    adjacency.edges[adjacency.first[edges_[i].*end + 1]++] = i;
  }
}

void ScopeGraph::connect() {
  fill(to_, &Edge::to);
  fill(from_, &Edge::from);
}

// The larger of two bounds of different nodes counts as it is for its own node; for all others, and
// the smaller one for everybody, the order of a node's tasks inside a phase does not help.
void ScopeGraph::merge(Bound& into, const Bound& other) {
  into.other = std::max(into.other, other.other);
  into.any = std::max(into.any, other.any);
  if (other.own < 0) return;
  if (into.own < 0 || into.node == other.node) {
    into.own = std::max(into.own, other.own);
    into.node = other.node;
    return;
  }
  into.any = std::max(into.any, std::min(into.own, other.own) + 2);
  if (other.own > into.own) {
    into.own = other.own;
    into.node = other.node;
  }
}

std::int32_t ScopeGraph::rank_under(const Bound& bound, const Vertex& vertex) const {
  if (vertex.kind == Kind::Other) return bound.other;
  std::int32_t own = bound.own;
  if (own >= 0 && bound.node != vertex.node) own += 2;
  return std::max(bound.any, own);
}

ScopeGraph::Bound ScopeGraph::bound_of(const Vertex& vertex, std::int32_t rank,
                                       const Bound& before) {
  switch (vertex.kind) {
    case Kind::Config:
      return {.other = rank + 1, .own = rank, .node = vertex.node};
    case Kind::Other:
      return {.other = rank + 2, .any = rank + 1};
    case Kind::Through:
      break;
  }
  return before;
}

bool ScopeGraph::sort() {
  connect();
  bounds_.assign(vertices_.size(), Bound());
  ranks_.assign(vertices_.size(), -1);
  waits_for_.resize(vertices_.size());
  order_.clear();
  ready_.clear();
  through_.clear();
  std::size_t done = 0;
  const auto make_ready = [&](std::uint32_t vertex) {
    if (vertices_[vertex].kind == Kind::Through) {
      through_.push_back(vertex);
      return;
    }
    ranks_[vertex] = rank_under(bounds_[vertex], vertices_[vertex]);
    ready_.push_back(static_cast<std::uint64_t>(ranks_[vertex]) << 32U | vertex);
    std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
  };
  const auto finish = [&](std::uint32_t vertex) {
    ++done;
    const Bound bound = bound_of(vertices_[vertex], ranks_[vertex], bounds_[vertex]);
    for (const std::uint32_t edge : edges_from(vertex)) {
      const std::uint32_t to = edges_[edge].to;
      merge(bounds_[to], bound);
      if (--waits_for_[to] == 0) make_ready(to);
    }
  };
  for (std::uint32_t i = 0; i < vertices_.size(); ++i) {
    waits_for_[i] = static_cast<std::uint32_t>(edges_to(i).size());
  }
  for (std::uint32_t i = 0; i < vertices_.size(); ++i) {
    if (edges_to(i).empty()) make_ready(i);
  }
  // Nothing that becomes ready has a lower rank than what made it so: phase comes after phase.
  while (!through_.empty() || !ready_.empty()) {
    std::uint32_t vertex = 0;
    if (!through_.empty()) {
      vertex = through_.back();
      through_.pop_back();
    } else {
      std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
      vertex = static_cast<std::uint32_t>(ready_.back());
      ready_.pop_back();
      order_.push_back(vertex);
    }
    finish(vertex);
  }
  return done == vertices_.size();
}

}  // namespace muster::plan
