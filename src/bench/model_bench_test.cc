#include <gtest/gtest.h>

#include "bench/benchmarks.h"
#include "bench/model_site.h"
#include "store/memory_store.h"
#include "store/model_loader.h"

namespace muster::bench {
namespace {

TEST(ModelSite, IsAsLargeAsItSays) {
  const model::SchemaPtr schema = site_schema();
  const auto items = [&](std::size_t nodes) {
    model::Tree tree = model::empty_model(*schema);
    const model::EditOutcome made =
        model::apply(tree, *schema, model::Path(), site_declaration(nodes), model::Prune::Nothing);
    EXPECT_TRUE(made.ok());
    EXPECT_NE(tree.find(node_path(nodes - 1)), nullptr);
    return tree.size();
  };
  EXPECT_EQ(items(20) - items(10), 10 * kItemsOfNode);
  EXPECT_EQ(count_declared(site_declaration(20)) - count_declared(site_declaration(10)),
            10 * kDeclaredOfNode);
}

TEST(ModelSite, ComesBackFromWhatIsStored) {
  const model::SchemaPtr schema = site_schema();
  store::MemoryStore store;
  const Result<std::size_t> items = store_site(store, 3, schema);
  ASSERT_TRUE(items) << items.error().message;
  const auto loaded = store::load_model(store, *schema);
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->tree.size(), *items);
  const model::Node* package = (*loaded)->tree.find(node_path(0).child("items").child("package-0"));
  ASSERT_NE(package, nullptr);
  ASSERT_NE(package->source(), nullptr);
  EXPECT_EQ(*package->property("version"), "1.2.3");
  EXPECT_EQ(package->item().state, model::ItemState::Applied);
}

TEST(ModelBench, MeasuresWhatItWasAskedFor) {
  Host host;
  host.interrupted = [] { return false; };
  host.say = [](std::string_view) {};
  const Result<Json> line =
      run_model({.items = 1'000, .edits = 50, .file_items = 500, .place = {}}, host);
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->at("bench"), "model");
  EXPECT_GE(line->at("count"), 1'000);
  EXPECT_GE(line->at("apply_items"), 500);
  EXPECT_EQ(line->at("edits"), 50);
}

}  // namespace
}  // namespace muster::bench
