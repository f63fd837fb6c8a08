#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/test_types.h"
#include "store/commit_group.h"
#include "store/memory_store.h"
#include "store/model_codec.h"
#include "store/model_loader.h"

namespace muster::store {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

model::Path path(const std::string& text) { return *model::Path::parse(text); }

// An engine over a store in memory.
class ModelStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { term_ = *store_.acquire_term(); }

  // Starts an engine of these types over what is stored; what it writes is committed.
  Result<void> start(const model::SchemaPtr& schema) {
    core::EngineOptions options;
    options.schema = schema;
    core::Engine engine(options);
    MUSTER_TRY_ASSIGN(auto loaded, load_model(store_, *schema));
    if (loaded) engine.restore_model(std::move(*loaded));
    if (engine_) {
      for (const core::PlanRecordPtr& plan : engine_->plans()) engine.restore_plan(plan);
    }
    engine_.emplace(std::move(engine));
    perform(engine_->start(now_));
    return {};
  }

  void perform(const core::Effects& effects) {
    const Batch batch = encode_group(term_, {{.ticket = 1, .writes = effects.writes}});
    ASSERT_TRUE(store_.commit(batch));
    for (const core::Reply& reply : effects.replies) reply_ = reply;
  }

  void create(const std::string& parent, const std::string& id, const std::string& type,
              model::GivenProperties properties) {
    core::EditModel edit;
    edit.who = "ann";
    edit.change =
        core::ModelOperations{model::CreateItem{path(parent), id, type, std::move(properties)}};
    perform(engine_->step(now_, edit));
    const auto* error = std::get_if<Error>(&reply_.body);
    ASSERT_EQ(error, nullptr) << error->message;
  }

  const model::Node* find(const std::string& text) {
    return engine_->model()->tree.find(path(text));
  }

  MemoryStore store_;
  Term term_ = 0;
  Timestamp now_{1'000'000};
  std::optional<core::Engine> engine_;
  core::Reply reply_;
};

model::SchemaPtr schema_of(const model::PackDefinition& pack) {
  const model::BuiltSchema built = model::build_schema({pack});
  EXPECT_NE(built.schema, nullptr) << (built.errors.empty() ? "" : built.errors.front().message);
  return built.schema;
}

TEST_F(ModelStoreTest, AStoredModelComesBackAsItWas) {
  const model::SchemaPtr schema = model::testing::test_schema();
  ASSERT_TRUE(start(schema));
  create("/software/items", "vim", "package", {{"name", "vim"}, {"version", "9"}});
  create("/software/items", "all", "bundle", {{"name", "all"}});
  create("/software/items/all/parts", "one", "package", {{"name", "one"}});
  const model::Declaration before =
      model::declare(engine_->model()->tree.root(), model::Detail::Full);
  ASSERT_TRUE(start(schema));
  EXPECT_EQ(model::declare(engine_->model()->tree.root(), model::Detail::Full), before);
  EXPECT_EQ(engine_->model()->revision, 4u);
}

TEST_F(ModelStoreTest, RevisionsAreComparedOverSeveralSteps) {
  ASSERT_TRUE(start(model::testing::test_schema()));
  create("/software/items", "vim", "package", {{"name", "vim"}});
  create("/software/items", "git", "package", {{"name", "git"}});
  const auto both = compare_revisions(store_, 1, 3);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->size(), 2u);
  const auto none = compare_revisions(store_, 3, 3);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(compare_revisions(store_, 1, 9).error().code, ErrorCode::NotFound);
}

TEST_F(ModelStoreTest, ANewerPackMigratesTheModel) {
  model::PackDefinition pack = model::testing::test_pack();
  ASSERT_TRUE(start(schema_of(pack)));
  create("/software/items", "vim", "package", {{"name", "vim"}, {"version", "9"}});

  pack.version = "1.1";
  model::Migration migration;
  migration.version = "1.1";
  migration.steps = {{model::RenameProperty{"package", "version", "release"}, {}},
                     {model::AddProperty{"package", "origin", "main"}, {}}};
  pack.migrations = {migration};
  for (model::ItemTypeDefinition& type : pack.item_types) {
    if (type.id != "package") continue;
    for (model::PropertyDefinition& property : type.properties) {
      if (property.name == "version") property.name = "release";
    }
    model::PropertyDefinition origin;
    origin.name = "origin";
    origin.type = "any";
    type.properties.push_back(origin);
  }
  ASSERT_TRUE(start(schema_of(pack)));
  ASSERT_NE(find("/software/items/vim"), nullptr);
  EXPECT_EQ(*find("/software/items/vim")->property("release"), "9");
  EXPECT_EQ(*find("/software/items/vim")->property("origin"), "main");
  const auto heads = list_revisions(store_, 0, 1);
  ASSERT_TRUE(heads);
  EXPECT_TRUE(heads->front().migration);
  EXPECT_THAT(heads->front().what, HasSubstr("core 1.0 to 1.1"));
  EXPECT_EQ(compare_revisions(store_, 2, 3).error().code, ErrorCode::Conflict);
  // Written once: the next start finds nothing to do.
  ASSERT_TRUE(start(schema_of(pack)));
  EXPECT_EQ(engine_->model()->revision, 3u);
}

