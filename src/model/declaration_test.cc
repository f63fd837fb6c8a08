#include "model/declaration.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/declaration_json.h"
#include "model/test_types.h"

namespace muster::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeclarationTest : public ::testing::Test {
 protected:
  // Applies what is declared at `at` and answers what is wrong with it.
  std::vector<std::string> apply_at(const std::string& at, const std::string& json,
                                    Prune prune = Prune::Nothing) {
    std::vector<FieldError> shape;
    const Declaration wanted = declaration_from_json(Json::parse(json), "", shape);
    EXPECT_THAT(shape, IsEmpty());
    const EditOutcome outcome = apply(tree_, *schema_, *Path::parse(at), wanted, prune);
    std::vector<std::string> errors;
    for (const ModelError& error : outcome.errors) {
      errors.push_back(fmt::format("{} {}{}{}: {}", name(error.code), error.path.text(),
                                   error.property.empty() ? "" : " ", error.property,
                                   error.message));
    }
    return errors;
  }

  SchemaPtr schema_ = testing::test_schema();
  Tree tree_ = empty_model(*schema_);
};

TEST_F(DeclarationTest, AMisspeltNameIsToldWithTheNearestRightOne) {
  EXPECT_THAT(
      apply_at("/", R"({
        "software": {"itens": {}, "item": {"a": {"type": "package", "b": {}}}},
        "deploymnets": {"d": {"type": "nothing"}}})"),
      ElementsAre("child_not_allowed /deploymnets: a root has no child 'deploymnets'; did you mean "
                  "'deployments'?",
                  "child_not_allowed /software/item: a software has no child 'item'; did you mean "
                  "'items'?",
                  "child_not_allowed /software/itens: a software has no child 'itens'; did you "
                  "mean 'items'?"));
  EXPECT_THAT(apply_at("/software/itens", R"({"a": {"type": "package"}})"),
              ElementsAre("child_not_allowed /software/itens: a software has no child 'itens'; did "
                          "you mean 'items'?"));
  // Of an item that is made by the same file, too.
  EXPECT_THAT(apply_at("/software/items/x", R"({"type": "bundle", "properties": {"name": "x"},
                       "prats": {"a": {}}})"),
              ElementsAre("child_not_allowed /software/items/x/prats: a bundle has no child "
                          "'prats'; did you mean 'parts'?"));
}

TEST_F(DeclarationTest, BelowAnUnknownTypeNothingIsReported) {
  EXPECT_THAT(apply_at("/software/items/x", R"({"type": "bundel", "parts": {"a": {}, "b": {}}})"),
              ElementsAre("invalid_type /software/items/x: there is no item type 'bundel'; did you "
                          "mean 'bundle'?"));
}

// What only plugins know is neither declared by people nor taken back by them.
TEST_F(DeclarationTest, WhatOnlyPluginsWriteIsLeftAlone) {
  const std::string site = R"({"deployments": {"d": {"type": "deployment", "clusters": {
      "c": {"type": "cluster", "nodes": {"n": {"type": "node", "properties": {"hostname": "n"}}}}}
    }}})";
  EXPECT_THAT(apply_at("/", site), IsEmpty());
  const Declaration before = declare(tree_.root(), Detail::Full);
  const Path node = *Path::parse("/deployments/d/clusters/c/nodes/n");
  ASSERT_TRUE(
      edit(tree_, *schema_, {UpdateItem{node, {{"is_locked", "true"}}, {}}}, Actor::Plugin).ok());
  EXPECT_FALSE(declare(*tree_.find(node), Detail::Brief).properties.contains("is_locked"));
  EXPECT_THAT(apply_at("/", site, Prune::Undeclared), IsEmpty());
  EXPECT_TRUE(apply(tree_, *schema_, Path(), before, Prune::Everything).ok());
  EXPECT_EQ(*tree_.find(node)->property("is_locked"), "true");
  EXPECT_THAT(apply_at(node.text(), R"({"properties": {"is_locked": "false"}})"),
              ElementsAre("read_only_property /deployments/d/clusters/c/nodes/n is_locked: only "
                          "plugins write the property 'is_locked', which is 'true' here"));
}

}  // namespace
}  // namespace muster::model
