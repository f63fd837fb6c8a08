#include "plan/order_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace muster::plan::testing {

using model::Path;

namespace {

// The first `count` segments; empty: there are fewer, or segment `at` is another.
std::string beginning(const Path& item, std::size_t count, std::size_t at, const char* segment) {
  const auto segments = item.segments();
  if (segments.size() < count || segments[at] != segment) return "";
  Path path;
  for (std::size_t i = 0; i < count; ++i) path = path.child(segments[i]);
  return path.text();
}

bool always(std::size_t) { return true; }

}  // namespace

std::string node_above(const Path& item) {
  const std::string ms = beginning(item, 1, 0, "ms");
  return ms.empty() ? beginning(item, 6, 4, "nodes") : ms;
}

std::string cluster_above(const Path& item) { return beginning(item, 4, 2, "clusters"); }

std::string node_of(const Task& task) {
  if (const auto* config = std::get_if<ConfigWork>(&task.work)) return config->node.text();
  const auto* remote = std::get_if<RemoteWork>(&task.work);
  if (remote == nullptr) return node_above(task.item);
  return remote->nodes.size() == 1 ? remote->nodes.front().text() : "";
}

std::string group_of(const Task& task) {
  constexpr std::size_t kPrefix = 11;  // DEPLOYMENT_
  constexpr std::size_t kSuffix = 4;   // _TAG
  if (!task.tag.empty()) return task.tag.substr(kPrefix, task.tag.size() - kPrefix - kSuffix);
  if (task.kind() == TaskKind::Config) return node_of(task) == "/ms" ? "MS" : "NODE";
  const std::string above = node_above(task.item);
  if (above == "/ms") return "MS";
  if (!above.empty()) return "NODE";
  return cluster_above(task.item).empty() ? "MS" : "CLUSTER";
}

std::string cluster_of(const Task& task) {
  static const std::set<std::string> kPerCluster = {"PRE_NODE_CLUSTER", "UPGRADE_BOOT", "NODE",
                                                    "CLUSTER"};
  if (!kPerCluster.contains(group_of(task))) return "";
  const auto* config = std::get_if<ConfigWork>(&task.work);
  return cluster_above(config == nullptr ? task.item : config->node);
}

OrderOracle::OrderOracle(const Site& site, const Plan& plan) : site_(site), plan_(plan) {
  std::set<std::string> locked;
  for (const Phase& phase : plan.phases) {
    const bool is_lock = plan.placements[phase.first].role == TaskRole::Lock;
    if (is_lock) locked.insert(plan.nodes[phase.node].text());
  }
  for (const Task& task : plan.tasks) {
    const std::string group = group_of(task);
    const bool by_node = group == "NODE" || group == "UPGRADE_BOOT";
    const std::string node = node_of(task);
    scopes_.push_back(fmt::format("{} {} {}", group, cluster_of(task),
                                  by_node && locked.contains(node) ? node : ""));
  }
  const std::size_t count = plan.tasks.size();
  waits_.assign(count, std::vector<bool>(count));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) waits_[a][b] = a != b && says(a, b);
  }
  // What tasks say counts for more than the order of siblings.
  Relation said = waits_;
  close(said, always);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      if (a != b && !said[b][a] && comes_after_sibling(a, b)) waits_[a][b] = true;
    }
  }
}

void OrderOracle::close(Relation& relation, const std::function<bool(std::size_t)>& leads_on) {
  const std::size_t count = relation.size();
  for (std::size_t via = 0; via < count; ++via) {
    if (!leads_on(via)) continue;
    for (std::size_t a = 0; a < count; ++a) {
      if (!relation[a][via]) continue;
      for (std::size_t b = 0; b < count; ++b) {
        if (relation[via][b]) relation[a][b] = true;
      }
    }
  }
}

OrderOracle::Relation OrderOracle::waits_by_way_of(
    const std::function<bool(std::size_t)>& leads_on) const {
  Relation all = waits_;
  close(all, leads_on);
  return all;
}

bool OrderOracle::is_config(std::size_t task) const {
  return plan_.tasks[task].kind() == TaskKind::Config;
}

bool OrderOracle::may_share(std::size_t a, std::size_t b) const {
  return is_config(a) && is_config(b) && node_of(plan_.tasks[a]) == node_of(plan_.tasks[b]);
}

