#include "model/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/edit.h"
#include "model/lifecycle.h"
#include "model/migrate.h"
#include "model/test_types.h"

namespace muster::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Path path(const std::string& text) { return *Path::parse(text); }

void take_records(const Node& node, ItemRecords& records) {
  records.emplace(node.path(), to_record(node.item()));
  for (const auto& child : node.children()) take_records(*child, records);
}

SchemaPtr schema_of(const PackDefinition& pack) {
  BuiltSchema built = build_schema({pack});
  EXPECT_NE(built.schema, nullptr) << (built.errors.empty() ? "" : built.errors.front().message);
  return built.schema;
}

// A model that was made with the test pack, and a later version of the pack.
class FitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const SchemaPtr schema = testing::test_schema();
    Tree tree = empty_model(*schema);
    const EditOutcome outcome = edit(
        tree, *schema,
        {CreateItem{path("/software/items"), "vim", "package", {{"name", "vim"}}},
         CreateItem{path("/software/items"), "all", "bundle", {{"name", "all"}}},
         CreateItem{path("/software/items/all/parts"), "one", "package", {{"name", "one"}}},
         CreateItem{path("/infrastructure/systems"), "s1", "system", {{"serial", "1"}}},
         CreateItem{path("/deployments"), "d", "deployment", {}},
         CreateItem{path("/deployments/d/clusters"), "c", "cluster", {}},
         CreateItem{path("/deployments/d/clusters/c/nodes"), "n1", "node", {{"hostname", "n1"}}},
         InheritItem{path("/deployments/d/clusters/c/nodes/n1"),
                     "system",
                     path("/infrastructure/systems/s1"),
                     {}},
         InheritItem{path("/deployments/d/clusters/c/nodes/n1/items"),
                     "all",
                     path("/software/items/all"),
                     {}}},
        Actor::User);
    ASSERT_TRUE(outcome.ok()) << outcome.errors.front().message;
    plan_ended(tree, true, {});
    take_records(tree.root(), records_);
    pack_.version = "1.1";
  }

  ItemTypeDefinition& type(const std::string& id) {
    const auto found = std::ranges::find(pack_.item_types, id, &ItemTypeDefinition::id);
    EXPECT_NE(found, pack_.item_types.end());
    return *found;
  }
  ElementDefinition& element(const std::string& of, const std::string& name) {
    return *std::ranges::find(type(of).elements, name, &ElementDefinition::name);
  }
  PropertyDefinition& property(const std::string& of, const std::string& name) {
    return *std::ranges::find(type(of).properties, name, &PropertyDefinition::name);
  }
  PropertyDefinition& add_property(const std::string& of, const std::string& name) {
    PropertyDefinition definition;
    definition.name = name;
    definition.type = "any";
    type(of).properties.push_back(definition);
    return type(of).properties.back();
  }
  void migrate_by(decltype(MigrationStep::change) change) {
    if (pack_.migrations.empty()) pack_.migrations.push_back({"1.1", {}, {}});
    pack_.migrations.front().steps.push_back({std::move(change), {}});
  }

  // Takes the model to the pack as it is now and answers what does not fit.
  std::string misfits() {
    schema_ = schema_of(pack_);
    migrate(records_, {{"core", "1.0"}}, *schema_);
    Misfits misfits;
    tree_.reset();
    for (const auto& [at, record] : records_) {
      auto item = to_item(record, *schema_);
      if (!item) return item.error().message;
      if (at.is_root()) {
        tree_.emplace(std::move(*item));
      } else {
        tree_->add(at, std::move(*item));
      }
    }
    for (const auto& [at, record] : records_) {
      const Node* node = tree_->find(at);
      if (record.source && !node->source()) {
        EXPECT_TRUE(tree_->connect(*node));
      }
    }
    check_fit(*tree_, *schema_, {}, misfits);
    return misfits.text(20);
  }

  PackDefinition pack_ = testing::test_pack();
  ItemRecords records_;
  SchemaPtr schema_;
  std::optional<Tree> tree_;
};

