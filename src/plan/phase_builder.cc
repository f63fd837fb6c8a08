#include "plan/phase_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/cycles.h"
#include "plan/order_text.h"
#include "plan/requirements.h"
#include "plan/sibling_order.h"

namespace muster::plan {
namespace {

class PhaseBuilder {
 public:
  PhaseBuilder(Draft& draft, const Locks& locks, const Slots& slots)
      : draft_(draft),
        locks_(locks),
        slots_(slots),
        requirements_(draft, slots),
        siblings_(draft),
        cluster_end_(draft.index.clusters().size(), kNone) {
    built_.vertices = static_cast<std::uint32_t>(draft.facts.size());
    built_.tasks.reserve(slots.tasks.size());
    built_.edges.reserve(slots.tasks.size() * 2);
    const auto& order = draft.request.ruleset.order;
    // Nodes are released at the end of what a cluster does before its nodes.
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      const Group& group = draft.request.ruleset.groups[order[i]];
      if (group.per_cluster) release_group_ = i;
      if (group.lockable ||
          (i + 1 < order.size() && draft.request.ruleset.groups[order[i + 1]].lockable)) {
        break;
      }
    }
  }

  DraftPhases build() && {
    std::size_t next = build_part(0, Scope::Part::BeforeClusters);
    const std::uint32_t before = previous_;
    for (const std::uint32_t cluster : draft_.clusters.sequence) {
      next = build_cluster(next, cluster, before);
    }
    begin_section(ends_of_clusters(), before);
    build_part(next, Scope::Part::AfterClusters);
    clean_up();
    return std::move(built_);
  }

 private:
  // --- Sections: phases of which each waits for the one before. ---

  void begin_section(std::vector<std::uint32_t> after, std::uint32_t otherwise) {
    previous_ = kNone;
    entry_ = std::move(after);
    if (entry_.empty() && otherwise != kNone) entry_ = {otherwise};
  }

  Phase& add_phase(Phase phase) {
    if (previous_ != kNone) {
      phase.after = {previous_};
    } else {
      phase.after = entry_;
    }
    previous_ = static_cast<std::uint32_t>(built_.phases.size());
    phase.first = static_cast<std::uint32_t>(built_.tasks.size());
    built_.phases.push_back(std::move(phase));
    return built_.phases.back();
  }

  void add_task(std::uint32_t task) {
    built_.tasks.push_back(task);
    ++built_.phases.back().count;
  }

  std::size_t build_part(std::size_t next, Scope::Part part) {
    for (; next < slots_.scopes.size() && slots_.scopes[next].part == part; ++next) {
      build_scope(slots_.scopes[next]);
    }
    return next;
  }

  // --- Clusters. ---

