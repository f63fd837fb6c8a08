#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/declaration.h"
#include "pack/shipped.h"

// Types that are only bases: nothing is made of them, and a declaration may leave out its type
// exactly where the slot has one that is not such.

namespace muster::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const model::Schema& schema() {
  static const LoadedPacks kLoaded = [] {
    const Result<LoadRequest> request = all_packs({.packs = MUSTER_PACKS});
    return request ? load_packs(*request) : LoadedPacks();
  }();
  return *kLoaded.schema;
}

model::Path at(const char* text) { return *model::Path::parse(text); }

std::vector<std::string> told(const model::EditOutcome& outcome) {
  std::vector<std::string> found;
  for (const model::ModelError& error : outcome.errors) {
    found.push_back(std::string(model::name(error.code)) + " " + error.path.text() + ": " +
                    error.message);
  }
  return found;
}

std::vector<std::string> create(const char* parent, const char* type) {
  model::Tree tree = model::empty_model(schema());
  return told(model::edit(tree, schema(), {model::CreateItem{at(parent), "x", type, {}}},
                          model::Actor::User));
}

// An item without a type in the collection, with something below it or not.
std::vector<std::string> declare(const char* collection, model::GivenProperties properties,
                                 bool has_child) {
  model::Tree tree = model::empty_model(schema());
  model::Declaration wanted;
  wanted.children["x"].properties = std::move(properties);
  if (has_child) wanted.children["x"].children["below"].properties["a"] = "b";
  return told(model::apply(tree, schema(), at(collection), wanted, model::Prune::Nothing));
}

TEST(AbstractTypes, AreNotCreated) {
  EXPECT_THAT(
      create("/infrastructure/storage/managed_files", "owned-path"),
      ElementsAre("invalid_type /infrastructure/storage/managed_files/x: type owned-path is "
                  "only a base of others; use directory, file, link, secret-file or "
                  "template-file"));
  EXPECT_THAT(create("/software/items", "software-item"),
              ElementsAre("invalid_type /software/items/x: type software-item is only a base of "
                          "others; use apt-repository, dnf-repository, exec, group, package or one "
                          "of 5 more"));
  EXPECT_THAT(create("/software/images", "image-base"),
              ElementsAre("invalid_type /software/images/x: type image-base is only a base of "
                          "others, and no loaded pack extends it"));
}

TEST(AbstractTypes, DecideWhereATypeMayBeLeftOut) {
  EXPECT_THAT(declare("/software/profiles", {{"name", "debian"}}, true),
              ElementsAre("invalid_type /software/profiles/x: /software/profiles/x needs a 'type': "
                          "type profile is only a base of others; use os-profile"));
  EXPECT_THAT(declare("/infrastructure/systems", {{"system_name", "m1"}}, false), IsEmpty());
  EXPECT_THAT(declare("/ms/items", {}, false),
              ElementsAre("child_not_allowed /ms/items/x: 'items' takes only items that inherit "
                          "from an item of type software-item"));
}

}  // namespace
}  // namespace muster::pack