TEST_F(FitTest, NothingIsWrongWithAPackThatOnlyHasANewVersion) { EXPECT_EQ(misfits(), ""); }

TEST_F(FitTest, NewDefaultsCollectionsAndRequiredChildrenAreFilledIn) {
  add_property("package", "origin").default_value = "main";
  ItemTypeDefinition log;
  log.id = "log";
  PropertyDefinition level;
  level.name = "level";
  level.type = "any";
  level.default_value = "info";
  log.properties = {level};
  ElementDefinition files;
  files.name = "files";
  files.kind = ElementKind::Collection;
  files.type = "disk";
  log.elements = {files};
  pack_.item_types.push_back(log);
  ElementDefinition child;
  child.name = "log";
  child.type = "log";
  child.required = true;
  type("package").elements.push_back(child);

  EXPECT_EQ(misfits(), "");
  const Node* part = tree_->find(path("/software/items/all/parts/one"));
  EXPECT_EQ(*part->property("origin"), "main");
  EXPECT_EQ(part->item().state, ItemState::Applied);
  EXPECT_EQ(*part->item().applied->find("origin"), "main");
  const Node* made = tree_->find(path("/software/items/all/parts/one/log"));
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->item().state, ItemState::Initial);
  EXPECT_EQ(*made->property("level"), "info");
  ASSERT_NE(made->find_child("files"), nullptr);
  const Node* copy =
      tree_->find(path("/deployments/d/clusters/c/nodes/n1/items/all/parts/one/log"));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->source(), made);
  EXPECT_EQ(*copy->property("level"), "info");
  const Node* inherited = copy->parent();
  EXPECT_EQ(*inherited->item().applied->find("origin"), "main");
  EXPECT_EQ(find(inherited->item().own, "origin"), nullptr);
}

TEST_F(FitTest, WithoutANewVersionNothingIsFilledIn) {
  pack_.version = "1.0";
  add_property("package", "origin").default_value = "main";
  type("system").elements.clear();
  ElementDefinition parts;
  parts.name = "parts";
  parts.kind = ElementKind::Collection;
  parts.type = "disk";
  type("software").elements.push_back(parts);
  EXPECT_THAT(
      misfits(),
      AllOf(HasSubstr(
                "\n  /software/items/all/parts/one and 1 more: has no 'origin', for which item "),
            HasSubstr("\n  /software: has no 'parts', which item type 'software' of pack 'core' "
                      "1.0 always has; the pack was changed and needs a newer version"),
            HasSubstr("and 1 more: item type 'system' of pack 'core' 1.0 has no 'disks'; a "
                      "migration with remove_collection drops it")));
}

TEST_F(FitTest, AValueThatIsNotRightAnyMoreIsToldOnceAtItsSource) {
  property("package", "version").type = "number";
  records_.at(path("/software/items/vim")).own = {{"name", "vim"}, {"version", "x"}};
  const std::string text = misfits();
  EXPECT_THAT(text, HasSubstr("/software/items/vim: 'version' of item type 'package' of pack "
                              "'core' 1.1: "));
  EXPECT_THAT(text, Not(HasSubstr("n1")));
}

TEST_F(FitTest, WhatWaitsForRemovalKeepsItsValues) {
  property("package", "version").type = "number";
  ItemRecord& vim = records_.at(path("/software/items/vim"));
  vim.own = {{"name", "vim"}, {"version", "x"}};
  vim.state = ItemState::ForRemoval;
  EXPECT_EQ(misfits(), "");
}

TEST_F(FitTest, ANewRequiredPropertyNeedsAValue) {
  add_property("package", "origin").required = true;
  EXPECT_THAT(misfits(), HasSubstr("/software/items/all/parts/one and 1 more: has no 'origin', "
                                   "which item type 'package'"));
  migrate_by(AddProperty{"package", "origin", "main"});
  EXPECT_THAT(misfits(), "");
}

