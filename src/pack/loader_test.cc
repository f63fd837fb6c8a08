#include "pack/loader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "pack/pack_folder.h"
#include "pack/shipped.h"

namespace muster::pack {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Folders of packs that go away with the test.
class LoaderTest : public ::testing::Test {
 protected:
  LoaderTest() {
    std::string made = (fs::temp_directory_path() / "muster-packs-XXXXXX").string();
    EXPECT_NE(mkdtemp(made.data()), nullptr);
    folder_ = made;
  }
  ~LoaderTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  void write_core() const {
    write("core/pack.yaml", "name: core\nversion: 1.0\n");
    write("core/types/t.yaml",
          "property_types: {text: {}}\n"
          "item_types: {root: {}, ms: {}, deployment: {}, cluster-base: {}, node: {}}\n");
    write("core/ruleset.yaml", "groups: [{name: A, takes_unmatched: true}]\n");
  }

  // With the folder cut off the front of places.
  std::vector<std::string> problems_of(const LoadedPacks& loaded) const {
    std::vector<std::string> lines;
    for (const document::Problem& problem : loaded.problems) {
      std::string text = to_text(problem);
      const std::string prefix = folder_.string() + "/";
      for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
        text.erase(at, prefix.size());
      }
      lines.push_back(std::move(text));
    }
    return lines;
  }

  std::vector<std::string> names_of(const LoadedPacks& loaded) const {
    std::vector<std::string> names;
    for (const LoadedPack& pack : loaded.packs) names.push_back(pack.name);
    return names;
  }

  fs::path folder_;
};

TEST_F(LoaderTest, LoadsPacksInTheOrderOfTheirNeeds) {
  write_core();
  write("a/pack.yaml", "name: a\nversion: 1\nneeds: {z: '1'}\nplugin: {program: bin/run}\n");
  write("a/bin/run", "#!/bin/sh\n");
  fs::permissions(path("a/bin/run"), fs::perms::owner_all);
  write("a/templates/t.yaml", "templates: []\n");
  write("z/pack.yaml", "name: z\nversion: 1.5\nneeds: {core: '1'}\n");
  write("z/types/t.json", R"({"item_types": {"thing": {"extends": "node"}}})");
  const LoadedPacks loaded = load_packs({{path("a"), path("z/")}, path("core"), {}});
  EXPECT_THAT(problems_of(loaded), IsEmpty());
  ASSERT_NE(loaded.schema, nullptr);
  EXPECT_TRUE(loaded.schema->find_item_type("thing")->is_a("node"));
  ASSERT_TRUE(loaded.ruleset);
  EXPECT_EQ(loaded.ruleset->groups.size(), 1U);
  EXPECT_THAT(names_of(loaded), ElementsAre("core", "z", "a"));
  EXPECT_EQ(loaded.packs[2].program, fs::canonical(path("a/bin/run")).string());
  EXPECT_TRUE(loaded.packs[2].has_templates);
  EXPECT_EQ(loaded.packs[1].folder, path("z"));
}

TEST_F(LoaderTest, TakesFromThePoolOnlyWhatIsNeeded) {
  write_core();
  write("a/pack.yaml", "name: a\nversion: 1\nneeds: {b: '1'}\n");
  write("b/pack.yaml", "name: b\nversion: 1\nneeds: {c: '1'}\n");
  write("c/pack.yaml", "name: c\nversion: 1\n");
  write("broken/pack.yaml", "[\n");
  const std::vector<std::string> pool = {path("b"), path("broken"), path("c")};
  const LoadedPacks loaded = load_packs({{path("a")}, path("core"), pool});
  EXPECT_THAT(problems_of(loaded), IsEmpty());
  EXPECT_THAT(names_of(loaded), UnorderedElementsAre("core", "a", "b", "c"));
}

TEST_F(LoaderTest, TellsTheProblemsOfAllPacksAtOnce) {
  write_core();
  write("a/pack.yaml", "name: a\nversion: 1\nplugin: {program: ../core/pack.yaml}\nneed: x\n");
  write("a/types/t.yaml", "item_types:\n  x: {extends: nod}\n");
  write("a/ruleset.yaml", "groups: []\n");
  write("b/pack.yaml", "name: b\nversion: 1\nplugin: {program: bin/none}\n");
  write("b/types/notes.txt", "x");
  const LoadedPacks loaded = load_packs({{path("a"), path("b"), path("c")}, path("core"), {}});
  EXPECT_EQ(loaded.schema, nullptr);
  EXPECT_FALSE(loaded.ruleset);
  // What types would be together is not told as long as c is not there.
  EXPECT_THAT(
      problems_of(loaded),
      ElementsAre("a/pack.yaml:3:10: the plugin's program '../core/pack.yaml' leaves the pack's "
                  "folder; name it from there on, without '..'",
                  "a/pack.yaml:4:1: a pack has no field 'need'; did you mean 'needs'?",
                  "a/ruleset.yaml: only the core pack has a ruleset",
                  "b/pack.yaml:3:10: the plugin's program 'bin/none' is not there",
                  "b/types/notes.txt: is not read; files of types end with .yaml, .yml or .json",
                  HasSubstr("c: this is no folder that can be read")));
  EXPECT_THAT(problems_of(load_packs({{path("a")}, path("core"), {}})),
              ::testing::Contains("a/types/t.yaml:2:3: item type 'x' extends 'nod', which no "
                                  "pack defines; did you mean 'node'?"));
}

