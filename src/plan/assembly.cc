#include "plan/assembly.h"

#include <algorithm>
#include <map>

#include "plan/task_id.h"
#include "plan/task_nodes.h"

namespace muster::plan {
namespace {

class Assembler {
 public:
  Assembler(Draft& draft, const Slots& slots, DraftPhases phases)
      : draft_(draft), slots_(slots), built_(std::move(phases)) {}

  PlanOutcome assemble() && {
    std::sort(draft_.notices.begin(), draft_.notices.end());
    number_tasks();
    if (built_.phases.empty()) {
      take_tasks();
      return NothingToDo{std::move(plan_.tasks), std::move(draft_.notices)};
    }
    place_tasks();
    make_graph();
    rewrite_requirements();
    take_tasks();
    name_groups();
    name_clusters_and_nodes();
    plan_.phases = std::move(built_.phases);
    plan_.notices = std::move(draft_.notices);
    return std::move(plan_);
  }

 private:
  // Where each task of the draft is to stand: those in phases, those left out, and at the end those
  // that are not part of the plan.
  void number_tasks() {
    position_.assign(draft_.tasks.size(), kNone);
    std::uint32_t next = 0;
    for (const std::uint32_t task : built_.tasks) position_[task] = next++;
    plan_.planned = next;
    std::vector<std::uint32_t> left_out;
    for (std::uint32_t i = 0; i < draft_.tasks.size(); ++i) {
      if (draft_.facts[i].left_out != LeftOut::No) left_out.push_back(i);
    }
    for (const std::uint32_t task : ranked(draft_, left_out)) position_[task] = next++;
    kept_ = next;
    for (std::uint32_t& position : position_) {
      if (position == kNone) position = next++;
    }
  }

  void place_tasks() {
    plan_.placements.resize(kept_);
    for (std::uint32_t i = 0; i < draft_.tasks.size(); ++i) {
      if (position_[i] >= kept_) continue;
      const DraftTask& fact = draft_.facts[i];
      plan_.placements[position_[i]] = {kNone, fact.role, fact.left_out, fact.as_in_node,
                                        fact.is_reversed};
    }
    for (std::uint32_t i = 0; i < built_.phases.size(); ++i) {
      const Phase& phase = built_.phases[i];
      for (std::uint32_t k = 0; k < phase.count; ++k) {
        plan_.placements[phase.first + k].phase = i;
      }
    }
  }

  void make_graph() {
    // Remembered tasks stand in the draft after the others; those without a slot have no edges.
    const auto tasks = static_cast<std::uint32_t>(draft_.tasks.size());
    const auto facts = static_cast<std::uint32_t>(draft_.facts.size());
    plan_.first_remembered = kept_;
    std::vector<std::uint32_t> vertex_of(facts - tasks, kNone);
    for (std::uint32_t i = tasks; i < facts; ++i) {
      if (slots_.of_task[i] == kNone) continue;
      vertex_of[i - tasks] = kept_ + static_cast<std::uint32_t>(plan_.remembered.size());
      plan_.remembered.push_back(task_id(draft_.task(i)));
    }
    const auto gates = kept_ + static_cast<std::uint32_t>(plan_.remembered.size());
    const auto number = [&](std::uint32_t vertex) {
      if (vertex < tasks) return position_[vertex];
      if (vertex < facts) return vertex_of[vertex - tasks];
      return gates + vertex - facts;
    };
    const std::size_t vertices = gates + (built_.vertices - facts);
    std::vector<std::uint32_t> first(vertices + 1, 0);
    for (DraftEdge& edge : built_.edges) {
      edge.to = number(edge.to);
      edge.from = number(edge.from);
      ++first[edge.to + 1];
    }
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    std::vector<std::uint32_t> sorted(built_.edges.size());
    std::vector<std::uint32_t> filled(first.begin(), first.end() - 1);
    for (std::uint32_t i = 0; i < built_.edges.size(); ++i) {
      sorted[filled[built_.edges[i].to]++] = i;
    }
    plan_.order.reserve(vertices, sorted.size());
    for (std::size_t vertex = 0; vertex < vertices; ++vertex) {
      plan_.order.add_vertex();
      for (std::uint32_t i = first[vertex]; i < first[vertex + 1]; ++i) {
        const DraftEdge& edge = built_.edges[sorted[i]];
        plan_.order.add_edge({edge.from, edge.kind});
      }
    }
    plan_.order.finish();
    built_.edges = {};
  }

  void rewrite_requirements() {
    for (std::uint32_t i = 0; i < draft_.tasks.size(); ++i) {
      std::vector<Requirement>& requirements = draft_.tasks.own()[i].requirements;
      const bool any = std::any_of(requirements.begin(), requirements.end(), [](const auto& r) {
        return std::holds_alternative<RequiredTask>(r);
      });
      if (!any || position_[i] >= kept_) continue;
      std::vector<Requirement> rewritten;
      for (Requirement& requirement : requirements) {
        const auto* wanted = std::get_if<RequiredTask>(&requirement);
        if (wanted == nullptr) {
          rewritten.push_back(std::move(requirement));
          continue;
        }
        for (const std::uint32_t other : required_tasks(draft_, i, *wanted)) {
          if (position_[other] < kept_) rewritten.push_back(RequiredTask{position_[other]});
        }
      }
      requirements = std::move(rewritten);
    }
  }

  // Moves tasks to their places along the cycles of the permutation: a million of them are not to
  // be in memory twice.
  void take_tasks() {
    std::vector<Task>& tasks = draft_.tasks.own();
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      while (position_[i] != i) {
        const std::uint32_t to = position_[i];
        std::swap(tasks[i], tasks[to]);
        std::swap(position_[i], position_[to]);
      }
    }
    tasks.resize(kept_);
    plan_.tasks = std::move(tasks);
  }

  void name_groups() {
    const Ruleset& ruleset = draft_.request.ruleset;
    for (const std::size_t group : ruleset.order)
      plan_.groups.push_back(ruleset.groups[group].name);
    plan_.groups.emplace_back(kCleanupGroup);
  }

  void name_clusters_and_nodes() {
    std::map<std::uint32_t, std::uint32_t> nodes;
    for (const std::uint32_t cluster : draft_.clusters.sequence) {
      plan_.clusters.push_back(draft_.index.clusters()[cluster].place->path());
    }
    for (Phase& phase : built_.phases) {
      if (phase.cluster != kNone) phase.cluster = draft_.clusters.position[phase.cluster];
      if (phase.node == kNone) continue;
      const auto [known, is_new] =
          nodes.emplace(phase.node, static_cast<std::uint32_t>(nodes.size()));
      if (is_new) plan_.nodes.push_back(draft_.index.nodes()[phase.node].place->path());
      phase.node = known->second;
    }
  }

  Draft& draft_;
  const Slots& slots_;
  DraftPhases built_;
  Plan plan_;
  std::vector<std::uint32_t> position_;  // by task of the draft
  std::uint32_t kept_ = 0;
};

}  // namespace

PlanOutcome assemble(Draft& draft, const Slots& slots, DraftPhases phases) {
  return Assembler(draft, slots, std::move(phases)).assemble();
}

}  // namespace muster::plan
