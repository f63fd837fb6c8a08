#include "plan/test_world.h"

#include "base/check.h"

namespace muster::plan::testing {
namespace {

using model::ElementDefinition;
using model::ElementKind;
using model::ItemTypeDefinition;
using model::PropertyDefinition;

PropertyDefinition property(std::string name) {
  PropertyDefinition definition;
  definition.name = std::move(name);
  definition.type = "any";
  definition.plugin_may_update = true;
  return definition;
}

ElementDefinition child(std::string name, std::string type, std::vector<std::string> require = {}) {
  ElementDefinition definition;
  definition.name = std::move(name);
  definition.kind = ElementKind::Child;
  definition.type = std::move(type);
  definition.require = std::move(require);
  return definition;
}

ElementDefinition always(std::string name, std::string type) {
  ElementDefinition definition = child(std::move(name), std::move(type));
  definition.required = true;
  return definition;
}

ElementDefinition many(std::string name, std::string type, std::vector<std::string> require = {}) {
  ElementDefinition definition = child(std::move(name), std::move(type), std::move(require));
  definition.kind = ElementKind::Collection;
  return definition;
}

ItemTypeDefinition item_type(std::string id, std::vector<PropertyDefinition> properties,
                             std::vector<ElementDefinition> elements, std::string extends = {}) {
  ItemTypeDefinition definition;
  definition.id = std::move(id);
  definition.properties = std::move(properties);
  definition.elements = std::move(elements);
  if (!extends.empty()) definition.extends = std::move(extends);
  return definition;
}

Condition condition(std::vector<TaskKind> tasks) {
  Condition made;
  made.tasks = std::move(tasks);
  return made;
}

Condition on(NodeKind node) {
  Condition made = condition({TaskKind::Config});
  made.node = node;
  return made;
}

Condition below(std::string type) {
  Condition made = condition({TaskKind::Callback, TaskKind::Remote});
  made.item_below = std::move(type);
  return made;
}

Condition not_below(std::string type) {
  Condition made = condition({TaskKind::Callback, TaskKind::Remote});
  made.item_not_below = std::move(type);
  return made;
}

Group group(const std::string& name, const std::string& before) {
  Group made;
  made.name = "DEPLOYMENT_" + name + "_GROUP";
  made.tag = "DEPLOYMENT_" + name + "_TAG";
  if (!before.empty()) made.requires_groups = {"DEPLOYMENT_" + before + "_GROUP"};
  return made;
}

Group on_ms(Group made) {
  made.constraints = {{on(NodeKind::Ms), "only the management server is sure to be up"},
                      {not_below("deployment"), "only the management server is sure to be up"}};
  return made;
}

Group per_cluster(Group made, const std::string& type) {
  made.per_cluster = true;
  made.constraints = {{on(NodeKind::Managed), "the management server is in no cluster"},
                      {below(type), "the group is sorted by where the item is"}};
  return made;
}

}  // namespace

model::SchemaPtr test_schema() {
  model::PropertyTypeDefinition any;
  any.id = "any";
  model::PackDefinition pack;
  pack.name = "core";
  pack.version = "1.0";
  pack.property_types = {any};
  pack.item_types = {
      item_type(
          "root", {},
          {always("ms", "ms"), always("software", "software"), many("deployments", "deployment")}),
      item_type("ms", {}, {many("items", "thing")}),
      item_type("software", {}, {many("items", "thing")}),
      item_type("deployment", {}, {many("clusters", "cluster-base")}),
      item_type("cluster-base", {property("dependency_list")}, {many("nodes", "node")}),
      item_type("cluster", {property("ha_manager")},
                {many("software", "thing", {"nodes"}), many("services", "thing", {"software"}),
                 many("configs", "thing", {"nodes"})},
                "cluster-base"),
      item_type("lone-cluster", {}, {}, "cluster-base"),
      item_type("node", {property("is_locked")},
                {child("os", "thing"), many("networks", "thing", {"os"}),
                 many("disks", "thing", {"networks"}), many("items", "thing", {"disks"}),
                 many("services", "thing", {"disks"}), many("configs", "thing", {"disks"})}),
      item_type("thing", {property("value")}, {many("parts", "thing")}),
  };
  const model::BuiltSchema built = model::build_schema({pack});
  for (const model::DefinitionError& error : built.errors) {
    MUSTER_CHECK(false, "{}", error.message);
  }
  return built.schema;
}

Ruleset test_ruleset(const model::Schema& schema) {
  Group ms = on_ms(group("MS", ""));
  ms.takes_unmatched = true;
  ms.criteria = {on(NodeKind::Ms), below("ms")};
  Group upgrade_boot = per_cluster(group("UPGRADE_BOOT", "PRE_NODE_CLUSTER"), "node");
  upgrade_boot.lockable = true;
  Condition boot_again = condition({TaskKind::Callback});
  boot_again.tag = "DEPLOYMENT_BOOT_TAG";
  boot_again.item_below = "node";
  boot_again.initial_locks = true;
  upgrade_boot.criteria = {boot_again};
  Group node = per_cluster(group("NODE", "UPGRADE_BOOT"), "node");
  node.lockable = true;
  node.criteria = {on(NodeKind::Managed), below("node")};
  Group cluster = per_cluster(group("CLUSTER", "NODE"), "cluster-base");
  cluster.criteria = {below("cluster-base")};
  BuiltRuleset built = build_ruleset(
      {group("PRE_CLUSTER", "BOOT"), ms, upgrade_boot, node, cluster, on_ms(group("BOOT", "MS")),
       per_cluster(group("PRE_NODE_CLUSTER", "PRE_CLUSTER"), "cluster-base"),
       group("POST_CLUSTER", "CLUSTER")},
      schema);
  for (const model::DefinitionError& error : built.errors) {
    MUSTER_CHECK(false, "{}", error.message);
  }
  return *built.ruleset;
}

}  // namespace muster::plan::testing
