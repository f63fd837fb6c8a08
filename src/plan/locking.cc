#include "plan/locking.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/nearest.h"
#include "model/quoted.h"
#include "plan/resolve.h"
#include "plan/task_id.h"

namespace muster::plan {
namespace {

constexpr std::string_view kHaManager = "ha_manager";
constexpr std::string_view kIsLocked = "is_locked";

bool is_left_locked(const NodeFacts& node) {
  if (node.is_ms) return false;
  const std::string* locked = node.place->property(kIsLocked);
  return locked != nullptr && *locked == "true";
}

// Why the policy keeps the node from being locked; empty: it does not.
std::string kept_from_locking(const Draft& draft, const NodeFacts& node) {
  const LockPolicy& policy = draft.request.locks;
  if (node.cluster == kNone) return "it is in no cluster";
  const ClusterFacts& cluster = draft.index.clusters()[node.cluster];
  if (!policy.lock) return "the plan is made without locks";
  const model::Path path = cluster.place->path();
  if (std::find(policy.not_in.begin(), policy.not_in.end(), path) != policy.not_in.end()) {
    return fmt::format("the plan is made without locks in cluster {}", path.text());
  }
  if (cluster.place->item().type->find_property(kHaManager) != nullptr) {
    const std::string* manager = cluster.place->property(kHaManager);
    if (manager == nullptr || manager->empty()) {
      return fmt::format("cluster {} has no HA manager", path.text());
    }
  }
  if (cluster.place->item().state == model::ItemState::Initial) {
    return fmt::format("cluster {} is Initial", path.text());
  }
  if (node.place->item().state == model::ItemState::Initial && !policy.initial) {
    return "it is Initial";
  }
  if (policy.initial && cluster.nodes.size() < 2) {
    return fmt::format("it is the only node of cluster {}", path.text());
  }
  return {};
}

std::vector<bool> nodes_with_tasks(Draft& draft) {
  std::vector<bool> busy(draft.index.nodes().size());
  for (std::size_t i = 0; i < draft.tasks.size(); ++i) {
    const DraftTask& fact = draft.facts[i];
    if (!fact.is_planned() || fact.role != TaskRole::Ordinary || !draft.group_of(fact).lockable) {
      continue;
    }
    if (fact.node != kNone) {
      busy[fact.node] = true;
    } else if (const auto* remote = std::get_if<RemoteWork>(&draft.tasks[i].work)) {
      for (const model::Path& path : remote->nodes) {
        busy[draft.index.as_node(draft.index.find(path))] = true;
      }
    }
  }
  return busy;
}

class LockArranger {
 public:
  explicit LockArranger(Draft& draft) : draft_(draft) {
    locks_.of_node.resize(draft.index.nodes().size());
    locks_.position.resize(draft.index.nodes().size());
    locks_.in_cluster.resize(draft.index.clusters().size());
    for (const std::uint32_t node : lockable_nodes(draft)) wanted_.insert(node);
  }

  Locks arrange(std::vector<LockPair> pairs) && {
    check_policy();
    order_nodes();
    std::sort(pairs.begin(), pairs.end(), [](const LockPair& a, const LockPair& b) {
      return std::tie(a.node, a.lock.plugin) < std::tie(b.node, b.lock.plugin);
    });
    for (LockPair& pair : pairs) take(std::move(pair));
    note_left_locked();
    split_remotes();
    return std::move(locks_);
  }

 private:
  void check_policy() {
    for (const model::Path& path : draft_.request.locks.not_in) find_cluster(path, "no locks in");
  }

  std::uint32_t find_cluster(const model::Path& path, std::string_view what) {
    const std::uint32_t item = draft_.index.find(path);
    const std::uint32_t cluster = item == kNone ? kNone : draft_.index.as_cluster(item);
    if (cluster == kNone) {
      draft_.errors.add(PlanErrorKind::NotACluster, path,
                        fmt::format("{} {}: that is no cluster", what, path.text()));
    }
    return cluster;
  }

  void order_nodes() {
    for (const ClusterFacts& cluster : draft_.index.clusters()) {
      for (std::uint32_t i = 0; i < cluster.nodes.size(); ++i) {
        locks_.position[cluster.nodes[i]] = i;
      }
    }
    for (const NodeOrder& order : draft_.request.node_orders) {
      const std::uint32_t cluster = find_cluster(order.cluster, "an order of nodes of");
      if (cluster != kNone) order_nodes(cluster, order);
    }
  }

  void order_nodes(std::uint32_t cluster, const NodeOrder& order) {
    const auto wrong = [&](const std::string& what) {
      draft_.errors.add(PlanErrorKind::NodeOrder, order.cluster,
                        fmt::format("the order of nodes of cluster {} names each of them once, but "
                                    "it {}",
                                    order.cluster.text(), what));
    };
    std::map<std::string_view, std::uint32_t> by_id;
    for (const std::uint32_t node : draft_.index.clusters()[cluster].nodes) {
      by_id[draft_.index.nodes()[node].place->id()] = node;
    }
    std::vector<std::string_view> known;
    for (const auto& [id, node] : by_id) known.push_back(id);
    std::set<std::string_view> named;
    std::uint32_t position = 0;
    for (const std::string& id : order.nodes) {
      const auto found = by_id.find(id);
      if (found == by_id.end()) {
        wrong(fmt::format("names {}, which is none of them{}", model::quoted(id),
                          did_you_mean(id, known)));
      } else if (!named.insert(found->first).second) {
        wrong(fmt::format("names '{}' more than once", id));
      } else {
        locks_.position[found->second] = position++;
      }
    }
    for (const std::string_view id : known) {
      if (!named.contains(id)) wrong(fmt::format("leaves out '{}'", id));
    }
  }

