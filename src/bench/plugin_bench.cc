#include <sys/stat.h>

#include <fstream>
#include <memory>

#include "bench/benchmarks.h"
#include "bench/process.h"
#include "bench/samples.h"
#include "bench/scratch.h"
#include "bench/stopwatch.h"
#include "model/edit.h"
#include "plugin/host.h"

namespace muster::bench {
namespace {

constexpr std::size_t kPackagesOfANode = 100;

// What a plugin of this kind usually looks like: nodes, what is on them, a task for each.
constexpr const char* kProgram = R"(#!/usr/bin/env python3
from muster_plugin import ConfigTask, Plugin, run


class Packages(Plugin):
    def create_configuration(self, ctx):
        tasks = []
        for node in ctx.query("node"):
            for package in node.query("package", is_initial=True):
                tasks.append(ConfigTask(node, package, f"install {package.name}", "package",
                                        package.name, ensure="installed",
                                        version=package.version))
        return tasks


run(Packages)
)";

model::SchemaPtr make_schema() {
  model::PackDefinition pack;
  pack.name = "packages";
  pack.version = "1.0";
  pack.has_plugin = true;
  model::PropertyTypeDefinition text;
  text.id = "text";
  pack.property_types = {text};
  const auto property = [](const char* name) {
    model::PropertyDefinition definition;
    definition.name = name;
    definition.type = "text";
    return definition;
  };
  const auto type = [](const char* id, std::vector<model::PropertyDefinition> properties,
                       const char* element, const char* member) {
    model::ItemTypeDefinition definition;
    definition.id = id;
    definition.properties = std::move(properties);
    if (element != nullptr) {
      model::ElementDefinition below;
      below.name = element;
      below.kind = model::ElementKind::Collection;
      below.type = member;
      definition.elements = {below};
    }
    return definition;
  };
  pack.item_types = {type("root", {}, "deployments", "deployment"),
                     type("deployment", {}, "clusters", "cluster"),
                     type("cluster", {}, "nodes", "node"),
                     type("node", {property("hostname")}, "items", "package"),
                     type("package", {property("name"), property("version")}, nullptr, nullptr)};
  return model::build_schema({pack}).schema;
}

Result<model::Tree> make_tree(const model::Schema& schema, std::size_t items) {
  model::Tree tree = model::empty_model(schema);
  const model::Path nodes = *model::Path::parse("/deployments/d/clusters/c/nodes");
  std::vector<model::Operation> operations = {
      model::CreateItem{*model::Path::parse("/deployments"), "d", "deployment", {}},
      model::CreateItem{*model::Path::parse("/deployments/d/clusters"), "c", "cluster", {}}};
  model::Path on;
  for (std::size_t i = 0; i < items; ++i) {
    if (i % kPackagesOfANode == 0) {
      const std::string id = fmt::format("node{}", i / kPackagesOfANode);
      operations.push_back(model::CreateItem{nodes, id, "node", {{"hostname", id}}});
      on = nodes.child(id).child("items");
    }
    const std::string id = fmt::format("package{}", i % kPackagesOfANode);
    operations.push_back(
        model::CreateItem{on, id, "package", {{"name", id}, {"version", "1.2.3-4"}}});
  }
  const model::EditOutcome made = model::edit(tree, schema, operations, model::Actor::User);
  if (made.ok()) return tree;
  return fail(ErrorCode::Internal, "cannot make the model: {}", made.errors.front().message);
}

}  // namespace

Result<Json> run_plugin(const PluginOptions& options, const Host& host) {
  MUSTER_TRY_ASSIGN(const Scratch scratch, Scratch::make(options.place, host));
  const std::string program = scratch.path() + "/plugin";
  std::ofstream(program) << kProgram;
  if (::chmod(program.c_str(), 0755) != 0) {
    return fail(ErrorCode::IoError, "cannot make {} executable", program);
  }
  const model::SchemaPtr schema = make_schema();
  host.say(fmt::format("making a model of {} items\n", options.items));
  MUSTER_TRY_ASSIGN(const model::Tree tree, make_tree(*schema, options.items));

  plugin::HostOptions with;
  with.session.sdk = options.sdk;
  with.session.muster_version = "bench";
  with.call_timeout = Duration::minutes(10);
  with.session.limits.memory_bytes = std::uint64_t{16} << 30;
  plugin::PluginHost plugins({{"packages", "1.0", program, scratch.path()}}, schema, with);
  host.say("asking the plugin\n");
  const Stopwatch watch;
  const auto snapshot = std::make_shared<plugin::Snapshot>(tree, schema, 1);
  const double snapshot_seconds = watch.seconds();
  const std::vector<plugin::PluginFailure> failures = plugins.check_all();
  const double start_seconds = watch.seconds() - snapshot_seconds;
  if (!failures.empty()) return fail(ErrorCode::Internal, "{}", failures.front().message());
  const auto answer = plugins.create_configuration(snapshot);
  const double seconds = watch.seconds();
  if (!answer.good()) return fail(ErrorCode::Internal, "{}", answer.failures.front().message());
  if (answer.value.size() != options.items) {
    return fail(ErrorCode::Internal, "{} tasks for {} items", answer.value.size(), options.items);
  }
  return Json{{"bench", "plugin"},
              {"count", options.items},
              {"seconds", rounded(seconds, 3)},
              {"rate_per_s", rounded(static_cast<double>(options.items) / seconds, 1)},
              {"snapshot_seconds", rounded(snapshot_seconds, 3)},
              {"start_seconds", rounded(start_seconds, 3)}};
}

}  // namespace muster::bench
