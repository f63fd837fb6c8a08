#include "model/test_types.h"

#include "base/check.h"

namespace muster::model::testing {
namespace {

PropertyDefinition property(std::string name, std::string type = "any") {
  PropertyDefinition definition;
  definition.name = std::move(name);
  definition.type = std::move(type);
  return definition;
}

PropertyDefinition required(std::string name, std::string type = "any") {
  PropertyDefinition definition = property(std::move(name), std::move(type));
  definition.required = true;
  return definition;
}

ElementDefinition element(std::string name, ElementKind kind, std::string type) {
  ElementDefinition definition;
  definition.name = std::move(name);
  definition.kind = kind;
  definition.type = std::move(type);
  return definition;
}

ElementDefinition always(std::string name, std::string type) {
  ElementDefinition definition = element(std::move(name), ElementKind::Child, std::move(type));
  definition.required = true;
  return definition;
}

ItemTypeDefinition item_type(std::string id, std::vector<PropertyDefinition> properties,
                             std::vector<ElementDefinition> elements) {
  ItemTypeDefinition definition;
  definition.id = std::move(id);
  definition.properties = std::move(properties);
  definition.elements = std::move(elements);
  return definition;
}

std::vector<PropertyTypeDefinition> property_types() {
  PropertyTypeDefinition any;
  any.id = "any";
  PropertyTypeDefinition word;
  word.id = "word";
  word.regex = "[a-z0-9-]+";
  word.description = "lower-case letters, digits and '-'";
  PropertyTypeDefinition number;
  number.id = "number";
  number.checks = {IntegerCheck{}};
  return {any, word, number};
}

ItemTypeDefinition node_type() {
  PropertyDefinition locked = property("is_locked");
  locked.default_value = "false";
  locked.user_may_update = false;
  locked.plugin_may_update = true;
  locked.plugin_only = true;
  PropertyDefinition password = property("password", "word");
  password.secret = true;
  ElementDefinition system = element("system", ElementKind::Reference, "system");
  system.required = true;
  system.exclusive = true;
  ElementDefinition profile = element("profile", ElementKind::Reference, "package");
  profile.read_only = true;
  return item_type("node", {required("hostname", "word"), locked, password},
                   {system, profile, element("items", ElementKind::RefCollection, "package"),
                    element("configs", ElementKind::Collection, "config")});
}

ItemTypeDefinition package_type() {
  PropertyDefinition version = property("version");
  version.default_value = "1";
  PropertyDefinition note = property("note");
  note.configuration = false;
  return item_type("package", {required("name", "word"), version, note}, {});
}

ItemTypeDefinition bundle_type() {
  ItemTypeDefinition bundle =
      item_type("bundle", {}, {element("parts", ElementKind::Collection, "package")});
  bundle.extends = "package";
  return bundle;
}

ItemTypeDefinition config_type() {
  ItemTypeDefinition config = item_type(
      "config",
      {required("key"), property("value"), property("low", "number"), property("high", "number")},
      {});
  config.checks = {OnePropertyCheck{{"value", "low"}}, MaxValueCheck{"low", "high"}};
  return config;
}

}  // namespace

PackDefinition test_pack() {
  ElementDefinition clusters = element("clusters", ElementKind::Collection, "cluster");
  clusters.min = 1;
  clusters.max = 2;
  PackDefinition pack;
  pack.name = "core";
  pack.version = "1.0";
  pack.property_types = property_types();
  pack.item_types = {
      item_type("root", {},
                {always("ms", "ms"), always("software", "software"),
                 always("infrastructure", "infrastructure"),
                 element("deployments", ElementKind::Collection, "deployment")}),
      item_type("ms", {}, {element("items", ElementKind::RefCollection, "package")}),
      item_type("software", {}, {element("items", ElementKind::Collection, "package")}),
      item_type("infrastructure", {}, {element("systems", ElementKind::Collection, "system")}),
      item_type("system", {required("serial")},
                {element("disks", ElementKind::Collection, "disk")}),
      item_type("disk", {property("size", "number")}, {}),
      item_type("deployment", {}, {clusters}),
      item_type("cluster", {}, {element("nodes", ElementKind::Collection, "node")}),
      node_type(),
      package_type(),
      bundle_type(),
      config_type(),
  };
  return pack;
}

SchemaPtr test_schema() {
  BuiltSchema built = build_schema({test_pack()});
  for (const DefinitionError& error : built.errors) {
    MUSTER_CHECK(false, "{}", error.message);
  }
  return built.schema;
}

}  // namespace muster::model::testing