TEST_F(LoaderTest, AFileThatCannotBeReadHidesOnlyWhatDependsOnIt) {
  write_core();
  write("torn/pack.yaml", "name: torn\nversion: 1\n");
  write("torn/types/t.yaml", "item_types: {thing: [\n");
  write("user/pack.yaml", "name: user\nversion: 1\nneeds: {torn: '1'}\n");
  write("user/types/t.yaml", "item_types: {mine: {extends: thing}}\n");
  write("other/pack.yaml", "name: other\nversion: 1\n");
  write("other/types/t.yaml", "item_types: {wrong: {extends: nowhere}}\n");
  EXPECT_THAT(
      problems_of(load_packs({{path("torn"), path("user"), path("other")}, path("core"), {}})),
      ElementsAre(HasSubstr("other/types/t.yaml:1:14: item type 'wrong' extends 'nowhere'"),
                  HasSubstr("torn/types/t.yaml:2:1")));
}

TEST_F(LoaderTest, ANewcomerIsToldThatANameIsTaken) {
  write_core();
  write("zzz/pack.yaml", "name: zzz\nversion: 1\n");
  write("zzz/types/a.yaml",
        "property_types:\n"
        "  text: {}\n"
        "item_types:\n"
        "  node:\n"
        "    properties: {mine: {type: text}}\n"
        "  big:\n"
        "    extends: node\n"
        "    elements: {n: {child: node}}\n"
        "    checks: [{one_property: [mine, hers]}]\n");
  // Whichever is named first.
  for (const LoadRequest& request : {LoadRequest{{path("zzz")}, path("core"), {}},
                                     LoadRequest{{path("zzz"), path("core")}, "", {}}}) {
    EXPECT_THAT(problems_of(load_packs(request)),
                ElementsAre("zzz/types/a.yaml:2:3: property type 'text' is there already, at "
                            "core/types/t.yaml:1:18",
                            "zzz/types/a.yaml:4:3: item type 'node' is there already, at "
                            "core/types/t.yaml:2:66"));
  }
  // Of two others, the one that is needed is right.
  write("a/pack.yaml", "name: a\nversion: 1\nneeds: {z: '1'}\n");
  write("a/types/t.yaml", "item_types: {thing: {}}\n");
  write("z/pack.yaml", "name: z\nversion: 1\n");
  write("z/types/t.yaml", "item_types: {thing: {}}\n");
  EXPECT_THAT(problems_of(load_packs({{path("a"), path("z")}, path("core"), {}})),
              ElementsAre("a/types/t.yaml:1:14: item type 'thing' is there already, at "
                          "z/types/t.yaml:1:14"));
}

TEST_F(LoaderTest, KnowsPacksThatAreNotNeeded) {
  write_core();
  write("b/pack.yaml", "name: b\nversion: 1\n");
  write("b/types/t.yaml", "item_types: {thing: {}}\nproperty_types: {word: {}}\n");
  write("a/pack.yaml", "name: a\nversion: 1\n");
  write("a/types/t.yaml",
        "item_types:\n"
        "  x: {extends: thing}\n"
        "  y: {elements: {z: {child: thing}}, properties: {p: {type: word}}}\n");
  const std::string why =
      " is defined by pack 'b', which pack 'a' does not need; add it to `needs`";
  EXPECT_THAT(problems_of(load_packs({{path("a")}, path("core"), {path("b")}})),
              ElementsAre("a/types/t.yaml:2:3: item type 'thing'" + why,
                          "a/types/t.yaml:3:18: item type 'thing'" + why,
                          "a/types/t.yaml:3:51: property type 'word'" + why));
}

TEST_F(LoaderTest, TellsWhatIsWrongWhereItStands) {
  write_core();
  write("a/pack.yaml", "name: a\nversion: one\nneeds: {core: '1'}\n");
  write("a/types/t.yaml",
        "property_types:\n"
        "  p:\n"
        "    regex: '('\n"
        "    checks:\n"
        "      - integer_range: {min: 2, max: 1}\n"
        "item_types:\n"
        "  x:\n"
        "    properties: {a: {type: text}}\n"
        "    checks:\n"
        "      - one_property: [a, b]\n"
        "      - plugin: look\n");
  EXPECT_THAT(problems_of(load_packs({{path("a")}, path("core"), {}})),
              ElementsAre(HasSubstr("a/pack.yaml:2:1: the pack's version"),
                          HasSubstr("a/types/t.yaml:3:5: property type 'p': "),
                          HasSubstr("a/types/t.yaml:5:9: property type 'p': the range"),
                          HasSubstr("a/types/t.yaml:10:9: item type 'x': a check names 'b'"),
                          HasSubstr("a/types/t.yaml:11:9: item type 'x': the check 'look'")));
}

