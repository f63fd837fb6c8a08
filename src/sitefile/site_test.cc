#include "sitefile/site.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace muster::sitefile {
namespace {

namespace fs = std::filesystem;
using model::Declaration;
using model::Path;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Path path(std::string_view text) { return Path::parse(text).value(); }

std::vector<std::string> lines_of(const Site& site) {
  std::vector<std::string> lines;
  for (const document::Problem& problem : site.problems) lines.push_back(to_text(problem));
  return lines;
}

Site read(std::string_view text, const ReadOptions& options = {}) {
  return read_site_text(text, "site.yaml", options);
}

std::vector<std::string> problems_of(std::string_view text) { return lines_of(read(text)); }

constexpr std::string_view kSite = R"(software:
  items:
    postgres: {type: package, properties: {name: postgresql, hold: yes, mode: 0755}}
deployments:
  site1:
    type: deployment
    clusters:
      db:
        type: cluster
        nodes:
          n1:
            type: node
            properties:
              hostname: n1
            items:
              postgres: {inherit: /software/items/postgres}
)";

std::vector<std::string> doubtful_of(const Site& site) {
  std::vector<std::string> paths;
  for (const model::Path& path : site.doubtful) paths.push_back(path.text());
  return paths;
}

TEST(Site, TellsWhichItemsAProblemIsAbout) {
  const Site site = read(R"(software:
  items:
    a: {type: package, properties: {name: [a]}}
    b:
      type: package
      properties: {name: b}
    c: 5
    d: {type: package, properties: {name: '%%who%%'}}
)");
  // One that is no item at all counts for the one before it.
  EXPECT_THAT(doubtful_of(site),
              ElementsAre("/software/items/a", "/software/items/b", "/software/items/d"));
  EXPECT_TRUE(site.is_partly_judgeable());
  EXPECT_TRUE(site.is_judgeable(*model::Path::parse("/software/items/e")));
  EXPECT_FALSE(site.is_judgeable(*model::Path::parse("/software/items/a")));
  EXPECT_FALSE(site.is_judgeable(*model::Path::parse("/software/items/a/below")));
  EXPECT_FALSE(site.is_judgeable(*model::Path::parse("/software/items")));
}

TEST(Site, AFileThatCannotBeReadMakesAllDoubtful) {
  for (const char* text : {"software: [", "5", "", "a: 1\nb: 2\n"}) {
    const Site site = read(text);
    ASSERT_FALSE(site.good()) << text;
    EXPECT_FALSE(site.is_partly_judgeable()) << text;
  }
  EXPECT_TRUE(read(kSite).is_partly_judgeable());
}

TEST(Site, DeclaresWhatIsWritten) {
  const Site site = read(kSite);
  ASSERT_THAT(lines_of(site), IsEmpty());
  EXPECT_TRUE(site.at.is_root());

  Declaration package;
  package.type = "package";
  package.properties = {{"name", "postgresql"}, {"hold", "yes"}, {"mode", "0755"}};
  Declaration postgres;
  postgres.inherit = path("/software/items/postgres");
  Declaration node;
  node.type = "node";
  node.properties = {{"hostname", "n1"}};
  node.children["items"].children["postgres"] = postgres;
  Declaration cluster;
  cluster.type = "cluster";
  cluster.children["nodes"].children["n1"] = node;
  Declaration deployment;
  deployment.type = "deployment";
  deployment.children["clusters"].children["db"] = cluster;
  Declaration root;
  root.children["software"].children["items"].children["postgres"] = package;
  root.children["deployments"].children["site1"] = deployment;
  EXPECT_EQ(site.declaration, root);
}

TEST(Site, JsonSaysTheSame) {
  const Site site = read_site_text(
      R"({"software": {"items": {"vim": {"type": "package", "properties": {"hold": true}}}}})",
      "site.json", {});
  ASSERT_THAT(lines_of(site), IsEmpty());
  Declaration package;
  package.type = "package";
  package.properties = {{"hold", "true"}};
  Declaration root;
  root.children["software"].children["items"].children["vim"] = package;
  EXPECT_EQ(site.declaration, root);
}

TEST(Site, KnowsWhereEverythingStands) {
  const Site site = read(kSite);
  const auto place = [&](std::string_view at, std::string_view property = {}) {
    return to_text(site.places.find(path(at), property));
  };
  const std::string node = "/deployments/site1/clusters/db/nodes/n1";
  EXPECT_EQ(place(node), "site.yaml:11:11");
  EXPECT_EQ(place(node, "hostname"), "site.yaml:14:25");
  EXPECT_EQ(place(node, "domain"), "site.yaml:11:11") << "not declared: the item";
  EXPECT_EQ(place(node + "/system"), "site.yaml:11:11") << "not declared: what is above it";
  EXPECT_EQ(place(node + "/system", "hostname"), "site.yaml:11:11");
  EXPECT_EQ(place("/software/items/postgres", "hold"), "site.yaml:3:68");
  EXPECT_EQ(place("/"), "site.yaml:1:1");
}

