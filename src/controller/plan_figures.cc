#include <algorithm>
#include <map>
#include <set>

#include "controller/plan_pipeline.h"

namespace muster::controller {
namespace {

constexpr const char* kSecret = "***";

bool is_secret(const model::ItemType& type, std::string_view name) {
  const model::Property* property = type.find_property(name);
  return property != nullptr && property->definition.secret;
}

std::vector<core::PropertyChange> changes_of(const model::Node& node) {
  const model::Item& item = node.item();
  const model::PropertiesPtr now = node.merged();
  std::set<std::string_view> names;
  for (const model::PropertiesPtr* side : {&now, &item.applied}) {
    if (!*side) continue;
    for (const auto& [name, value] : **side) names.insert(name);
  }
  std::vector<core::PropertyChange> changes;
  for (const std::string_view name : names) {
    const std::string* before = model::find(item.applied, name);
    // What is removed ends with nothing.
    const std::string* after = item.is_for_removal() ? nullptr : model::find(now, name);
    // Where what is on the hosts is not known, everything is done again.
    if (item.determinable && before && after && *before == *after) continue;
    const bool secret = is_secret(*item.type, name);
    const auto shown = [secret](const std::string* value) -> std::optional<std::string> {
      if (value == nullptr) return std::nullopt;
      return secret ? std::string(kSecret) : *value;
    };
    changes.push_back({std::string(name), shown(before), shown(after)});
  }
  return changes;
}

void add_nodes(const plan::Task& task, std::set<model::Path>& nodes) {
  if (const auto* config = std::get_if<plan::ConfigWork>(&task.work)) nodes.insert(config->node);
  if (const auto* remote = std::get_if<plan::RemoteWork>(&task.work)) {
    nodes.insert(remote->nodes.begin(), remote->nodes.end());
  }
}

// Clusters whose phases stand at the same distance from the beginning can run at the same time.
std::uint64_t most_at_once(const plan::Plan& plan) {
  std::vector<std::size_t> depth(plan.phases.size());
  std::map<std::size_t, std::set<std::uint32_t>> clusters;
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    for (const std::uint32_t after : plan.phases[i].after) {
      depth[i] = std::max(depth[i], depth[after] + 1);
    }
    if (plan.phases[i].cluster != plan::kNone) clusters[depth[i]].insert(plan.phases[i].cluster);
  }
  std::size_t most = 0;
  for (const auto& [at, each] : clusters) most = std::max(most, each.size());
  return most;
}

}  // namespace

core::PlanSummary summarise(const plan::Plan& plan, const model::Tree& tree) {
  core::PlanSummary summary;
  std::set<model::Path> items;
  std::set<model::Path> nodes;
  for (std::size_t i = 0; i < plan.planned; ++i) {
    items.insert(plan.tasks[i].item);
    items.insert(plan.tasks[i].model_items.begin(), plan.tasks[i].model_items.end());
    add_nodes(plan.tasks[i], nodes);
  }
  for (const model::Path& path : items) {
    const model::Node* node = tree.find(path);
    if (!node || node->item().is_collection()) continue;
    if (node->item().is_for_removal()) {
      ++summary.remove;
    } else if (node->item().state == model::ItemState::Initial) {
      ++summary.add;
    } else {
      ++summary.change;
    }
  }
  std::set<std::uint32_t> clusters;
  for (const plan::Phase& phase : plan.phases) {
    if (phase.cluster != plan::kNone) clusters.insert(phase.cluster);
  }
  summary.tasks = plan.planned;
  summary.phases = plan.phases.size();
  summary.nodes = nodes.size();
  summary.clusters = clusters.size();
  summary.parallel = most_at_once(plan);
  summary.left_out = plan.tasks.size() - plan.planned;
  return summary;
}

std::vector<core::PlanBody::About> describe_items(const plan::Plan& plan, const model::Tree& tree) {
  std::vector<core::PlanBody::About> about(plan.tasks.size());
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const model::Node* node = tree.find(plan.tasks[i].item);
    if (!node) continue;
    about[i].state = node->item().state;
    about[i].changes = changes_of(*node);
  }
  return about;
}

}  // namespace muster::controller
