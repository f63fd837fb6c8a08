#include "bench/plan_site.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "pack/shipped.h"

namespace muster::bench {
namespace {

constexpr std::size_t kNodesOfCluster = 1000;
constexpr std::size_t kClustersOfDeployment = 50;
constexpr std::size_t kThings = 8;  // items in each element of a node

using plan::Call;
using plan::CallbackWork;
using plan::ConfigWork;
using plan::RequiredCall;
using plan::RequiredItem;
using plan::RequiredTask;
using plan::Task;

Task callback(const model::Path& item, const std::string& method) {
  Task task;
  task.plugin = "services";
  task.item = item;
  task.description = "Call " + method;
  task.work = CallbackWork{method};
  return task;
}

Task config(const model::Path& node, const model::Path& item, Call call) {
  Task task;
  task.plugin = "packages";
  task.item = item;
  task.description = fmt::format("Put {} '{}'", call.type, call.id);
  task.work = ConfigWork{.node = node,
                         .call = std::move(call),
                         .attributes = R"({"ensure":"present","version":"1"})",
                         .replaces = {},
                         .persist = true};
  return task;
}

}  // namespace

PlanSite::PlanSite(pack::LoadedPacks packs) : packs_(std::move(packs)) {}

Result<PlanSite> PlanSite::make(std::size_t nodes) {
  MUSTER_TRY_ASSIGN(const pack::LoadRequest request, pack::all_packs({}));
  pack::LoadedPacks packs = pack::load_packs(request);
  if (!packs.good()) {
    return fail(ErrorCode::Internal, "the shipped packs have {} problems", packs.problems.size());
  }
  PlanSite site(std::move(packs));
  site.add_nodes(nodes);
  return site;
}

model::ItemPtr PlanSite::item(std::string_view type,
                              std::initializer_list<model::Properties::Entry> own) {
  model::Item made;
  made.type = packs_.schema->find_item_type(type);
  model::Properties properties;
  for (const auto& [name, value] : own) {
    // The name as the schema has it: it must last as long as the model.
    const model::Property* property = made.type->find_property(name);
    MUSTER_CHECK(property != nullptr, "the shipped type {} has no property '{}'", type, name);
    properties.set(property->definition.name, value);
  }
  made.own = model::share(std::move(properties));
  made.state = model::ItemState::Applied;
  return std::make_shared<const model::Item>(std::move(made));
}

model::ItemPtr PlanSite::collection(const model::Element& element) {
  model::Item made;
  made.type = element.type;
  made.item_class =
      element.is_reference() ? model::ItemClass::RefCollection : model::ItemClass::Collection;
  made.state = model::ItemState::Applied;
  return std::make_shared<const model::Item>(std::move(made));
}

void PlanSite::add_elements(const model::Node& place) {
  for (const model::Element& element : place.item().type->elements) {
    const std::string& name = element.definition.name;
    if (element.is_collection()) {
      tree_->add(place, name, collection(element));
    } else if (element.definition.kind == model::ElementKind::Child &&
               element.definition.required) {
      add_elements(tree_->add(place, name, item(element.type->id, {})));
    }
  }
}

void PlanSite::add_nodes(std::size_t count) {
  tree_ = std::make_unique<model::Tree>(item("root", {}));
  add_elements(tree_->root());
  const model::Node* nodes = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kNodesOfCluster == 0) nodes = &add_cluster(i / kNodesOfCluster);
    add_node(*nodes, i);
  }
}

const model::Node& PlanSite::add_cluster(std::size_t number) {
  const model::Node& deployments = *tree_->root().find_child("deployments");
  const std::string id = fmt::format("site{}", number / kClustersOfDeployment);
  const model::Node* deployment = deployments.find_child(id);
  if (deployment == nullptr) {
    deployment = &tree_->add(deployments, id, item("deployment", {}));
    add_elements(*deployment);
  }
  const bool is_first = number % kClustersOfDeployment == 0;
  const bool depends = number % 3 != 0 && !is_first;
  const model::Node& cluster = tree_->add(
      *deployment->find_child("clusters"), fmt::format("c{:04}", number),
      item("cluster",
           {{"dependency_list", depends ? fmt::format("c{:04}", number - 1) : std::string()},
            {"ha_manager", number % 4 == 0 ? "vcs" : ""}}));
  add_elements(cluster);
  clusters_.push_back(cluster.path());
  return *cluster.find_child("nodes");
}

void PlanSite::add_node(const model::Node& nodes, std::size_t number) {
  const model::Node& node = tree_->add(nodes, fmt::format("n{:06}", number),
                                       item("node", {{"hostname", fmt::format("n{}", number)}}));
  add_elements(node);
  nodes_.push_back(node.path());
  tree_->add(node, "os", item("os-profile", {{"name", "debian"}, {"version", "12"}}));
  tree_->add(*node.find_child("network_interfaces"), "eth0",
             item("network-interface", {{"device_name", "eth0"}}));
  for (std::size_t i = 0; i < kThings; ++i) {
    const std::string id = fmt::format("t{}", i);
    tree_->add(*node.find_child("items"), id, item("package", {{"name", id}}));
    tree_->add(*node.find_child("managed_files"), id, item("file", {{"path", "/etc/" + id}}));
    tree_->add(*node.find_child("services"), id, item("systemd-service", {{"unit", id}}));
  }
}

std::vector<plan::Task> PlanSite::tasks(std::size_t per_node) const {
  std::vector<Task> tasks;
  tasks.reserve(nodes_.size() * per_node + clusters_.size());
  for (const model::Path& node : nodes_) {
    const std::size_t first = tasks.size();
    for (std::size_t i = 0; tasks.size() - first < per_node; ++i) {
      const std::string id = fmt::format("t{}", i / 3 % kThings);
      const std::string name = fmt::format("{}-{}", id, i);
      if (i == 0) {
        tasks.push_back(callback(node.child("os"), "wait_for_node"));
      } else if (i == 1) {
        tasks.push_back(config(node, node.child("network_interfaces").child("eth0"),
                               {"network_interface", "eth0"}));
      } else if (i % 3 == 2) {
        tasks.push_back(config(node, node.child("items").child(id), {"package", name}));
      } else if (i % 3 == 0) {
        tasks.push_back(config(node, node.child("managed_files").child(id), {"file", name}));
        const auto& before = std::get<ConfigWork>(tasks[tasks.size() - 2].work).call;
        tasks.back().requirements = {RequiredCall{before}};
      } else if (tasks.size() - first + 1 == per_node) {
        tasks.push_back(callback(node.child("services").child(id), "restart"));
        tasks.back().requirements = {RequiredTask{tasks.size() - 2}};
      } else {
        tasks.push_back(config(node, node.child("services").child(id), {"service", name}));
        tasks.back().requirements = {RequiredItem{node.child("managed_files").child(id)},
                                     RequiredTask{tasks.size() - 2}};
      }
    }
  }
  for (const model::Path& cluster : clusters_) tasks.push_back(callback(cluster, "check"));
  return tasks;
}

std::vector<plan::LockPair> PlanSite::lock(const std::vector<model::Path>& nodes) const {
  std::vector<plan::LockPair> pairs;
  pairs.reserve(nodes.size());
  for (const model::Path& node : nodes) {
    pairs.push_back({node, callback(node, "lock"), callback(node, "unlock")});
  }
  return pairs;
}

}  // namespace muster::bench