  // The last phases of clusters that come before, without those that another one waits for anyway.
  std::vector<std::uint32_t> ends_of(const std::vector<std::uint32_t>& clusters) const {
    std::vector<std::uint32_t> ends;
    for (const std::uint32_t cluster : clusters) {
      if (cluster_end_[cluster] == kNone) continue;
      const bool is_implied = std::any_of(clusters.begin(), clusters.end(), [&](std::uint32_t o) {
        return cluster_end_[o] != kNone && draft_.clusters.depends(o, cluster);
      });
      if (!is_implied) ends.push_back(cluster_end_[cluster]);
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  std::vector<std::uint32_t> ends_of_clusters() const {
    std::vector<bool> is_implied(cluster_end_.size());
    for (std::uint32_t i = 0; i < cluster_end_.size(); ++i) {
      if (cluster_end_[i] == kNone) continue;
      for (const std::uint32_t before : draft_.clusters.before[i]) is_implied[before] = true;
    }
    std::vector<std::uint32_t> ends;
    for (std::uint32_t i = 0; i < cluster_end_.size(); ++i) {
      if (cluster_end_[i] != kNone && !is_implied[i]) ends.push_back(cluster_end_[i]);
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  std::size_t build_cluster(std::size_t next, std::uint32_t cluster, std::uint32_t before) {
    begin_section(ends_of(draft_.clusters.before[cluster]), before);
    const auto is_here = [&](Scope::Step most) {
      return next < slots_.scopes.size() && slots_.scopes[next].part == Scope::Part::Cluster &&
             slots_.scopes[next].cluster == cluster && slots_.scopes[next].step <= most;
    };
    for (; is_here(Scope::Step::BeforeNodes); ++next) build_scope(slots_.scopes[next]);
    release_nodes(cluster);
    while (is_here(Scope::Step::LockedNode)) {
      const std::uint32_t node = slots_.scopes[next].node;
      lock(slots_.scopes[next].group_place, cluster, node, locks_.of_node[node].lock);
      for (; is_here(Scope::Step::LockedNode) && slots_.scopes[next].node == node; ++next) {
        build_scope(slots_.scopes[next]);
      }
      lock(slots_.scopes[next - 1].group_place, cluster, node, locks_.of_node[node].unlock);
    }
    for (; is_here(Scope::Step::AfterNodes); ++next) build_scope(slots_.scopes[next]);
    cluster_end_[cluster] = previous_;
    return next;
  }

  void release_nodes(std::uint32_t cluster) {
    if (!locks_.in_cluster[cluster]) return;
    std::vector<std::uint32_t> nodes;
    for (const std::uint32_t node : draft_.index.clusters()[cluster].nodes) {
      if (locks_.of_node[node].release != kNone) nodes.push_back(node);
    }
    std::sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
      return locks_.position[a] < locks_.position[b];
    });
    for (const std::uint32_t node : nodes) {
      lock(release_group_, cluster, node, locks_.of_node[node].release);
    }
  }

  void lock(std::uint32_t group, std::uint32_t cluster, std::uint32_t node, std::uint32_t task) {
    Phase phase;
    phase.group = group;
    phase.cluster = cluster;
    phase.node = node;
    add_phase(std::move(phase));
    add_task(task);
  }

  // --- Scopes. ---

  void build_scope(const Scope& scope) {
    graph_.clear();
    for (std::uint32_t i = 0; i < scope.count; ++i) {
      const std::uint32_t task = slots_.tasks[scope.first + i];
      const DraftTask& fact = draft_.facts[task];
      ScopeGraph::Vertex vertex;
      if (fact.is_planned()) {
        const bool is_config = draft_.task(task).kind() == TaskKind::Config;
        vertex.kind = is_config ? ScopeGraph::Kind::Config : ScopeGraph::Kind::Other;
        vertex.node = is_config ? fact.node : kNone;
      }
      graph_.add(vertex);
    }
    requirements_.connect(scope, graph_);
    siblings_.connect(slots_, scope, graph_);
    bool is_sorted = graph_.sort();
    if (!is_sorted && drop_overridden(graph_, scope.count)) is_sorted = graph_.sort();
    if (!is_sorted) {
      for (const std::vector<CycleStep>& cycle : find_cycles(graph_, scope.count)) {
        tell_cycle(draft_, slots_, scope, cycle);
      }
      return;
    }
    keep_edges(scope);
    add_phases(scope);
  }

  void keep_edges(const Scope& scope) {
    const auto whole = [&](std::uint32_t vertex) {
      return vertex < scope.count ? slots_.tasks[scope.first + vertex]
                                  : built_.vertices + vertex - scope.count;
    };
    for (const ScopeGraph::Edge& edge : graph_.edges()) {
      built_.edges.push_back({whole(edge.to), whole(edge.from), edge.kind});
    }
    built_.vertices += static_cast<std::uint32_t>(graph_.size() - scope.count);
  }

  void add_phases(const Scope& scope) {
    std::int32_t rank = -1;
    for (const std::uint32_t vertex : graph_.order()) {
      if (graph_.rank(vertex) != rank) {
        rank = graph_.rank(vertex);
        Phase phase;
        phase.group = scope.group_place;
        phase.cluster = scope.cluster;
        phase.node = scope.node;
        phase.rank = rank;
        add_phase(std::move(phase));
      }
      add_task(slots_.tasks[scope.first + vertex]);
    }
  }

  void clean_up() {
    if (draft_.cleanups.empty()) return;
    Phase phase;
    phase.group = static_cast<std::uint32_t>(draft_.request.ruleset.order.size());
    add_phase(std::move(phase));
    for (const std::uint32_t task : draft_.cleanups) add_task(task);
  }

  Draft& draft_;
  const Locks& locks_;
  const Slots& slots_;
  Requirements requirements_;
  SiblingOrder siblings_;
  ScopeGraph graph_;
  DraftPhases built_;
  std::vector<std::uint32_t> cluster_end_;  // last phase of each; kNone: it has none
  std::vector<std::uint32_t> entry_;        // what the first phase of the section waits for
  std::uint32_t previous_ = kNone;          // the last phase of the section
  std::uint32_t release_group_ = 0;
};

}  // namespace

DraftPhases build_phases(Draft& draft, const Locks& locks, const Slots& slots) {
  return PhaseBuilder(draft, locks, slots).build();
}

}  // namespace muster::plan