// Ranks are raised until nothing has to be raised any more: callbacks and remotes stay at even
// ones, config tasks at odd ones.
std::vector<int> OrderOracle::ranks() const {
  const Relation bound = waits_by_way_of([&](std::size_t via) { return via >= plan_.planned; });
  std::vector<int> ranks;
  for (std::size_t i = 0; i < plan_.planned; ++i) ranks.push_back(is_config(i) ? 1 : 0);
  for (bool is_moved = true; is_moved;) {
    is_moved = false;
    for (std::size_t a = 0; a < plan_.planned; ++a) {
      for (std::size_t b = 0; b < plan_.planned; ++b) {
        if (a == b || !bound[a][b]) continue;
        if (may_share(a, b) ? ranks[a] >= ranks[b] : ranks[a] > ranks[b]) continue;
        ranks[a] += 2;
        is_moved = true;
      }
    }
  }
  return ranks;
}

bool OrderOracle::is_removal(std::size_t task) const {
  return plan_.placements[task].left_out == LeftOut::No &&
         site_.tree.find(plan_.tasks[task].item)->item().is_for_removal();
}

bool OrderOracle::is_reversed(std::size_t task) const {
  const auto* config = std::get_if<ConfigWork>(&plan_.tasks[task].work);
  return is_removal(task) || (config != nullptr && !config->persist);
}

bool OrderOracle::is_together(std::size_t a, std::size_t b) const {
  for (const std::size_t task : {a, b}) {
    if (plan_.placements[task].role != TaskRole::Ordinary ||
        plan_.placements[task].left_out == LeftOut::NodeForRemoval) {
      return false;
    }
  }
  return scope(a) == scope(b);
}

bool OrderOracle::says(std::size_t a, std::size_t b) const {
  if (!is_together(a, b) || is_removal(a) != is_removal(b)) return false;
  const auto* config = std::get_if<ConfigWork>(&plan_.tasks[b].work);
  const auto* remote = std::get_if<RemoteWork>(&plan_.tasks[a].work);
  const std::string node = node_of(plan_.tasks[a]);
  const auto is_on_its_node = [&] {
    if (remote == nullptr) return node.empty() || node == config->node.text();
    return std::find(remote->nodes.begin(), remote->nodes.end(), config->node) !=
           remote->nodes.end();
  };
  for (const Requirement& requirement : plan_.tasks[a].requirements) {
    if (const auto* task = std::get_if<RequiredTask>(&requirement)) {
      if (task->index == b) return true;
    } else if (const auto* item = std::get_if<RequiredItem>(&requirement)) {
      if (plan_.tasks[b].item.is_at_or_below(item->path)) return true;
    } else if (config != nullptr && config->call == std::get<RequiredCall>(requirement).call &&
               is_on_its_node()) {
      return true;
    }
  }
  return false;
}

// Config tasks on a node for items of its cluster count as those of the element of the same name.
Path OrderOracle::ordered_by(const Task& task) const {
  const auto* config = std::get_if<ConfigWork>(&task.work);
  if (config == nullptr || task.item.is_at_or_below(config->node)) return task.item;
  const auto segments = task.item.segments();
  if (segments.size() < 5 || segments[0] != "deployments") return task.item;
  const Path own = config->node.child(segments[4]);
  return site_.tree.find(own) == nullptr ? task.item : own;
}

bool OrderOracle::comes_after_sibling(std::size_t a, std::size_t b) const {
  if (!is_together(a, b) || is_reversed(a) != is_reversed(b)) return false;
  const std::string mine = node_of(plan_.tasks[a]);
  const std::string theirs = node_of(plan_.tasks[b]);
  if (!mine.empty() && !theirs.empty() && mine != theirs) return false;
  const Path later = ordered_by(plan_.tasks[a]);
  const Path earlier = ordered_by(plan_.tasks[b]);
  const auto x = later.segments();
  const auto y = earlier.segments();
  std::size_t i = 0;
  Path owner;
  while (i < x.size() && i < y.size() && x[i] == y[i]) owner = owner.child(x[i++]);
  if (i == x.size() || i == y.size()) return false;
  const model::Item& item = site_.tree.find(owner)->item();
  if (item.is_collection()) return false;
  const model::Element* element = item.type->find_element(is_reversed(a) ? y[i] : x[i]);
  const std::string other(is_reversed(a) ? x[i] : y[i]);
  return element != nullptr &&
         std::binary_search(element->after.begin(), element->after.end(), other);
}

}  // namespace muster::plan::testing
