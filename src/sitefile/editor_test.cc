#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json.h"
#include "model/edit.h"
#include "model/json_schema.h"
#include "model/test_types.h"
#include "model/test_validator.h"
#include "sitefile/site.h"

// What an editor says of a model file, by model::json_schema_of(), and what reading and applying it
// say.

namespace muster::sitefile {
namespace {

struct World {
  model::SchemaPtr schema = model::testing::test_schema();
  Json editor = model::json_schema_of(*schema);
};
const World& world() {
  static const World kWorld;
  return kWorld;
}

Json good_site() {
  return Json::parse(R"({
    "software": {"items": {
      "vim": {"type": "package", "properties": {"name": "vim", "version": 2, "note": "x"}},
      "kit": {"type": "bundle", "properties": {"name": "kit"}, "parts": {
        "p1": {"type": "package", "properties": {"name": "p1"}}}}}},
    "infrastructure": {"systems": {
      "s1": {"type": "system", "properties": {"serial": "1"}, "disks": {
        "d1": {"type": "disk", "properties": {"size": 5}}}}}},
    "ms": {"items": {"vim": {"inherit": "/software/items/vim"}}},
    "deployments": {"d1": {"type": "deployment", "clusters": {"c1": {"type": "cluster", "nodes": {
      "n1": {
        "type": "node",
        "properties": {"hostname": "n1"},
        "system": {"inherit": "/infrastructure/systems/s1"},
        "items": {"kit": {"inherit": "/software/items/kit", "properties": {"version": 7}}},
        "configs": {"k": {"type": "config", "properties": {"key": "a", "value": "b"}}}}}}}}}
  })");
}

bool editor_accepts(const Json& file) {
  model::testing::SchemaValidator validator(world().editor);
  return validator.accepts(file);
}

// Read, and applied to an empty model.
bool muster_accepts(const Json& file) {
  const Site site = read_site_text(dump_json(file), "site.json", {});
  if (!site.good()) return false;
  model::Tree tree = model::empty_model(*world().schema);
  return model::apply(tree, *world().schema, site.at, site.declaration, model::Prune::Nothing).ok();
}

bool reader_accepts(const Json& file) {
  return read_site_text(dump_json(file), "site.json", {}).good();
}

TEST(Editor, AgreesOnAGoodFile) {
  EXPECT_TRUE(editor_accepts(good_site()));
  EXPECT_TRUE(muster_accepts(good_site()));
}

// Every value of the file, as pointers.
void collect(const Json& value, const Json::json_pointer& at,
             std::vector<Json::json_pointer>& all) {
  all.push_back(at);
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) collect(inner, at / key, all);
}

std::vector<Json::json_pointer> pointers(const Json& file) {
  std::vector<Json::json_pointer> all;
  collect(file, Json::json_pointer(), all);
  return all;
}

const std::vector<Json>& replacements() {
  static const std::vector<Json> kAll = {nullptr,
                                         5,
                                         true,
                                         "text",
                                         "",
                                         "/software/items/vim",
                                         Json::array(),
                                         Json::array({"a"}),
                                         Json::object(),
                                         {{"type", "package"}},
                                         {{"properties", nullptr}},
                                         {{"inherit", "/software/items/vim"}},
                                         {{"x", "y"}},
                                         {{"x", Json::object()}}};
  return kAll;
}

RC_GTEST_PROP(Editor, WhateverItAcceptsIsRead, ()) {
  Json file = good_site();
  for (int changes = *rc::gen::inRange(1, 4); changes > 0; --changes) {
    const auto all = pointers(file);
    const Json::json_pointer at = *rc::gen::elementOf(all);
    if (*rc::gen::arbitrary<bool>() || at.empty()) {
      file[at] = *rc::gen::elementOf(replacements());
    } else if (file[at.parent_pointer()].is_object()) {
      const std::string name = *rc::gen::element<std::string>("type", "inherit", "properties",
                                                              "items", "a b", "", "propertes", "x");
      file[at.parent_pointer()][name] = file[at];
    }
  }
  RC_CLASSIFY(editor_accepts(file), "accepted");
  if (editor_accepts(file)) RC_ASSERT(reader_accepts(file));
}

// What an editor marks red is refused when it is read or applied.
TEST(Editor, WhatItRefusesIsRefused) {
  const std::string node = "/deployments/d1/clusters/c1/nodes/n1";
  const std::vector<std::pair<std::string, Json>> wrongs = {
      {"", Json::array()},
      {"", nullptr},
      {"/type", "node"},
      {"/inherit", "/ms"},
      {"/sofware", Json::object()},
      {"/software/items", "text"},
      {"/software/items/vim/type", "pakage"},
      {"/software/items/vim/type", Json::array({"package"})},
      {"/software/items/vim/type", nullptr},
      {"/software/items/vim/properties", "text"},
      {"/software/items/vim/properties/nmae", "x"},
      {"/software/items/vim/properties/name", nullptr},
      {"/software/items/vim/properties/name", Json::array({"x"})},
      {"/software/items/vim/properties/name", "UPPER"},
      {"/software/items/v m", {{"type", "package"}, {"properties", {{"name", "a"}}}}},
      {"/ms/items/vim", "/software/items/vim"},
      {"/ms/items/vim/inherit", "software/items/vim"},
      {"/ms/items/vim/inherit", "/software//items/vim"},
      {"/ms/items/vim/inherit", nullptr},
      {"/ms/items/vim/properties", {{"nmae", "x"}}},
      {node + "/system", {{"type", "system"}, {"properties", {{"serial", "1"}}}}},
      {node + "/configs/k/type", "package"},
      {node + "/hostname", "n1"},
  };
  for (const auto& [at, value] : wrongs) {
    Json file = good_site();
    file[Json::json_pointer(at)] = value;
    EXPECT_FALSE(editor_accepts(file)) << at << " " << value;
    EXPECT_FALSE(muster_accepts(file)) << at << " " << value;
  }
}

}  // namespace
}  // namespace muster::sitefile
