#include "plan/cycles.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace muster::plan {
namespace {

constexpr std::size_t kStartsMax = 32;  // tasks of a knot from which a cycle is looked for

// The strongly connected parts, of more than one vertex, of what is stuck (Tarjan's algorithm with
// a stack of its own).
class Knots {
 public:
  explicit Knots(const ScopeGraph& graph)
      : graph_(graph), number_(graph.size(), 0), low_(graph.size(), 0), knot_(graph.size(), kNone) {
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      if (graph.is_stuck(i) && number_[i] == 0) visit(i);
    }
    for (std::vector<std::uint32_t>& members : members_) std::sort(members.begin(), members.end());
    std::sort(members_.begin(), members_.end());
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      for (const std::uint32_t vertex : members_[i]) knot_[vertex] = i;
    }
  }

  const std::vector<std::vector<std::uint32_t>>& all() const { return members_; }
  std::uint32_t of(std::uint32_t vertex) const { return knot_[vertex]; }

 private:
  struct Frame {
    std::uint32_t vertex;
    std::size_t next;  // edge
  };

  void visit(std::uint32_t start) {
    std::vector<Frame> frames = {{start, 0}};
    open(start);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const auto edges = graph_.edges_to(frame.vertex);
      if (frame.next < edges.size()) {
        const std::uint32_t from = graph_.edges()[edges[frame.next++]].from;
        if (!graph_.is_stuck(from)) continue;
        if (number_[from] == 0) {
          open(from);
          frames.push_back({from, 0});
        } else if (on_stack_.contains(from)) {
          low_[frame.vertex] = std::min(low_[frame.vertex], number_[from]);
        }
        continue;
      }
      const std::uint32_t vertex = frame.vertex;
      frames.pop_back();
      if (!frames.empty()) {
        low_[frames.back().vertex] = std::min(low_[frames.back().vertex], low_[vertex]);
      }
      if (low_[vertex] == number_[vertex]) close(vertex);
    }
  }

  void open(std::uint32_t vertex) {
    number_[vertex] = low_[vertex] = ++count_;
    stack_.push_back(vertex);
    on_stack_.insert(vertex);
  }

  void close(std::uint32_t root) {
    std::vector<std::uint32_t> members;
    std::uint32_t vertex = kNone;
    do {
      vertex = stack_.back();
      stack_.pop_back();
      on_stack_.erase(vertex);
      members.push_back(vertex);
    } while (vertex != root);
    if (members.size() > 1) members_.push_back(std::move(members));
  }

  const ScopeGraph& graph_;
  std::vector<std::uint32_t> number_;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> knot_;
  std::vector<std::uint32_t> stack_;
  std::set<std::uint32_t> on_stack_;
  std::vector<std::vector<std::uint32_t>> members_;
  std::uint32_t count_ = 0;
};

bool is_said(OrderKind kind) {
  return kind == OrderKind::RequiresTask || kind == OrderKind::RequiresItem ||
         kind == OrderKind::RequiresCall;
}

// Everything of the knot that requires `start`, directly or not, by what tasks say. Members lead to
// what stands for several; only requirements lead on from there.
std::set<std::uint32_t> requirers(const ScopeGraph& graph, const Knots& knots,
                                  std::uint32_t start) {
  std::set<std::uint32_t> found;
  std::vector<std::uint32_t> open = {start};
  while (!open.empty()) {
    const std::uint32_t vertex = open.back();
    open.pop_back();
    for (const std::uint32_t index : graph.edges_from(vertex)) {
      const ScopeGraph::Edge& edge = graph.edges()[index];
      if (!is_said(edge.kind) && edge.kind != OrderKind::Member) continue;
      if (knots.of(edge.to) != knots.of(start) || !found.insert(edge.to).second) continue;
      open.push_back(edge.to);
    }
  }
  return found;
}

// The tasks that `start` waits for by the order of siblings alone.
std::set<std::uint32_t> elder_siblings(const ScopeGraph& graph, std::uint32_t tasks,
                                       std::uint32_t start) {
  std::set<std::uint32_t> found;
  std::set<std::uint32_t> seen = {start};
  std::vector<std::uint32_t> open = {start};
  while (!open.empty()) {
    const std::uint32_t vertex = open.back();
    open.pop_back();
    for (const std::uint32_t index : graph.edges_to(vertex)) {
      const ScopeGraph::Edge& edge = graph.edges()[index];
      const bool leads_on =
          edge.kind == OrderKind::Sibling || (edge.kind == OrderKind::Member && vertex != start);
      if (!leads_on || !seen.insert(edge.from).second) continue;
      if (edge.from < tasks) {
        found.insert(edge.from);
      } else {
        open.push_back(edge.from);
      }
    }
  }
  return found;
}

