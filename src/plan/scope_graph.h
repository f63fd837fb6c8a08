#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/index_table.h"
#include "plan/plan.h"

namespace muster::plan {

// The tasks of one scope, what they wait for, and the ranks of phases that follow from it. Used for
// one scope after the other, so that its memory is asked for once.
//
// Phases take turns: callbacks and remotes have even ranks, config tasks odd ones, so they never
// share one, and where nothing else decides callbacks come first. A task has the least rank that
// what it waits for allows: a config task may share the phase of a config task of its own node,
// which keeps the order of the two; in all other cases it comes later.
class ScopeGraph {
 public:
  enum class Kind : std::uint8_t {
    Config,
    Other,    // callbacks and remotes
    Through,  // in no phase: done before, or standing for several
  };
  struct Vertex {
    Kind kind = Kind::Through;
    std::uint32_t node = kNone;  // of a config task
  };
  struct Edge {
    std::uint32_t to;    // waits
    std::uint32_t from;  // for this
    OrderKind kind;
  };

  void clear();
  // Vertices of tasks are added first, in the order in which tasks that nothing else puts in order
  // are to stand in a phase.
  std::uint32_t add(Vertex vertex);
  void add_edge(Edge edge) { edges_.push_back(edge); }
  void set_edges(std::vector<Edge> edges) { edges_ = std::move(edges); }

  // False: some vertices wait for each other; see is_stuck(). To be called again after a change.
  bool sort();

  std::size_t size() const { return vertices_.size(); }
  const Vertex& vertex(std::uint32_t i) const { return vertices_[i]; }
  const std::vector<Edge>& edges() const { return edges_; }
  // Tasks that are in phases, phase by phase, each after what it waits for.
  const std::vector<std::uint32_t>& order() const { return order_; }
  std::int32_t rank(std::uint32_t vertex) const { return ranks_[vertex]; }
  bool is_stuck(std::uint32_t vertex) const { return waits_for_[vertex] > 0; }

  // Indexes of edges. REQUIRES: sort() was called since the last change.
  std::span<const std::uint32_t> edges_to(std::uint32_t vertex) const;
  std::span<const std::uint32_t> edges_from(std::uint32_t vertex) const;

 private:
  // What a vertex demands of those that wait for it: ranks from which on they may stand.
  struct Bound {
    std::int32_t other = 0;  // callbacks and remotes; even
    std::int32_t any = 1;    // every config task; odd
    std::int32_t own = -1;   // config tasks of `node`, odd; for those of others it is two more
    std::uint32_t node = kNone;
  };

  struct Adjacency {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> edges;
  };

  static void merge(Bound& into, const Bound& other);
  std::int32_t rank_under(const Bound& bound, const Vertex& vertex) const;
  static Bound bound_of(const Vertex& vertex, std::int32_t rank, const Bound& before);
  void connect();
  void fill(Adjacency& adjacency, std::uint32_t Edge::* end) const;

  std::vector<Vertex> vertices_;
  std::vector<Edge> edges_;
  Adjacency to_;
  Adjacency from_;
  std::vector<Bound> bounds_;
  std::vector<std::int32_t> ranks_;
  std::vector<std::uint32_t> waits_for_;  // edges that are left
  std::vector<std::uint32_t> order_;
  std::vector<std::uint64_t> ready_;    // a heap of ranks and vertices
  std::vector<std::uint32_t> through_;  // a stack
};

}  // namespace muster::plan
