#include "bench/model_site.h"

#include <fmt/format.h>

#include <memory>

#include "base/check.h"
#include "model/lifecycle.h"
#include "store/model_codec.h"

namespace muster::bench {
namespace {

using model::Declaration;
using model::ElementKind;
using model::Path;

model::PropertyTypeDefinition property_type(std::string id, std::optional<std::string> regex,
                                            std::vector<model::ValueCheck> checks) {
  model::PropertyTypeDefinition type;
  type.id = std::move(id);
  type.regex = std::move(regex);
  type.checks = std::move(checks);
  return type;
}

model::PropertyDefinition property(std::string name, std::string type) {
  model::PropertyDefinition definition;
  definition.name = std::move(name);
  definition.type = std::move(type);
  return definition;
}

model::PropertyDefinition required(std::string name, std::string type) {
  model::PropertyDefinition definition = property(std::move(name), std::move(type));
  definition.required = true;
  return definition;
}

model::ElementDefinition element(std::string name, ElementKind kind, std::string type) {
  model::ElementDefinition definition;
  definition.name = std::move(name);
  definition.kind = kind;
  definition.type = std::move(type);
  definition.max = 1'000'000;
  return definition;
}

model::ElementDefinition always(std::string name, std::string type) {
  model::ElementDefinition definition =
      element(std::move(name), ElementKind::Child, std::move(type));
  definition.required = true;
  return definition;
}

model::ItemTypeDefinition item_type(std::string id,
                                    std::vector<model::PropertyDefinition> properties,
                                    std::vector<model::ElementDefinition> elements) {
  model::ItemTypeDefinition definition;
  definition.id = std::move(id);
  definition.properties = std::move(properties);
  definition.elements = std::move(elements);
  return definition;
}

model::PackDefinition site_pack() {
  model::PropertyDefinition ensure = property("ensure", "word");
  ensure.default_value = "installed";
  model::PackDefinition pack;
  pack.name = "core";
  pack.version = "1.0";
  pack.property_types = {
      property_type("text", std::nullopt, {}),
      property_type("word", "[a-z0-9][a-z0-9.+-]*", {model::LengthCheck{64}}),
      property_type("path", "/[A-Za-z0-9_./-]*", {model::LengthCheck{255}}),
      property_type("size", "[0-9]+[KMGT]", {}),
      property_type("node_id", std::nullopt, {model::IntegerRangeCheck{1, 10'000'000}}),
      property_type("address", std::nullopt, {model::IpAddressCheck{model::IpVersion::V4}}),
  };
  pack.item_types = {
      item_type("root", {},
                {always("software", "software"), always("infrastructure", "infrastructure"),
                 element("deployments", ElementKind::Collection, "deployment")}),
      item_type("software", {}, {element("items", ElementKind::Collection, "package")}),
      item_type("infrastructure", {}, {element("systems", ElementKind::Collection, "system")}),
      item_type("system", {required("system_name", "word"), property("serial", "word")},
                {element("disks", ElementKind::Collection, "disk")}),
      item_type("disk", {required("name", "word"), required("size", "size")}, {}),
      item_type("package", {required("name", "word"), property("version", "word"), ensure}, {}),
      item_type("deployment", {}, {element("clusters", ElementKind::Collection, "cluster")}),
      item_type("cluster", {}, {element("nodes", ElementKind::Collection, "node")}),
      item_type("node", {required("hostname", "word"), property("node_id", "node_id")},
                {element("system", ElementKind::Reference, "system"),
                 element("items", ElementKind::RefCollection, "package"),
                 element("configs", ElementKind::Collection, "config"),
                 element("network_interfaces", ElementKind::Collection, "interface")}),
      item_type("config",
                {required("path", "path"), required("value", "text"), property("mode", "word")},
                {}),
      item_type("interface", {required("device", "word"), property("address", "address")}, {}),
  };
  return pack;
}

Path path_of(std::string_view text) {
  Result<Path> path = Path::parse(text);
  MUSTER_CHECK(path, "{}", text);
  return *path;
}

std::string cluster_id(std::size_t node) { return fmt::format("c{}", node / kClusterNodes); }
std::string node_id(std::size_t node) { return fmt::format("n{}", node); }
std::string system_id(std::size_t node) { return fmt::format("s{}", node); }
std::string package_id(std::size_t number) { return fmt::format("package-{}", number % kPackages); }

Declaration item(std::string type, model::GivenProperties properties) {
  Declaration declaration;
  declaration.type = std::move(type);
  declaration.properties = std::move(properties);
  return declaration;
}

Declaration inherited(Path source) {
  Declaration declaration;
  declaration.inherit = std::move(source);
  return declaration;
}

Declaration node_declaration(std::size_t node) {
  Declaration made = item(
      "node", {{"hostname", fmt::format("host-{}", node)}, {"node_id", std::to_string(node + 1)}});
  made.children["system"] = inherited(path_of("/infrastructure/systems/" + system_id(node)));
  Declaration& items = made.children["items"];
  for (std::size_t i = 0; i < kNodePackages; ++i) {
    const std::string id = package_id(node * 7 + i);
    items.children[id] = inherited(path_of("/software/items/" + id));
  }
  Declaration& configs = made.children["configs"];
  for (std::size_t i = 0; i < kNodeConfigs; ++i) {
    configs.children[fmt::format("config-{}", i)] =
        item("config", {{"path", fmt::format("/etc/service/{}.conf", i)},
                        {"value", fmt::format("setting {} of host {}", i, node)},
                        {"mode", "0644"}});
  }
  Declaration& interfaces = made.children["network_interfaces"];
  for (std::size_t i = 0; i < kNodeInterfaces; ++i) {
    interfaces.children[fmt::format("if{}", i)] =
        item("interface", {{"device", fmt::format("eth{}", i)},
                           {"address", fmt::format("10.{}.{}.{}", node / 65536 % 256,
                                                   node / 256 % 256, node % 256)}});
  }
  return made;
}

constexpr std::size_t kItemsPerBatch = 20'000;

Result<void> store_items(store::Store& store, store::Batch& batch, const model::Node& node) {
  store::append_model(batch, core::PutItem{node.path(), node.item_ptr()});
  if (batch.records.size() >= kItemsPerBatch) {
    MUSTER_TRY(store.commit(batch));
    batch.records.clear();
  }
  for (const auto& child : node.children()) MUSTER_TRY(store_items(store, batch, *child));
  return {};
}

}  // namespace

model::SchemaPtr site_schema() {
  model::BuiltSchema built = model::build_schema({site_pack()});
  for (const model::DefinitionError& error : built.errors) MUSTER_CHECK(false, "{}", error.message);
  return built.schema;
}

Declaration site_declaration(std::size_t nodes) {
  Declaration root;
  Declaration& packages = root.children["software"].children["items"];
  for (std::size_t i = 0; i < kPackages; ++i) {
    packages.children[package_id(i)] =
        item("package", {{"name", fmt::format("name-{}", i)}, {"version", "1.2.3"}});
  }
  Declaration& systems = root.children["infrastructure"].children["systems"];
  Declaration& deployment = root.children["deployments"].children["site"];
  deployment.type = "deployment";
  Declaration& clusters = deployment.children["clusters"];
  for (std::size_t node = 0; node < nodes; ++node) {
    Declaration system = item("system", {{"system_name", fmt::format("machine-{}", node)},
                                         {"serial", fmt::format("sn{:010}", node)}});
    system.children["disks"].children["d0"] = item("disk", {{"name", "sda"}, {"size", "100G"}});
    systems.children[system_id(node)] = std::move(system);
    Declaration& cluster = clusters.children[cluster_id(node)];
    cluster.type = "cluster";
    cluster.children["nodes"].children[node_id(node)] = node_declaration(node);
  }
  return root;
}

std::size_t count_declared(const Declaration& declaration) {
  std::size_t count = 1;
  for (const auto& [id, child] : declaration.children) count += count_declared(child);
  return count;
}

Path node_path(std::size_t number) {
  return path_of("/deployments/site/clusters")
      .child(cluster_id(number))
      .child("nodes")
      .child(node_id(number));
}

Result<std::size_t> store_site(store::Store& store, std::size_t nodes,
                               const model::SchemaPtr& schema) {
  model::Tree tree = model::empty_model(*schema);
  const model::EditOutcome made =
      model::apply(tree, *schema, Path(), site_declaration(nodes), model::Prune::Nothing);
  if (!made.ok()) return fail(ErrorCode::Internal, "a site was refused");
  (void)model::plan_ended(tree, true, {});
  store::Batch batch;
  MUSTER_TRY_ASSIGN(batch.term, store.acquire_term());
  MUSTER_TRY(store_items(store, batch, tree.root()));
  auto revision = std::make_shared<core::Revision>();
  revision->number = 1;
  revision->changes = std::make_shared<const model::ChangeSet>();
  store::append_model(batch, core::PutRevision{std::move(revision)});
  store::append_model(batch, core::PutModelPacks{model::versions_of(*schema)});
  MUSTER_TRY(store.commit(batch));
  return tree.size();
}

std::size_t text_bytes(const model::Node& node) {
  std::size_t bytes = node.id().size();
  const model::Item& item = node.item();
  if (item.source) bytes += item.source->text().size();
  if (item.own) {
    for (const auto& [name, value] : *item.own) bytes += value.size();
  }
  for (const auto& child : node.children()) bytes += text_bytes(*child);
  return bytes;
}

}  // namespace muster::bench
