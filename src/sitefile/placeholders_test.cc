#include "sitefile/placeholders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/test_types.h"
#include "sitefile/site.h"

namespace muster::sitefile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::string> lines_of(std::vector<document::Problem> problems) {
  std::vector<std::string> lines;
  for (const document::Problem& problem : problems) lines.push_back(to_text(problem));
  return lines;
}

constexpr std::string_view kSite = R"(
deployments:
  d1:
    type: deployment
    clusters:
      c1:
        type: cluster
        nodes:
          n1:
            type: node
            properties: {hostname: '%%n1.name%%', is_locked: 50%%a%%}
            configs:
              c: {type: config, properties: {key: '%%n1.name%%', value: '%%other%%'}}
            profile: {inherit: /software/items/p, properties: {name: '%%p-name%%'}}
)";

TEST(Placeholders, AWholeValueIsOneOrNone) {
  EXPECT_EQ(placeholder_name("%%a%%"), "a");
  EXPECT_EQ(placeholder_name("%%A_b.c-9%%"), "A_b.c-9");
  for (const char* text : {"", "%%", "%%%%", "%%%", "a", "%%a b%%", "x%%a%%", "%%a%%x", "%%a"}) {
    EXPECT_EQ(placeholder_name(text), std::nullopt) << text;
  }
}

TEST(Placeholders, TakeTheirValues) {
  const Site site = read_site_text(
      kSite, "s.yaml",
      {.values = {{"n1.name", "alpha"}, {"other", "%%n1.name%%"}, {"p-name", "x"}, {"more", "y"}}});
  ASSERT_THAT(lines_of(site.problems), IsEmpty());
  const model::Declaration& node = site.declaration.children.at("deployments")
                                       .children.at("d1")
                                       .children.at("clusters")
                                       .children.at("c1")
                                       .children.at("nodes")
                                       .children.at("n1");
  EXPECT_THAT(node.properties,
              ElementsAre(Pair("hostname", "alpha"), Pair("is_locked", "50%%a%%")));
  EXPECT_THAT(node.children.at("configs").children.at("c").properties,
              ElementsAre(Pair("key", "alpha"), Pair("value", "%%n1.name%%")));
  EXPECT_THAT(site.unused_values, ElementsAre("more"));
}

TEST(Placeholders, WithoutAValueAreToldAtOnce) {
  const Site site = read_site_text(kSite, "s.yaml", {.values = {{"othr", "x"}}});
  EXPECT_THAT(lines_of(site.problems),
              ElementsAre("s.yaml:11:36: the placeholder %%n1.name%% has no value",
                          "s.yaml:13:51: the placeholder %%n1.name%% has no value",
                          "s.yaml:13:73: the placeholder %%other%% has no value; did you mean "
                          "'othr'?",
                          "s.yaml:14:70: the placeholder %%p-name%% has no value"));
}

TEST(Placeholders, StandOnlyInSiteSpecificPropertiesWhereTheTypesAreAtHand) {
  model::PackDefinition pack = model::testing::test_pack();
  for (model::ItemTypeDefinition& type : pack.item_types) {
    for (model::PropertyDefinition& property : type.properties) {
      property.site_specific = property.name == "hostname" || property.name == "key";
    }
  }
  const model::BuiltSchema built = model::build_schema({pack});
  const Site site = read_site_text(kSite, "s.yaml",
                                   {.values = {{"n1.name", "a"}, {"other", "b"}, {"p-name", "c"}},
                                    .schema = built.schema.get()});
  EXPECT_THAT(
      lines_of(site.problems),
      ElementsAre("s.yaml:13:73: 'value' of config is not site-specific: it takes no placeholder, "
                  "write the value here",
                  "s.yaml:14:70: 'name' of package is not site-specific: it takes no placeholder, "
                  "write the value here"));
}

TEST(Placeholders, WhatTheTypesDoNotKnowIsLeftToTheModel) {
  const model::SchemaPtr schema = model::testing::test_schema();
  const Site site = read_site_text(
      "software: {items: {a: {type: nonsense, properties: {x: '%%v%%'}}, "
      "b: {type: package, properties: {nmae: '%%v%%'}}}}",
      "s.yaml", {.values = {{"v", "1"}}, .schema = schema.get()});
  EXPECT_THAT(lines_of(site.problems), IsEmpty());
}

TEST(Placeholders, ValuesAreAMappingOfNamesToTexts) {
  document::Problems problems;
  EXPECT_THAT(read_values_text("a: 1\nb.c: 'x y'\n", "v.yaml", problems),
              ElementsAre(Pair("a", "1"), Pair("b.c", "x y")));
  EXPECT_THAT(lines_of(std::move(problems).take()), IsEmpty());

  document::Problems wrong;
  EXPECT_THAT(read_values_text("a: [1]\nb c: 2\nd: 3\ne:\n", "v.yaml", wrong),
              ElementsAre(Pair("d", "3")));
  EXPECT_THAT(lines_of(std::move(wrong).take()),
              ElementsAre("v.yaml:1:4: the value of 'a' is a text; here is a list",
                          "v.yaml:2:1: 'b c' is not a placeholder's name; letters, digits, '_', "
                          "'.' and '-' are allowed",
                          "v.yaml:4:3: the value of 'e' is a text; here is nothing"));
}

TEST(Placeholders, ASettingIsANameAndAValue) {
  EXPECT_EQ(parse_setting("a.b=c=d").value(), std::pair(std::string("a.b"), std::string("c=d")));
  EXPECT_EQ(parse_setting("a=").value().second, "");
  EXPECT_FALSE(parse_setting("a"));
  EXPECT_FALSE(parse_setting("=a"));
  EXPECT_FALSE(parse_setting("a b=c"));
}

}  // namespace
}  // namespace muster::sitefile
