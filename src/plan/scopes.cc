#include "plan/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "plan/task_id.h"

namespace muster::plan {
namespace {

// A scope as one number, so that scopes in order are numbers in order.
class ScopeKey {
 public:
  ScopeKey(const Draft& draft, const Locks& locks) : draft_(draft), locks_(locks) {
    const Ruleset& ruleset = draft.request.ruleset;
    places_.resize(ruleset.groups.size());
    bool clusters_done = false;
    bool nodes_done = false;
    bool in_clusters = false;
    for (std::uint16_t i = 0; i < ruleset.order.size(); ++i) {
      const Group& group = ruleset.groups[ruleset.order[i]];
      in_clusters = in_clusters || group.per_cluster;
      clusters_done = in_clusters && !group.per_cluster;
      nodes_done = nodes_done || group.lockable;
      GroupPlace& place = places_[ruleset.order[i]];
      place.place = i;
      place.part = group.per_cluster ? Scope::Part::Cluster
                   : clusters_done   ? Scope::Part::AfterClusters
                                     : Scope::Part::BeforeClusters;
      place.step = nodes_done ? Scope::Step::AfterNodes : Scope::Step::BeforeNodes;
      place.lockable = group.lockable;
    }
  }

  Scope scope_of(const DraftTask& fact) const {
    const GroupPlace& place = places_[fact.group];
    Scope scope;
    scope.part = place.part;
    scope.group = fact.group;
    scope.group_place = place.place;
    if (place.part != Scope::Part::Cluster) return scope;
    scope.cluster = fact.cluster;
    scope.step = place.step;
    if (!place.lockable) return scope;
    const bool is_locked = fact.node != kNone && locks_.is_locked(fact.node);
    scope.step = is_locked ? Scope::Step::LockedNode : Scope::Step::OtherNodes;
    if (is_locked) scope.node = fact.node;
    return scope;
  }

  std::uint64_t key_of(const Scope& scope) const {
    std::uint64_t key = static_cast<std::uint64_t>(scope.part) << 60U;
    key |= static_cast<std::uint64_t>(scope.group_place);
    if (scope.cluster == kNone) return key;
    key |= static_cast<std::uint64_t>(draft_.clusters.position[scope.cluster]) << 36U;
    key |= static_cast<std::uint64_t>(scope.step) << 34U;
    if (scope.node != kNone) {
      key |= static_cast<std::uint64_t>(locks_.position[scope.node]) << 12U;
    }
    return key;
  }

 private:
  struct GroupPlace {
    std::uint16_t place = 0;
    Scope::Part part = Scope::Part::BeforeClusters;
    Scope::Step step = Scope::Step::BeforeNodes;
    bool lockable = false;
  };

  const Draft& draft_;
  const Locks& locks_;
  std::vector<GroupPlace> places_;  // of each group
};

void tell_duplicates(Draft& draft, const std::vector<std::uint32_t>& ranked) {
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    const Task& before = draft.task(ranked[i - 1]);
    const Task& task = draft.task(ranked[i]);
    if (before.item != task.item || task.kind() == TaskKind::Config || !same_task(before, task)) {
      continue;
    }
    draft.errors.add(
        PlanErrorKind::DuplicateTask, before,
        fmt::format("is asked for twice, the second time by plugin '{}'; make it once, "
                    "and let others require it",
                    task.plugin));
  }
}

}  // namespace

std::vector<std::uint32_t> ranked(const Draft& draft, const std::vector<std::uint32_t>& given) {
  std::vector<std::uint64_t> keys;
  keys.reserve(given.size());
  for (const std::uint32_t task : given) {
    keys.push_back(
        static_cast<std::uint64_t>(draft.index.item(draft.facts[task].item).rank) << 32U | task);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> tasks(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) tasks[i] = static_cast<std::uint32_t>(keys[i]);
  const auto by_identity = [&](std::uint32_t a, std::uint32_t b) {
    const Task& x = draft.task(a);
    const Task& y = draft.task(b);
    if (const auto order = compare_identity(x, y); order != 0) return order < 0;
    return std::tie(x.tag, x.description) < std::tie(y.tag, y.description);
  };
  for (std::size_t from = 0; from < keys.size();) {
    std::size_t end = from + 1;
    while (end < keys.size() && keys[end] >> 32U == keys[from] >> 32U) ++end;
    if (end - from > 1) {
      std::sort(tasks.begin() + static_cast<std::ptrdiff_t>(from),
                tasks.begin() + static_cast<std::ptrdiff_t>(end), by_identity);
    }
    from = end;
  }
  return tasks;
}

Slots make_slots(Draft& draft, const Locks& locks) {
  draft.index.rank_items();
  std::vector<std::uint32_t> ordered;
  ordered.reserve(draft.facts.size());
  for (std::uint32_t i = 0; i < draft.facts.size(); ++i) {
    if (draft.facts[i].is_ordered()) ordered.push_back(i);
  }
  ordered = ranked(draft, ordered);
  tell_duplicates(draft, ordered);
  struct Entry {
    std::uint64_t key;
    std::uint32_t rank;
  };
  const ScopeKey keys(draft, locks);
  std::vector<Entry> entries(ordered.size());
  for (std::uint32_t i = 0; i < ordered.size(); ++i) {
    entries[i] = {keys.key_of(keys.scope_of(draft.facts[ordered[i]])), i};
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.key, a.rank) < std::tie(b.key, b.rank);
  });
  Slots slots;
  slots.of_task.assign(draft.facts.size(), kNone);
  slots.tasks.reserve(entries.size());
  slots.scope_of.reserve(entries.size());
  for (std::size_t from = 0; from < entries.size();) {
    std::size_t end = from;
    bool is_planned = false;
    for (; end < entries.size() && entries[end].key == entries[from].key; ++end) {
      is_planned = is_planned || draft.facts[ordered[entries[end].rank]].is_planned();
    }
    if (is_planned) {
      Scope scope = keys.scope_of(draft.facts[ordered[entries[from].rank]]);
      scope.first = static_cast<std::uint32_t>(slots.tasks.size());
      scope.count = static_cast<std::uint32_t>(end - from);
      for (std::size_t i = from; i < end; ++i) {
        const std::uint32_t task = ordered[entries[i].rank];
        slots.of_task[task] = static_cast<std::uint32_t>(slots.tasks.size());
        slots.tasks.push_back(task);
        slots.scope_of.push_back(static_cast<std::uint32_t>(slots.scopes.size()));
      }
      slots.scopes.push_back(scope);
    }
    from = end;
  }
  return slots;
}

}  // namespace muster::plan