TEST_F(LoaderTest, FollowsNoLinkOutOfThePack) {
  write_core();
  write("outside.yaml", "item_types: {stolen: {}}\n");
  write("outside/t.yaml", "item_types: {stolen: {}}\n");
  write("a/pack.yaml", "name: a\nversion: 1\nplugin: {program: run}\n");
  fs::create_directory(folder_ / "a/types");
  fs::create_symlink("../../outside.yaml", folder_ / "a/types/out.yaml");
  fs::create_symlink("/nowhere", folder_ / "a/types/gone.yaml");
  fs::create_symlink("/bin/sh", folder_ / "a/run");
  write("b/pack.yaml", "name: b\nversion: 1\n");
  fs::create_symlink("../outside", folder_ / "b/types");
  EXPECT_THAT(
      problems_of(load_packs({{path("a"), path("b")}, path("core"), {}})),
      ElementsAre("a/pack.yaml:3:10: the plugin's program 'run' is a link that leads out of the "
                  "pack's folder",
                  HasSubstr("a/types/gone.yaml: is a link that leads nowhere, or out of"),
                  HasSubstr("a/types/out.yaml: is a link that leads nowhere, or out of"),
                  "b/types: leads out of the pack's folder"));
  // Within the pack a link is a file like any other.
  write("c/pack.yaml", "name: c\nversion: 1\n");
  write("c/shared.yaml", "property_types: {mine: {}}\n");
  fs::create_directory(folder_ / "c/types");
  fs::create_symlink("../shared.yaml", folder_ / "c/types/t.yaml");
  const LoadedPacks good = load_packs({{path("c")}, path("core"), {}});
  EXPECT_THAT(problems_of(good), IsEmpty());
  EXPECT_NE(good.schema->find_property_type("mine"), nullptr);
}

TEST_F(LoaderTest, KeepsItsLimits) {
  write("a/pack.yaml", "name: a\nversion: 1\n");
  for (int i = 0; i < 4; ++i) write(fmt::format("a/types/{}.yaml", i), std::string(40, '#'));
  write("a/types/.hidden", "x");
  write("a/types/t.yaml~", "x");
  const auto told = [&](const FolderLimits& limits) {
    document::Problems problems;
    read_pack_folder(path("a"), problems, limits);
    std::vector<std::string> lines;
    for (const auto& problem : std::move(problems).take()) lines.push_back(problem.message);
    return lines;
  };
  EXPECT_THAT(told({}), IsEmpty());
  EXPECT_THAT(told({.files_max = 3}), ElementsAre("has more than 3 files"));
  EXPECT_THAT(told({.file_bytes_max = 39}), ::testing::SizeIs(4));
  EXPECT_THAT(told({.total_bytes_max = 150}),
              ElementsAre("the pack has more than 150 bytes up to this file"));
}

TEST_F(LoaderTest, HoldsTheCorePackToWhatMusterKnows) {
  write_core();
  write("core/types/t.yaml", "item_types: {root: {}, ms: {}, deployment: {}}\n");
  fs::remove(folder_ / "core/ruleset.yaml");
  EXPECT_THAT(
      problems_of(load_packs({{}, path("core"), {}})),
      ElementsAre("core/pack.yaml:1:1: the core pack defines no item type 'cluster-base'",
                  "core/pack.yaml:1:1: the core pack defines no item type 'node'",
                  "core/pack.yaml:1:1: the core pack has a file ruleset.yaml; here is none"));
  write("core/pack.yaml", "name: kernel\nversion: 1\n");
  EXPECT_THAT(problems_of(load_packs({{}, path("core"), {}})),
              ::testing::Contains("core/pack.yaml:1:1: the core pack is called 'core', not "
                                  "'kernel'"));
}

TEST_F(LoaderTest, AGivenCoreTakesThePlaceOfTheOther) {
  write_core();
  const LoadedPacks loaded = load_packs({{path("core")}, "/nowhere", {}});
  EXPECT_THAT(problems_of(loaded), IsEmpty());
  EXPECT_THAT(problems_of(load_packs({{path("core"), path("core")}, "", {}})),
              ::testing::Contains(HasSubstr("pack 'core' is there already")));
}

TEST_F(LoaderTest, OptionsChooseTheFolderAndTheCore) {
  write_core();
  write("b/pack.yaml", "name: b\nversion: 1\n");
  write("not-a-pack/readme", "x");
  const Result<LoadRequest> all = all_packs({.packs = folder_.string(), .core_pack = ""});
  ASSERT_TRUE(all);
  EXPECT_THAT(all->packs, ElementsAre(path("b")));
  EXPECT_EQ(all->core, path("core"));
  const Result<LoadRequest> only =
      only_packs({.packs = folder_.string(), .core_pack = "mine", .extra = {"x"}});
  ASSERT_TRUE(only);
  EXPECT_THAT(only->packs, ElementsAre("x"));
  EXPECT_EQ(only->core, "mine");
  EXPECT_THAT(only->pool, ElementsAre(path("b")));
  EXPECT_FALSE(all_packs({.packs = path("nowhere"), .core_pack = ""}));
}

}  // namespace
}  // namespace muster::pack