TEST_F(FitTest, ATypeThatFitsItsSlotNoMore) {
  type("bundle").extends = "";
  type("bundle").properties = type("package").properties;
  const std::string text = misfits();
  EXPECT_THAT(text, HasSubstr("/software/items/all: is of type 'bundle', which does not fit "
                              "'items', a collection of 'package' of item type 'software'"));
  EXPECT_THAT(text, HasSubstr("/deployments/d/clusters/c/nodes/n1/items/all: "));
}

TEST_F(FitTest, ACollectionThatIsGoneIsToldAndCanBeDropped) {
  type("bundle").elements.clear();
  EXPECT_THAT(misfits(), HasSubstr("has no 'parts'; a migration with remove_collection drops it"));
  migrate_by(RemoveElement{"bundle", "parts", true});
  EXPECT_EQ(misfits(), "");
  EXPECT_EQ(tree_->find(path("/software/items/all/parts")), nullptr);
  EXPECT_EQ(tree_->find(path("/deployments/d/clusters/c/nodes/n1/items/all/parts")), nullptr);
  EXPECT_NE(tree_->find(path("/software/items/vim")), nullptr);
}

TEST_F(FitTest, AChildThatIsGoneIsToldAndCanBeDropped) {
  std::erase_if(type("node").elements, [](const auto& each) { return each.name == "system"; });
  EXPECT_THAT(misfits(), HasSubstr("n1/system: item type 'node' of pack 'core' 1.1 has no "
                                   "'system'; a migration with remove_child drops it"));
  migrate_by(RemoveElement{"node", "system", false});
  EXPECT_EQ(misfits(), "");
  EXPECT_EQ(tree_->find(path("/deployments/d/clusters/c/nodes/n1/system")), nullptr);
}

TEST_F(FitTest, ACollectionThatTakesReferencesNow) {
  element("bundle", "parts").kind = ElementKind::RefCollection;
  EXPECT_THAT(misfits(), HasSubstr("/software/items/all/parts/one: inherits from nothing, but "
                                   "stands in 'parts', a ref_collection of 'package' of item type "
                                   "'bundle' of pack 'core' 1.1"));
}

TEST_F(FitTest, ACollectionThatIsASingleChildNow) {
  element("bundle", "parts").kind = ElementKind::Child;
  EXPECT_THAT(misfits(), HasSubstr("/n1/items/all/parts and 1 more: is a collection, but stands "
                                   "in 'parts', a child of 'package' of item type 'bundle'"));
}

TEST(Misfits, ShowsSoManyAndCountsTheRest) {
  Misfits misfits;
  EXPECT_FALSE(misfits.any());
  for (int i = 0; i < 2000; ++i) misfits.add(path("/a"), std::to_string(i));
  misfits.add(path("/b"), "1");
  misfits.add_first("first");
  EXPECT_EQ(misfits.text(3), "\n  first\n  /a: 0\n  /a and 1 more: 1\n  and 1998 more");
}

// Such a model is not loaded; should there be one all the same, it is refused, not followed.
TEST(Orphans, AreRefusedByEditsAndPlans) {
  const SchemaPtr schema = testing::test_schema();
  Tree tree = empty_model(*schema);
  Item orphan;
  orphan.type = schema->find_item_type("disk");
  orphan.item_class = ItemClass::Collection;
  tree.add(path("/software/gone"), std::make_shared<const Item>(orphan));
  const EditOutcome outcome =
      edit(tree, *schema, {CreateItem{path("/software/gone"), "d", "disk", {}}}, Actor::User);
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_EQ(outcome.errors.front().code, Refusal::ChildNotAllowed);
  const Findings findings = check_complete(tree);
  ASSERT_EQ(findings.errors.size(), 1u);
  EXPECT_EQ(findings.errors.front().code, Refusal::ChildNotAllowed);
}

}  // namespace
}  // namespace muster::model
