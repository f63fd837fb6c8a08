#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "model/edit.h"
#include "model/test_types.h"
#include "plugin/task_codec.h"

namespace {

const muster::plugin::Snapshot& snapshot() {
  static const muster::plugin::Snapshot kSnapshot = [] {
    namespace model = muster::model;
    const model::SchemaPtr schema = model::testing::test_schema();
    model::Tree tree = model::empty_model(*schema);
    const auto path = [](const char* text) { return *model::Path::parse(text); };
    const auto made = model::edit(
        tree, *schema,
        {model::CreateItem{path("/deployments"), "d", "deployment", {}},
         model::CreateItem{path("/deployments/d/clusters"), "c", "cluster", {}},
         model::CreateItem{
             path("/deployments/d/clusters/c/nodes"), "n", "node", {{"hostname", "n"}}}},
        model::Actor::User);
    MUSTER_CHECK(made.ok(), "the model of the fuzz target");
    return muster::plugin::Snapshot(tree, schema, 1);
  }();
  return kSnapshot;
}

bool is_there(const muster::model::Path& path) {
  return snapshot().find(path) != muster::plugin::Snapshot::kNone;
}

}  // namespace

// Any list of documents becomes tasks that name only what is there, or is refused with reasons.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace plan = muster::plan;
  auto document = muster::parse_json({reinterpret_cast<const char*>(data), size});
  if (!document) return 0;
  const std::vector<std::string> callbacks = {"reboot"};
  muster::plugin::TaskDecoder decoder("fuzz", snapshot(), callbacks);
  decoder.add(std::move(*document));
  decoder.finish();
  for (const std::string& problem : decoder.problems()) {
    MUSTER_CHECK(problem.starts_with("task ") || problem.starts_with("and ") ||
                     problem.starts_with("the tasks are "),
                 "{}", problem);
  }
  if (!decoder.problems().empty()) return 0;
  const std::vector<plan::Task> tasks = std::move(decoder).take();
  for (const plan::Task& task : tasks) {
    MUSTER_CHECK(is_there(task.item), "an item that is not there");
    for (const plan::Requirement& requirement : task.requirements) {
      const auto* required = std::get_if<plan::RequiredTask>(&requirement);
      MUSTER_CHECK(required == nullptr || required->index < tasks.size(), "a task of nobody");
    }
    if (const auto* config = std::get_if<plan::ConfigWork>(&task.work)) {
      MUSTER_CHECK(is_there(config->node), "a node that is not there");
      MUSTER_CHECK(!config->call.type.empty() && !config->call.id.empty(), "a nameless resource");
      MUSTER_CHECK(muster::parse_json(config->attributes), "attributes that are no JSON");
    }
  }
  return 0;
}
