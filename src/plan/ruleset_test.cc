#include "plan/ruleset.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

model::SchemaPtr schema() {
  model::PackDefinition pack;
  pack.name = "core";
  pack.version = "1";
  model::ItemTypeDefinition root;
  root.id = "root";
  model::ItemTypeDefinition node;
  node.id = "node";
  pack.item_types = {root, node};
  return model::build_schema({pack}).schema;
}

Group group(std::string name, std::vector<std::string> before, int line) {
  Group made;
  made.name = std::move(name);
  made.requires_groups = std::move(before);
  made.place = {"r.yaml", line, 1};
  return made;
}

std::vector<std::string> errors_of(std::vector<Group> groups) {
  std::vector<std::string> lines;
  const BuiltRuleset built = build_ruleset(std::move(groups), *schema());
  EXPECT_EQ(built.ruleset.has_value(), built.errors.empty());
  for (const auto& error : built.errors) {
    lines.push_back(fmt::format("{}: {}", error.place.line, error.message));
  }
  return lines;
}

TEST(Ruleset, OrdersGroupsByWhatTheyRequire) {
  std::vector<Group> groups = {group("last", {"node"}, 1), group("node", {"first"}, 2),
                               group("first", {}, 3)};
  groups[1].tag = "NODE";
  groups[1].takes_unmatched = true;
  const BuiltRuleset built = build_ruleset(groups, *schema());
  ASSERT_THAT(built.errors, IsEmpty());
  EXPECT_THAT(built.ruleset->order, ElementsAre(2, 1, 0));
  EXPECT_EQ(built.ruleset->unmatched, 1U);
  EXPECT_EQ(built.ruleset->find_by_tag("NODE")->name, "node");
  EXPECT_EQ(built.ruleset->find_by_tag(""), nullptr);
  EXPECT_EQ(built.ruleset->find_group("first")->name, "first");
  EXPECT_EQ(built.ruleset->find_group("none"), nullptr);
}

TEST(Ruleset, TellsAllErrorsAtOnce) {
  std::vector<Group> groups = {group("a", {"bb"}, 1), group("a", {}, 2), group("bbb", {}, 3),
                               group("c", {}, 4)};
  groups[0].tag = groups[2].tag = "TAG";
  groups[2].lockable = true;
  Condition wrong;
  wrong.tasks = {TaskKind::Callback};
  wrong.tag = "TAGG";
  wrong.item_below = "nod";
  wrong.node = NodeKind::Ms;
  wrong.place = {"r.yaml", 5, 1};
  Condition all;
  all.place = {"r.yaml", 6, 1};
  groups[3].criteria = {wrong, all};
  Constraint constraint;
  constraint.must.item_not_below = "x";
  constraint.must.place = {"r.yaml", 7, 1};
  groups[3].constraints = {constraint};
  EXPECT_THAT(
      errors_of(groups),
      ElementsAre(HasSubstr("1: exactly one group takes tasks that belong to no group; none does"),
                  "1: group 'a' requires 'bb', which is no group; did you mean 'bbb'?",
                  "2: group 'a' is there already, at r.yaml:1:1",
                  HasSubstr("3: group 'bbb' is lockable, but not per cluster"),
                  "3: tag 'TAG' of group 'bbb' is also that of group 'a'",
                  "5: 'TAGG' is the tag of no group; did you mean 'TAG'?",
                  "5: 'nod' is no item type; did you mean 'node'?",
                  "5: only config tasks have a node; say `task: config` beside `node`",
                  HasSubstr("6: a criterion of group 'c' that every task meets"),
                  "7: 'x' is no item type"));
}

TEST(Ruleset, RefusesACycle) {
  std::vector<Group> groups = {group("a", {"b"}, 1), group("b", {"c"}, 2), group("c", {"b"}, 3)};
  groups[0].takes_unmatched = true;
  EXPECT_THAT(errors_of(groups),
              ElementsAre("2: groups require each other in a circle: b -> c -> b"));
}

TEST(Ruleset, TheGroupsOfAClusterStandTogether) {
  std::vector<Group> groups = {group("a", {}, 1), group("b", {"a"}, 2), group("c", {"b"}, 3)};
  groups[0].per_cluster = groups[2].per_cluster = true;
  groups[1].takes_unmatched = true;
  EXPECT_THAT(errors_of(groups), ElementsAre(HasSubstr("3: group 'c' is per cluster, but another "
                                                       "group stands between it and 'a'")));
}

TEST(Ruleset, LockableGroupsStandTogether) {
  std::vector<Group> groups = {group("a", {}, 1), group("b", {"a"}, 2), group("c", {"b"}, 3)};
  for (Group& each : groups) each.per_cluster = true;
  groups[0].lockable = groups[2].lockable = true;
  groups[1].takes_unmatched = true;
  EXPECT_THAT(errors_of(groups),
              ElementsAre(HasSubstr("3: group 'c' is lockable, but another group "
                                    "stands between it and 'a'")));
}

TEST(Ruleset, NamesALimitedNumberOfTypes) {
  std::vector<Group> groups = {group("a", {}, 1)};
  groups[0].takes_unmatched = true;
  for (std::size_t i = 0; i <= kRulesetTypesMax; ++i) {
    Condition condition;
    condition.item_below = fmt::format("t{}", i);
    groups[0].criteria.push_back(condition);
  }
  EXPECT_THAT(errors_of(groups), ::testing::Contains(HasSubstr("a ruleset of 61 item types")));
}

}  // namespace
}  // namespace muster::plan