TEST(Site, DeclaresAnItemBelowTheRoot) {
  const Site site = read("type: node\nproperties: {hostname: n1}\n", {.at = path("/nodes/n1")});
  ASSERT_THAT(lines_of(site), IsEmpty());
  EXPECT_EQ(site.at, path("/nodes/n1"));
  EXPECT_EQ(site.declaration.type, "node");
  EXPECT_EQ(to_text(site.places.find(path("/nodes/n1"), "hostname")), "site.yaml:2:24");
  EXPECT_EQ(to_text(site.places.find(path("/nodes/n2"))), "");
}

TEST(Site, AnEmptyCollectionOrItemMayHaveNothingAfterIt) {
  const Site site = read("software:\n  items:\nms: ~\n");
  ASSERT_THAT(lines_of(site), IsEmpty());
  Declaration root;
  root.children["software"].children["items"] = {};
  root.children["ms"] = {};
  EXPECT_EQ(site.declaration, root);
}

TEST(Site, EveryProblemIsToldAtOnce) {
  EXPECT_THAT(
      problems_of(R"(ms:
  tpye: node
  propertys: {hostname: n1}
software: [a]
deployments:
  site 1: {type: deployment}
  site2:
    type: {a: b}
    inherit: software/items
    properties: text
    clusters:
      db:
        type: cluster
        properties: {a: [1], b: {c: d}, e: }
        hostname: n1
      d2: {type: '', inherit: 5}
)"),
      ElementsAre(
          "site.yaml:2:3: /ms has no field 'tpye'; did you mean 'type'?",
          "site.yaml:3:3: /ms has no field 'propertys'; did you mean 'properties'?",
          "site.yaml:4:11: 'software' of / is an item or a collection, which is a mapping; here is "
          "a list; a property stands below 'properties'",
          "site.yaml:6:3: 'site 1' is not an item's id; letters, digits, '_' and '-' are allowed",
          "site.yaml:8:11: 'type' of /deployments/site2 is a text, an item's type; here is a "
          "mapping",
          "site.yaml:9:14: 'software/items' is not a path; a path begins with '/'",
          "site.yaml:10:17: 'properties' of /deployments/site2 is a mapping of names to texts; "
          "here is a text",
          "site.yaml:14:25: the property 'a' of /deployments/site2/clusters/db is a text; here is "
          "a list",
          "site.yaml:14:33: the property 'b' of /deployments/site2/clusters/db is a text; here is "
          "a mapping",
          "site.yaml:14:44: the property 'e' of /deployments/site2/clusters/db is a text; here is "
          "nothing; an empty text is written ''",
          "site.yaml:15:19: 'hostname' of /deployments/site2/clusters/db is an item or a "
          "collection, which is a mapping; here is a text; a property stands below 'properties'",
          "site.yaml:16:18: 'type' of /deployments/site2/clusters/d2 is a text, an item's type; "
          "here is an empty one",
          "site.yaml:16:31: '5' is not a path; a path begins with '/'"));
}

TEST(Site, TheRootIsTheRoot) {
  EXPECT_THAT(problems_of("type: root\n"), IsEmpty());
  EXPECT_THAT(problems_of("type: node\ninherit: /ms\n"),
              ElementsAre("site.yaml:1:7: the type of the model's root is 'root', not 'node'",
                          "site.yaml:2:10: the model's root inherits from nothing"));
}

TEST(Site, RefusesWhatIsNoModelFile) {
  EXPECT_THAT(problems_of("- a\n"), ElementsAre("site.yaml:1:1: a model file is a mapping; here is "
                                                "a list"));
  EXPECT_THAT(problems_of("# nothing\n"),
              ElementsAre("site.yaml: declares nothing; to say so on purpose, write {}"));
  EXPECT_THAT(problems_of("{}"), IsEmpty());
  EXPECT_THAT(problems_of("ms:\n\ttype: ms\n"),
              ElementsAre("site.yaml:2:1: a tab; YAML is indented with spaces"));
  EXPECT_THAT(problems_of("ms: {}\nms: {}\n"),
              ElementsAre("site.yaml:2:1: the key 'ms' stands twice, first in line 1, column 1"));
  EXPECT_THAT(problems_of("a: &a {}\nb: *a\n"),
              ElementsAre(HasSubstr("an anchor"), HasSubstr("an alias")));
}