TEST_F(ModelStoreTest, APlanThatOtherPacksHaveMadeIsInvalid) {
  model::PackDefinition pack = model::testing::test_pack();
  ASSERT_TRUE(start(schema_of(pack)));
  core::KeepPlan keep;
  keep.who = "ann";
  keep.model_revision = 1;
  keep.body = std::make_shared<const std::string>("body");
  perform(engine_->step(now_, keep));
  ASSERT_TRUE(start(schema_of(pack)));
  ASSERT_NE(engine_->find_plan(1), nullptr);
  EXPECT_EQ(engine_->find_plan(1)->state, core::PlanState::Initial);

  pack.version = "1.0.1";
  ASSERT_TRUE(start(schema_of(pack)));
  EXPECT_EQ(engine_->find_plan(1)->state, core::PlanState::Invalid);
  EXPECT_EQ(engine_->find_plan(1)->state_reason, "packs have changed: core is 1.0.1, was 1.0");
}

TEST_F(ModelStoreTest, WhatIsMissingIsToldAllAtOnceAndNothingIsTouched) {
  model::PackDefinition pack = model::testing::test_pack();
  ASSERT_TRUE(start(schema_of(pack)));
  create("/software/items", "vim", "package", {{"name", "vim"}, {"version", "9"}});
  create("/software/items", "all", "bundle", {{"name", "all"}});
  std::erase_if(pack.item_types, [](const auto& type) { return type.id == "bundle"; });
  for (model::ItemTypeDefinition& type : pack.item_types) {
    std::erase_if(type.properties, [](const auto& each) { return each.name == "version"; });
  }
  const model::SchemaPtr poorer = schema_of(pack);
  const auto started = start(poorer);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("/software/items/vim"));
  EXPECT_THAT(started.error().message, HasSubstr("'version'"));
  EXPECT_THAT(started.error().message, HasSubstr("'bundle'"));
  ASSERT_TRUE(start(model::testing::test_schema()));
}

TEST_F(ModelStoreTest, ACollectionIsDroppedByAMigrationOnly) {
  model::PackDefinition pack = model::testing::test_pack();
  ASSERT_TRUE(start(schema_of(pack)));
  create("/software/items", "all", "bundle", {{"name", "all"}});
  create("/software/items/all/parts", "one", "package", {{"name", "one"}});
  pack.version = "1.1";
  for (model::ItemTypeDefinition& type : pack.item_types) {
    if (type.id == "bundle") type.elements.clear();
  }
  const auto refused = start(schema_of(pack));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::ModelUnfit);
  EXPECT_THAT(refused.error().message, HasSubstr("/software/items/all/parts: "));
  EXPECT_THAT(refused.error().message, HasSubstr("remove_collection"));

  pack.migrations = {{"1.1", {{model::RemoveElement{"bundle", "parts", true}, {}}}, {}}};
  ASSERT_TRUE(start(schema_of(pack)));
  EXPECT_EQ(find("/software/items/all/parts"), nullptr);
  const auto heads = list_revisions(store_, 0, 1);
  ASSERT_TRUE(heads);
  EXPECT_EQ(heads->front().removed, 2u);
  ASSERT_TRUE(start(schema_of(pack)));
  EXPECT_EQ(find("/software/items/all/parts"), nullptr);
  EXPECT_EQ(engine_->model()->revision, 4u);
}

TEST_F(ModelStoreTest, APackThatIsNotLoadedIsNamedFirst) {
  const model::PackDefinition core = model::testing::test_pack();
  model::PackDefinition web;
  web.name = "web";
  web.version = "1.0";
  web.needs = {{"core", "1.0", {}}};
  model::ItemTypeDefinition page;
  page.id = "web-page";
  page.extends = "package";
  model::ElementDefinition aliases;
  aliases.name = "aliases";
  aliases.kind = model::ElementKind::Collection;
  aliases.type = "package";
  page.elements = {aliases};
  web.item_types = {page};
  ASSERT_TRUE(start(model::build_schema({core, web}).schema));
  // As long as no item is of it, nobody misses it.
  ASSERT_TRUE(start(schema_of(core)));
  ASSERT_TRUE(start(model::build_schema({core, web}).schema));
  create("/software/items", "p", "web-page", {{"name", "p"}});
  create("/software/items", "q", "web-page", {{"name", "q"}});
  const auto started = start(schema_of(core));
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message,
              HasSubstr("migrations:\n  pack 'web' 1.0, with which the model was made, is not "
                        "loaded; give it with --pack\n  /software/items/p and 1 more: there is no "
                        "item type 'web-page'"));
  EXPECT_THAT(started.error().message, Not(HasSubstr("aliases")));
}

TEST_F(ModelStoreTest, AnOlderPackIsRefused) {
  model::PackDefinition pack = model::testing::test_pack();
  pack.version = "2.0";
  ASSERT_TRUE(start(schema_of(pack)));
  const auto started = start(model::testing::test_schema());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("'core' is 1.0 here"));
}

TEST(ModelCodec, RefusesBytesThatAreNone) {
  EXPECT_FALSE(decode_item(""));
  EXPECT_FALSE(decode_item("\x01\xff\xff"));
  EXPECT_FALSE(decode_revision("\x02"));
  EXPECT_FALSE(decode_part(std::string("\x01\x0a\x02\x0a\x00", 5)));
}

}  // namespace
}  // namespace muster::store
