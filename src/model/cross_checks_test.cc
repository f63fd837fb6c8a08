#include "model/cross_checks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/lifecycle.h"
#include "model/test_types.h"

namespace muster::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Path path(const std::string& text) { return *Path::parse(text); }

// The test pack, with a hostname that is unique among nodes and the management server, and a list
// of nodes, and of neighbours, in the configs of a node.
SchemaPtr schema_with_checks() {
  PackDefinition pack = testing::test_pack();
  for (ItemTypeDefinition& type : pack.item_types) {
    PropertyDefinition text;
    text.type = "any";
    if (type.id == "ms") {
      text.name = "hostname";
      type.properties.push_back(text);
    } else if (type.id == "node") {
      type.properties.front().type = "any";
      type.model_checks = {{UniqueCheck{"hostname", {"node", "ms"}, true}, {}}};
    } else if (type.id == "package") {
      type.model_checks = {{UniqueCheck{"name", {}, false}, {}}};
    } else if (type.id == "config") {
      for (const char* name : {"nodes", "after"}) {
        text.name = name;
        type.properties.push_back(text);
      }
      type.model_checks = {{ListsCheck{"nodes", "nodes", "cluster"}, {}},
                           {ListsCheck{"after", "configs", "node"}, {}}};
    }
  }
  BuiltSchema built = build_schema({pack});
  for (const DefinitionError& error : built.errors) ADD_FAILURE() << error.message;
  return built.schema;
}

class CrossChecksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    create("/deployments/d", "deployment");
    create("/deployments/d/clusters/c", "cluster");
    create(kNodes + "/n1", "node", {{"hostname", "n1"}});
    create(kNodes + "/n2", "node", {{"hostname", "n2"}});
  }

  void run(const Operation& operation) {
    const EditOutcome outcome = edit(tree_, *schema_, {operation}, Actor::User);
    for (const ModelError& error : outcome.errors) ADD_FAILURE() << error.message;
  }
  void create(const std::string& at, const std::string& type, GivenProperties properties = {}) {
    run(CreateItem{path(at).parent(), std::string(path(at).id()), type, std::move(properties)});
  }

  std::vector<std::string> errors() const {
    std::vector<ModelError> found;
    check_across(tree_, found);
    std::vector<std::string> texts;
    for (const ModelError& error : found) {
      EXPECT_EQ(error.code, Refusal::Validation);
      texts.push_back(fmt::format("{} {}: {}", error.path.text(), error.property, error.message));
    }
    return texts;
  }

  const std::string kNodes = "/deployments/d/clusters/c/nodes";
  SchemaPtr schema_ = schema_with_checks();
  Tree tree_ = empty_model(*schema_);
};

TEST_F(CrossChecksTest, AValueIsUniqueAmongSeveralTypes) {
  EXPECT_THAT(errors(), IsEmpty());
  run(UpdateItem{path("/ms"), {{"hostname", "N1"}}, {}});
  create(kNodes + "/n3", "node", {{"hostname", "N2"}});
  EXPECT_THAT(
      errors(),
      ElementsAre(
          "/deployments/d/clusters/c/nodes/n3 hostname: /deployments/d/clusters/c/nodes/n2 has the "
          "same 'hostname', 'n2'; it is unique among items of type 'node' and 'ms', in upper or "
          "lower case",
          "/ms hostname: /deployments/d/clusters/c/nodes/n1 has the same 'hostname', 'n1'; it is "
          "unique among items of type 'node' and 'ms', in upper or lower case"));
  const Findings findings = check_complete(tree_);
  EXPECT_EQ(std::ranges::count(findings.errors, Refusal::Validation, &ModelError::code), 2);
}

TEST_F(CrossChecksTest, InheritorsAndWhatWaitsForRemovalDoNotCount) {
  create("/software/items/vim", "package", {{"name", "vim"}});
  run(InheritItem{path(kNodes + "/n1/items"), "vim", path("/software/items/vim"), {}});
  create("/software/items/upper", "bundle", {{"name", "emacs"}});
  EXPECT_THAT(errors(), IsEmpty());
  plan_ended(tree_, true, {});
  run(RemoveItem{path(kNodes + "/n2")});
  create(kNodes + "/n3", "node", {{"hostname", "n2"}});
  EXPECT_THAT(errors(), IsEmpty());
  // A type that extends the one with the rule is held to it, together with it.
  create("/software/items/vim2", "bundle", {{"name", "vim"}});
  EXPECT_THAT(errors(), ElementsAre("/software/items/vim2 name: /software/items/vim has the same "
                                    "'name', 'vim'; it is unique among items of type 'package'"));
}

TEST_F(CrossChecksTest, WhatIsListedIsThereOnceAndIsAnotherItem) {
  create(kNodes + "/n1/configs/a", "config",
         {{"key", "a"}, {"value", "1"}, {"nodes", "n2,n1"}, {"after", ""}});
  EXPECT_THAT(errors(), IsEmpty());
  create(kNodes + "/n1/configs/b", "config",
         {{"key", "b"}, {"value", "1"}, {"nodes", "n1,n22,n1"}, {"after", "a,b,zz"}});
  EXPECT_THAT(
      errors(),
      ElementsAre(
          "/deployments/d/clusters/c/nodes/n1/configs/b nodes: 'nodes' names 'n22', which "
          "is not in /deployments/d/clusters/c/nodes; did you mean 'n2'?",
          "/deployments/d/clusters/c/nodes/n1/configs/b nodes: 'n1' stands twice in "
          "'nodes'",
          "/deployments/d/clusters/c/nodes/n1/configs/b after: "
          "/deployments/d/clusters/c/nodes/n1/configs/b names itself in 'after'",
          "/deployments/d/clusters/c/nodes/n1/configs/b after: 'after' names 'zz', which is "
          "not in /deployments/d/clusters/c/nodes/n1/configs"));
  run(RemoveItem{path(kNodes + "/n1/configs/b")});
  plan_ended(tree_, true, {});
  run(RemoveItem{path(kNodes + "/n2")});
  EXPECT_THAT(errors(), ElementsAre("/deployments/d/clusters/c/nodes/n1/configs/a nodes: 'nodes' "
                                    "names /deployments/d/clusters/c/nodes/n2, which is marked "
                                    "for removal"));
}

}  // namespace
}  // namespace muster::model