TEST(Site, RefusesAPathThatIsTooDeep) {
  std::string text;
  for (int i = 0; i < 65; ++i) text += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(problems_of(text), ElementsAre("site.yaml:65:65: a path has at most 64 segments"));
  EXPECT_THAT(problems_of(std::string(200, '[')), ElementsAre(HasSubstr("nested deeper than 100")));
}

class SiteFolderTest : public ::testing::Test {
 protected:
  SiteFolderTest() {
    std::string made = (fs::temp_directory_path() / "muster-site-XXXXXX").string();
    EXPECT_NE(mkdtemp(made.data()), nullptr);
    folder_ = made;
  }
  ~SiteFolderTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  // With the folder cut off the front of places.
  std::vector<std::string> cut(std::vector<std::string> lines) const {
    const std::string prefix = folder_.string() + "/";
    for (std::string& line : lines) {
      for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix)) {
        line.erase(at, prefix.size());
      }
    }
    return lines;
  }

  fs::path folder_;
};

TEST_F(SiteFolderTest, FilesDeclarePartsOfOneModel) {
  write("1-software.yaml", "software: {items: {vim: {type: package, properties: {name: vim}}}}");
  write("2-more.yml", "software: {items: {vim: {properties: {hold: true, name: vim}}}}");
  write("3-ms.json", R"({"ms": {"properties": {"hostname": "m"}}})");
  write("README.md", "not: read: at: all");
  write(".hidden.yaml", "nor: [this");
  write("old.yaml~", "nor: [this");
  write("below/site.yaml", "nor: [this");
  const Site site = read_site({folder_.string()}, {});
  ASSERT_THAT(cut(lines_of(site)), IsEmpty());
  Declaration vim;
  vim.type = "package";
  vim.properties = {{"name", "vim"}, {"hold", "true"}};
  Declaration root;
  root.children["software"].children["items"].children["vim"] = vim;
  root.children["ms"].properties = {{"hostname", "m"}};
  EXPECT_EQ(site.declaration, root);
  EXPECT_THAT(cut({to_text(site.places.find(path("/software/items/vim"), "name"))}),
              ElementsAre("1-software.yaml:1:60"));
  EXPECT_THAT(cut({to_text(site.places.find(path("/software/items/vim"), "hold"))}),
              ElementsAre("2-more.yml:1:45"));
}

TEST_F(SiteFolderTest, WhatIsSaidTwiceMustBeTheSame) {
  write("a.yaml", "ms: {type: ms, inherit: /a, properties: {hostname: m1}}");
  write("b.yaml", "ms: {type: node, inherit: /b, properties: {hostname: m2}}");
  EXPECT_THAT(cut(lines_of(read_site({folder_.string()}, {}))),
              ElementsAre("b.yaml:1:12: the type of /ms is 'node' here, but 'ms' in a.yaml:1:12",
                          "b.yaml:1:27: what it inherits from of /ms is '/b' here, but '/a' in "
                          "a.yaml:1:25",
                          "b.yaml:1:54: the property 'hostname' of /ms is 'm2' here, but 'm1' in "
                          "a.yaml:1:52"));
}

TEST_F(SiteFolderTest, EveryFileIsReadWhateverIsWrongWithOthers) {
  write("a.yaml", "ms: [");
  write("b.yaml", "software: 5");
  write("c.xml", "<root/>");
  EXPECT_THAT(cut(lines_of(read_site({folder_.string()}, {}))),
              ElementsAre(HasSubstr("a.yaml:2:1: "), HasSubstr("b.yaml:1:11: 'software' of /"),
                          "c.xml: XML is not read as a part of a folder; name the file itself"));
}

TEST_F(SiteFolderTest, TellsWhatCannotBeRead) {
  EXPECT_THAT(cut(lines_of(read_site({(folder_ / "none.yaml").string()}, {}))),
              ElementsAre("none.yaml: cannot be read: No such file or directory"));
  EXPECT_THAT(lines_of(read_site({folder_.string()}, {})),
              ElementsAre(HasSubstr("has no model file (*.yaml, *.yml, *.json)")));
}

TEST_F(SiteFolderTest, TheLimitIsOnAllFilesTogether) {
  write("a.yaml", "ms: {}    \n");
  write("b.yaml", "ms: {}    \n");
  EXPECT_THAT(lines_of(read_site({folder_.string()}, {.bytes_max = 22})), IsEmpty());
  EXPECT_THAT(cut(lines_of(read_site({folder_.string()}, {.bytes_max = 21}))),
              ElementsAre("b.yaml: has more than 10 bytes, which is the most that is read"));
}

}  // namespace
}  // namespace muster::sitefile