  void take(LockPair pair) {
    const auto wrong = [&](const std::string& what) {
      draft_.errors.add(PlanErrorKind::Lock, pair.node,
                        fmt::format("lock tasks of plugin '{}' for {}: {}", pair.lock.plugin,
                                    pair.node.text(), what));
    };
    const std::uint32_t item = draft_.index.find(pair.node);
    const std::uint32_t node = item == kNone ? kNone : draft_.index.as_node(item);
    if (node == kNone) return wrong("that is no node");
    const NodeFacts& facts = draft_.index.nodes()[node];
    if (!wanted_.contains(node)) {
      const std::string kept = kept_from_locking(draft_, facts);
      return wrong(fmt::format("it is not to be locked, because {}",
                               kept.empty() ? "no task of the plan is done under its lock" : kept));
    }
    NodeLock& lock = locks_.of_node[node];
    if (lock.lock != kNone) {
      return wrong(
          fmt::format("plugin '{}' has given lock tasks for it already; one plugin locks a "
                      "node",
                      draft_.tasks[lock.lock].plugin));
    }
    if (!pair.lock.requirements.empty() || !pair.unlock.requirements.empty()) {
      return wrong(
          "a task that locks or unlocks a node cannot require others; it has a phase of "
          "its own before or after all tasks of the node");
    }
    if (is_left_locked(facts)) lock.release = add(pair.unlock, TaskRole::Release);
    lock.lock = add(std::move(pair.lock), TaskRole::Lock);
    lock.unlock = add(std::move(pair.unlock), TaskRole::Unlock);
    locks_.in_cluster[facts.cluster] = true;
  }

  std::uint32_t add(Task task, TaskRole role) {
    const std::uint32_t added = draft_.add_task(std::move(task));
    draft_.facts[added].role = role;
    resolve_task(draft_, added);
    draft_.facts[added].left_out = LeftOut::No;
    return added;
  }

  void note_left_locked() {
    const auto& nodes = draft_.index.nodes();
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (!is_left_locked(nodes[i]) || locks_.of_node[i].release != kNone) continue;
      const std::string kept = kept_from_locking(draft_, nodes[i]);
      draft_.note(fmt::format("node {} was left locked by an earlier plan and stays so: {}",
                              nodes[i].place->path().text(),
                              kept.empty() ? "no plugin has given a task that unlocks it" : kept));
    }
  }

  void split_remotes() {
    const auto count = static_cast<std::uint32_t>(draft_.tasks.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const DraftTask& fact = draft_.facts[i];
      const auto* remote = std::get_if<RemoteWork>(&draft_.tasks[i].work);
      if (remote == nullptr || remote->nodes.size() < 2 || !fact.is_planned() ||
          fact.role != TaskRole::Ordinary || !draft_.group_of(fact).lockable ||
          !locks_.in_cluster[fact.cluster]) {
        continue;
      }
      split(i);
    }
  }

  void split(std::uint32_t i) {
    std::vector<model::Path> others;
    std::vector<std::pair<std::uint32_t, model::Path>> locked;
    for (const model::Path& path : std::get<RemoteWork>(draft_.tasks[i].work).nodes) {
      const std::uint32_t node = draft_.index.as_node(draft_.index.find(path));
      if (locks_.is_locked(node)) {
        locked.emplace_back(node, path);
      } else {
        others.push_back(path);
      }
    }
    if (locked.empty()) return;
    std::vector<std::uint32_t> parts = {i};
    // The task itself stays for those that are not locked, or else for the last that is.
    if (others.empty()) {
      others.push_back(locked.back().second);
      locked.pop_back();
    }
    for (auto& [node, path] : locked) {
      Task part = draft_.tasks[i];
      std::get<RemoteWork>(part.work).nodes = {path};
      const std::uint32_t added = draft_.add_task(std::move(part));
      draft_.facts[added] = draft_.facts[i];
      draft_.facts[added].node = node;
      parts.push_back(added);
    }
    if (others.size() == 1) {
      draft_.facts[i].node = draft_.index.as_node(draft_.index.find(others.front()));
    }
    std::get<RemoteWork>(draft_.tasks.own()[i].work).nodes = std::move(others);
    draft_.parts[i] = std::move(parts);
  }

  Draft& draft_;
  Locks locks_;
  std::set<std::uint32_t> wanted_;
};

}  // namespace

std::vector<std::uint32_t> lockable_nodes(Draft& draft) {
  const std::vector<bool> busy = nodes_with_tasks(draft);
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < busy.size(); ++i) {
    const NodeFacts& node = draft.index.nodes()[i];
    if (!busy[i] && !is_left_locked(node)) continue;
    if (kept_from_locking(draft, node).empty()) nodes.push_back(i);
  }
  return nodes;
}

Locks arrange_locks(Draft& draft, std::vector<LockPair> pairs) {
  return LockArranger(draft).arrange(std::move(pairs));
}

}  // namespace muster::plan
