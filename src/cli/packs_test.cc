#include "cli/packs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/cli_test_util.h"
#include "cli/types.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kData = MUSTER_TEST_DATA;

pack::PackOptions options(std::vector<std::string> extra = {}) {
  return {.packs = kData + "/packs", .core_pack = "", .extra = std::move(extra)};
}

// The folder of the test's data is another one on every machine.
std::string without_folder(std::string text) {
  const std::string prefix = kData + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
    text.erase(at, prefix.size());
  }
  return text;
}

TEST(PacksCheck, IsSilentOnStdoutWhereNothingIsWrong) {
  TestContext test;
  const auto outcome = check_packs(test.context, options({kData + "/packs/web"}));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, ExitCode::Ok);
  EXPECT_THAT(test.out, IsEmpty());
  EXPECT_EQ(test.err, "1 pack checked, nothing is wrong\n");
}

TEST(PacksCheck, PrintsEveryProblemWithItsPlace) {
  TestContext test;
  const auto outcome = check_packs(test.context, options({kData + "/broken-pack"}));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome, ExitCode::Error);
  const std::string told = without_folder(test.out);
  EXPECT_THAT(told,
              HasSubstr("broken-pack/pack.yaml:2:1: the pack's version 'one' is not a version"));
  EXPECT_THAT(told,
              HasSubstr("broken-pack/pack.yaml:3:9: pack 'broken' needs pack 'web' 3.0 or newer"));
  EXPECT_THAT(told,
              HasSubstr("broken-pack/types/types.yaml:2:3: item type 'thing' extends 'web-sit'"));
  EXPECT_THAT(
      told, HasSubstr("types.yaml:5:14: property 'port' has no field 'typ'; did you mean 'type'?"));
  EXPECT_THAT(test.err, HasSubstr("1 pack checked, "));

  test.out.clear();
  test.context.options.format = Format::Json;
  EXPECT_EQ(*check_packs(test.context, options({kData + "/broken-pack"})), ExitCode::Error);
  const Result<Json> json = parse_json(test.out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["problems"][0]["line"], 2);
}

TEST(Packs, AreListedAndShown) {
  TestContext test;
  EXPECT_TRUE(list_packs(test.context, options()));
  EXPECT_EQ(test.out,
            "NAME  VERSION  TYPES  PLUGIN  DESCRIPTION\n"
            "core  1.2.0    6      no      A small core.\n"
            "web   2.0.0    1      no      Web sites.\n");
  test.out.clear();
  EXPECT_TRUE(show_pack(test.context, options(), "web"));
  EXPECT_THAT(without_folder(test.out), HasSubstr("packs/web"));
  EXPECT_THAT(test.out, HasSubstr("core >= 1.0"));
  EXPECT_THAT(test.out, HasSubstr("web-site"));
  test.out.clear();
  test.context.options.format = Format::Json;
  EXPECT_TRUE(show_pack(test.context, options(), "web"));
  EXPECT_EQ((*parse_json(test.out))["needs"][0]["version"], "1.0");
  const auto missing = show_pack(test.context, options(), "wep");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().exit, ExitCode::Error);
  EXPECT_EQ(missing.error().detail, "there is no pack 'wep'; did you mean 'web'?");
}

TEST(Packs, WithProblemsAreToldInsteadOfShown) {
  TestContext test;
  const auto outcome = list_packs(test.context, options({kData + "/broken-pack"}));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().exit, ExitCode::Error);
  EXPECT_THAT(test.err, HasSubstr("broken-pack/pack.yaml:2:1: the pack's version 'one'"));
  EXPECT_THAT(test.out, IsEmpty());
}

TEST(Packs, AFolderThatIsNotThereIsTold) {
  TestContext test;
  const auto outcome = list_packs(test.context, {.packs = "/nonexistent", .core_pack = ""});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().detail, HasSubstr("/nonexistent: cannot be listed"));
}

TEST(Packs, SchemaIsJson) {
  TestContext test;
  EXPECT_TRUE(print_schema(test.context, options()));
  const Result<Json> schema = parse_json(test.out);
  ASSERT_TRUE(schema);
  EXPECT_EQ((*schema)["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_TRUE((*schema)["properties"].contains("nodes"));
}

TEST(Types, AreListed) {
  TestContext test;
  EXPECT_TRUE(list_types(test.context, options(), {}));
  EXPECT_THAT(test.out, HasSubstr("cluster-base"));
  EXPECT_THAT(test.out, HasSubstr("Something on a node."));
  test.out.clear();
  EXPECT_TRUE(list_types(test.context, options(), {.pack = "", .extends = "software-item"}));
  EXPECT_THAT(test.out, HasSubstr("web-site"));
  EXPECT_THAT(test.out, Not(HasSubstr("deployment")));
  test.out.clear();
  EXPECT_TRUE(list_types(test.context, options(), {.pack = "core", .property_types = true}));
  EXPECT_EQ(test.out,
            "PROPERTY TYPE  PACK  WHAT IS RIGHT\n"
            "port           core  a port\n"
            "text           core  any text\n");
  EXPECT_FALSE(list_types(test.context, options(), {.pack = "nil"}));
  EXPECT_FALSE(list_types(test.context, options(), {.extends = "nil"}));
}

TEST(Types, AreShownAsATree) {
  TestContext test;
  EXPECT_TRUE(show_type(test.context, options(), "root", 2));
  EXPECT_THAT(test.out, HasSubstr("└─ nodes/*"));
  EXPECT_THAT(test.out, HasSubstr("collection of node (1..9)"));
  EXPECT_THAT(test.out, HasSubstr("   ├─ hostname*"));
  EXPECT_THAT(test.out, HasSubstr("references to software-item, read-only, after system"));
  EXPECT_THAT(test.out, Not(HasSubstr("hunter2")));

  test.out.clear();
  test.context.terminal.utf8 = false;
  test.context.terminal.stdout_width = 80;
  EXPECT_TRUE(show_type(test.context, options(), "node", 1));
  EXPECT_THAT(test.out, HasSubstr("|- hostname*"));
  EXPECT_THAT(test.out, HasSubstr("`- items/"));
}

TEST(Types, APropertyTypeIsShownWithItsChecks) {
  TestContext test;
  EXPECT_TRUE(show_type(test.context, options(), "port", 1));
  EXPECT_THAT(test.out, HasSubstr("integer_range 1..65535, restricted '22' and '80'"));
  test.out.clear();
  test.context.options.format = Format::Json;
  EXPECT_TRUE(show_type(test.context, options(), "node", 1));
  const Result<Json> json = parse_json(test.out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["item_type"]["properties"]["password"]["default"], "***");
  EXPECT_EQ((*json)["item_type"]["elements"][1]["after"][0], "system");
  const auto missing = show_type(test.context, options(), "nod", 1);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().detail, HasSubstr("did you mean 'node'?"));
}

}  // namespace
}  // namespace muster::cli