// How a search came to a task: from which other one, and why that waits for it.
struct Arrival {
  std::uint32_t task;
  OrderKind kind;

  auto operator<=>(const Arrival&) const = default;
};

// Tasks of the knot that `task` waits for with no other task between them, by number. Without those
// behind what stands for several and was `passed` before.
std::vector<Arrival> next_tasks(const ScopeGraph& graph, const Knots& knots, std::uint32_t tasks,
                                std::uint32_t task, std::set<std::uint32_t>& passed) {
  std::vector<Arrival> found;
  std::vector<Arrival> open = {{task, OrderKind::Member}};
  while (!open.empty()) {
    const Arrival at = open.back();
    open.pop_back();
    for (const std::uint32_t index : graph.edges_to(at.task)) {
      const ScopeGraph::Edge& edge = graph.edges()[index];
      if (knots.of(edge.from) != knots.of(task)) continue;
      const Arrival next = {edge.from, at.task == task ? edge.kind : at.kind};
      if (edge.from < tasks) {
        found.push_back(next);
      } else if (passed.insert(edge.from).second) {
        open.push_back(next);
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The shortest way from `start` back to itself, counted in tasks; of several the same one in
// whatever order edges were added.
std::vector<CycleStep> shortest_cycle(const ScopeGraph& graph, const Knots& knots,
                                      std::uint32_t tasks, std::uint32_t start) {
  std::map<std::uint32_t, Arrival> reached_from;
  std::set<std::uint32_t> passed;
  std::deque<std::uint32_t> open = {start};
  while (!open.empty() && !reached_from.contains(start)) {
    const std::uint32_t task = open.front();
    open.pop_front();
    for (const Arrival& next : next_tasks(graph, knots, tasks, task, passed)) {
      const bool is_new = reached_from.emplace(next.task, Arrival{task, next.kind}).second;
      if (is_new) open.push_back(next.task);
    }
  }
  if (!reached_from.contains(start)) return {};
  std::vector<CycleStep> steps;
  std::uint32_t at = start;
  do {
    const Arrival& from = reached_from.at(at);
    steps.push_back({from.task, from.kind});
    at = from.task;
  } while (at != start);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace

bool drop_overridden(ScopeGraph& graph, std::uint32_t tasks) {
  const Knots knots(graph);
  std::map<std::uint32_t, std::vector<std::uint32_t>> waits_for;  // instead of what it waited for
  for (const std::vector<std::uint32_t>& members : knots.all()) {
    for (const std::uint32_t vertex : members) {
      if (vertex >= tasks) break;
      const std::set<std::uint32_t> younger = requirers(graph, knots, vertex);
      if (younger.empty()) continue;
      const std::set<std::uint32_t> elders = elder_siblings(graph, tasks, vertex);
      std::vector<std::uint32_t> kept;
      std::set_difference(elders.begin(), elders.end(), younger.begin(), younger.end(),
                          std::back_inserter(kept));
      if (kept.size() < elders.size()) waits_for[vertex] = std::move(kept);
    }
  }
  if (waits_for.empty()) return false;
  std::vector<ScopeGraph::Edge> edges;
  for (const ScopeGraph::Edge& edge : graph.edges()) {
    if (edge.kind == OrderKind::Sibling && waits_for.contains(edge.to)) continue;
    edges.push_back(edge);
  }
  for (const auto& [vertex, elders] : waits_for) {
    for (const std::uint32_t elder : elders) edges.push_back({vertex, elder, OrderKind::Sibling});
  }
  graph.set_edges(std::move(edges));
  return true;
}

std::vector<std::vector<CycleStep>> find_cycles(const ScopeGraph& graph, std::uint32_t tasks) {
  const Knots knots(graph);
  std::vector<std::vector<CycleStep>> cycles;
  for (const std::vector<std::uint32_t>& members : knots.all()) {
    std::vector<CycleStep> best;
    for (std::size_t i = 0; i < members.size() && i < kStartsMax && members[i] < tasks; ++i) {
      std::vector<CycleStep> cycle = shortest_cycle(graph, knots, tasks, members[i]);
      if (!cycle.empty() && (best.empty() || cycle.size() < best.size())) best = std::move(cycle);
    }
    if (!best.empty()) cycles.push_back(std::move(best));
  }
  return cycles;
}

}  // namespace muster::plan
