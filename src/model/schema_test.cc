#include "model/schema.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Place at(int line) { return {"t.yaml", line, 1}; }

PropertyDefinition property(std::string name, std::string type, int line = 1) {
  PropertyDefinition definition;
  definition.name = std::move(name);
  definition.type = std::move(type);
  definition.place = at(line);
  return definition;
}

ElementDefinition element(std::string name, ElementKind kind, std::string type, int line = 1,
                          std::vector<std::string> require = {}) {
  ElementDefinition definition;
  definition.name = std::move(name);
  definition.kind = kind;
  definition.type = std::move(type);
  definition.require = std::move(require);
  definition.place = at(line);
  return definition;
}

ElementDefinition child(std::string name, std::string type, int line = 1,
                        std::vector<std::string> require = {}) {
  return element(std::move(name), ElementKind::Child, std::move(type), line, std::move(require));
}

ItemTypeDefinition type(std::string id, std::string extends = {}, int line = 1) {
  ItemTypeDefinition definition;
  definition.id = std::move(id);
  definition.extends = std::move(extends);
  definition.place = at(line);
  return definition;
}

PackDefinition core() {
  PackDefinition pack;
  pack.name = "core";
  pack.version = "1.0";
  pack.place = {"core/pack.yaml", 1, 1};
  PropertyTypeDefinition text;
  text.id = "text";
  PropertyTypeDefinition number;
  number.id = "number";
  number.checks = {IntegerRangeCheck{0, 9}};
  pack.property_types = {text, number};
  pack.item_types = {type("root")};
  return pack;
}

std::vector<std::string> errors_of(const std::vector<PackDefinition>& packs) {
  const BuiltSchema built = build_schema(packs);
  EXPECT_EQ(built.schema == nullptr, !built.errors.empty());
  std::vector<std::string> lines;
  for (const DefinitionError& error : built.errors) {
    lines.push_back(fmt::format("{}: {}", error.place.line, error.message));
  }
  return lines;
}

std::vector<std::string> errors_of(const ItemTypeDefinition& added) {
  PackDefinition pack = core();
  pack.item_types.push_back(added);
  return errors_of({pack});
}

TEST(Schema, ResolvesWhatASubtypeTakesOver) {
  PackDefinition pack = core();
  ItemTypeDefinition base = type("base");
  base.properties = {property("name", "text")};
  base.elements = {child("system", "leaf"), child("os", "leaf", 1, {"system"})};
  base.checks = {OnePropertyCheck{{"name", "name"}}};
  ItemTypeDefinition sub = type("sub", "base");
  sub.properties = {property("size", "number")};
  sub.elements = {element("disks", ElementKind::Collection, "leaf", 1, {"os"})};
  pack.item_types = {sub, type("leaf"), base, type("root")};

  const BuiltSchema built = build_schema({pack});
  ASSERT_THAT(built.errors, IsEmpty());
  const ItemType* found = built.schema->find_item_type("sub");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->is_a("base"));
  EXPECT_TRUE(found->is_a(*built.schema->find_item_type("base")));
  EXPECT_FALSE(built.schema->find_item_type("base")->is_a("sub"));
  EXPECT_NE(found->find_property("name"), nullptr);
  EXPECT_EQ(found->find_property("size")->type, built.schema->find_property_type("number"));
  ASSERT_EQ(found->elements.size(), 3U);
  EXPECT_EQ(found->elements[0].definition.name, "system");
  EXPECT_EQ(found->elements[0].type, built.schema->find_item_type("leaf"));
  EXPECT_THAT(found->elements[2].after, ElementsAre("os", "system"));
  EXPECT_EQ(found->checks.size(), 1U);
  EXPECT_EQ(built.schema->root().id, "root");
  EXPECT_EQ(built.schema->find_pack("core")->version, "1.0");
  EXPECT_EQ(built.schema->suggest_item_type("laef"), "; did you mean 'leaf'?");
}

TEST(Schema, TellsAllErrorsAtOnceInTheOrderOfTheirPlaces) {
  PackDefinition pack = core();
  ItemTypeDefinition wrong = type("wrong", "nobody", 30);
  wrong.properties = {property("b", "nil", 20), property("a", "nil", 10), property("c", "", 11)};
  pack.item_types.push_back(wrong);
  EXPECT_THAT(errors_of({pack}),
              ElementsAre("10: item type 'wrong': no pack defines the property type 'nil'",
                          "11: property 'c' has no type",
                          "20: item type 'wrong': no pack defines the property type 'nil'",
                          "30: item type 'wrong' extends 'nobody', which no pack defines"));
}

TEST(Schema, NeedsARoot) {
  PackDefinition pack = core();
  pack.item_types.clear();
  EXPECT_THAT(errors_of({pack}), ElementsAre("0: no pack defines the item type 'root'"));
  EXPECT_THAT(errors_of(std::vector<PackDefinition>()),
              ElementsAre("0: no pack defines the item type 'root'"));
}

TEST(SchemaNames, RefusesClashesAndWhatIsNoName) {
  EXPECT_THAT(errors_of(type("root", {}, 7)),
              ElementsAre("7: item type 'root' is there already, at t.yaml:1:1"));
  EXPECT_THAT(errors_of(type("a b", {}, 7)),
              ElementsAre(HasSubstr("7: 'a b' is not a name; a letter and then letters")));
  PackDefinition pack = core();
  pack.property_types.push_back(pack.property_types[0]);
  pack.property_types.back().place = at(9);
  EXPECT_THAT(errors_of({pack}),
              ElementsAre(HasSubstr("9: property type 'text' is there already")));
}

TEST(SchemaNames, AMemberHasOneMeaning) {
  ItemTypeDefinition t = type("t");
  t.properties = {property("x", "text", 2), property("x", "text", 3), property("a-b", "text", 4)};
  t.elements = {child("x", "root", 5), child("inherit", "t", 6),
                element("type", ElementKind::Collection, "t", 7)};
  EXPECT_THAT(
      errors_of(t),
      ElementsAre("3: item type 't': property 'x' is there already as a property, at t.yaml:2:1",
                  HasSubstr("4: item type 't': 'a-b' is not a name"),
                  "5: item type 't': element 'x' is there already as a property, at t.yaml:2:1",
                  "6: item type 't': no element may be called 'inherit', which has its own meaning "
                  "in a model file",
                  "7: item type 't': no element may be called 'type', which has its own meaning in "
                  "a model file"));
}

TEST(SchemaExtends, RefusesRedefinition) {
  PackDefinition pack = core();
  ItemTypeDefinition base = type("base");
  base.properties = {property("name", "text", 2)};
  base.elements = {child("os", "root", 3)};
  ItemTypeDefinition sub = type("sub", "base");
  sub.properties = {property("name", "number", 4), property("os", "text", 5)};
  pack.item_types.insert(pack.item_types.end(), {sub, base});
  EXPECT_THAT(
      errors_of({pack}),
      ElementsAre(
          "4: item type 'sub': property 'name' is there already as a property, at t.yaml:2:1",
          "5: item type 'sub': property 'os' is there already as an element, at t.yaml:3:1"));
}

TEST(SchemaExtends, RefusesACycleOnceAndSaysItsWay) {
  PackDefinition pack = core();
  ItemTypeDefinition out = type("out", "a", 5);
  out.elements = {child("x", "root", 6, {"of_base"})};  // what the broken base decides
  pack.item_types.insert(pack.item_types.end(),
                         {type("a", "b", 2), type("b", "c", 3), type("c", "a", 4), out});
  EXPECT_THAT(errors_of({pack}),
              ElementsAre("2: item types extend each other in a circle: a -> b -> c -> a"));
  EXPECT_THAT(errors_of(type("self", "self", 4)),
              ElementsAre("4: item types extend each other in a circle: self -> self"));
}

TEST(SchemaExtends, SuggestsABase) {
  EXPECT_THAT(
      errors_of(type("x", "rot", 2)),
      ElementsAre("2: item type 'x' extends 'rot', which no pack defines; did you mean 'root'?"));
}

TEST(SchemaProperties, ChecksDefaultsRegexesAndChecks) {
  PackDefinition pack = core();
  PropertyTypeDefinition broken;
  broken.id = "broken";
  broken.regex = "(";
  broken.checks = {IntegerRangeCheck{2, 1}, LengthCheck{0}, RestrictedCheck{}, PluginCheck{"m"}};
  broken.place = at(2);
  pack.property_types.push_back(broken);
  ItemTypeDefinition t = type("t");
  t.properties = {property("size", "number", 3), property("pin", "number", 4)};
  t.properties[0].default_value = "10";
  t.properties[1].default_value = "hunter2";
  t.properties[1].secret = true;
  pack.item_types.push_back(t);
  EXPECT_THAT(
      errors_of({pack}),
      ElementsAre(
          "2: property type 'broken': '(' is not a regular expression: missing ): (",
          "2: property type 'broken': a length of at most 0 allows no value",
          "2: property type 'broken': a list of restricted values without a value forbids nothing",
          "2: property type 'broken': the check 'm' is a function of a plugin, but pack 'core' has "
          "no plugin",
          "2: property type 'broken': the range from 2 to 1 has no number in it",
          "3: the default of property 'size' is refused by its own type: '10' is not a whole "
          "number from 0 to 9",
          "4: the default of property 'pin' is refused by its own type: the value is not a whole "
          "number from 0 to 9"));
}

TEST(SchemaProperties, ViewsAndItemChecksNeedWhatTheyName) {
  ItemTypeDefinition t = type("t", {}, 9);
  ViewDefinition view;
  view.name = "order";
  view.method = "order";
  view.place = at(2);
  t.views = {view};
  t.properties = {property("name", "text")};
  t.checks = {MaxValueCheck{"nam", "limit"}, OnePropertyCheck{{"name"}}, PluginCheck{"m"}};
  EXPECT_THAT(
      errors_of(t),
      ElementsAre("2: view 'order' is computed by a plugin, but pack 'core' has no plugin",
                  "9: item type 't': a check names 'limit', which is no property",
                  "9: item type 't': a check names 'nam', which is no property; did you mean "
                  "'name'?",
                  "9: item type 't': a check that exactly one property is set names two or more",
                  "9: item type 't': the check 'm' is a function of a plugin, but pack 'core' has "
                  "no plugin"));

  PackDefinition pack = core();
  pack.has_plugin = true;
  t.checks = {PluginCheck{"m"}};
  pack.item_types.push_back(t);
  const BuiltSchema built = build_schema({pack});
  ASSERT_THAT(built.errors, IsEmpty());
  EXPECT_EQ(built.schema->find_item_type("t")->views.at("order").pack, "core");
}

TEST(SchemaElements, RefusesWhatCannotBe) {
  ItemTypeDefinition t = type("t");
  t.elements = {child("a", "nothing", 2),
                element("b", ElementKind::Collection, "t", 3),
                element("c", ElementKind::Collection, "t", 4),
                child("d", "root", 5),
                child("e", "root", 6),
                child("f", "t", 7),
                child("g", "", 8)};
  t.elements[1].min = 3;
  t.elements[1].max = 2;
  t.elements[2].required = true;
  t.elements[5].read_only = true;
  EXPECT_THAT(
      errors_of(t),
      ElementsAre("2: element 'a' is of item type 'nothing', which no pack defines",
                  "3: element 'b': 3 to 2 items leave no number that is right",
                  "4: element 'c': a collection is always there; use `min` to require items in it",
                  "6: element 'e' is the same as element 'd'; several children of one type belong "
                  "in a collection",
                  "7: element 'f': only a reference can be read-only or exclusive",
                  HasSubstr("8: element 'g' has no type; it is a child")));
}

TEST(SchemaElements, RequiredChildrenCannotGoRoundInACircle) {
  PackDefinition pack = core();
  ItemTypeDefinition a = type("a");
  a.elements = {child("b", "b", 2)};
  a.elements[0].required = true;
  ItemTypeDefinition b = type("b");
  b.elements = {child("a", "a", 3)};
  b.elements[0].required = true;
  pack.item_types.insert(pack.item_types.end(), {a, b});
  EXPECT_THAT(errors_of({pack}),
              ElementsAre("3: required children make each other without end: a -> b -> a; make one "
                          "of them optional"));
  pack.item_types.back().elements[0].required = false;
  EXPECT_THAT(errors_of({pack}), IsEmpty());
}

TEST(SchemaElements, ARequiredChildIsOfATypeThatHasItems) {
  PackDefinition pack = core();
  ItemTypeDefinition a = type("a");
  a.elements = {child("b", "b", 2), child("c", "b", 3)};
  a.elements[0].required = true;
  ItemTypeDefinition b = type("b");
  b.is_abstract = true;
  pack.item_types.insert(pack.item_types.end(), {a, b});
  EXPECT_THAT(errors_of({pack}),
              ElementsAre("2: element 'b': a required child is made with its parent, but 'b' is "
                          "abstract"));
}

TEST(SchemaRequire, RefusesStrangersAndCycles) {
  ItemTypeDefinition t = type("t");
  t.elements = {child("a", "t", 2, {"b"}), child("b", "t", 3, {"c"}), child("c", "t", 4, {"a"}),
                child("d", "t", 5, {"e"}), child("f", "t", 6, {"f"})};
  EXPECT_THAT(
      errors_of(t),
      ElementsAre("2: item type 't': elements require each other in a circle: a -> b -> c -> a",
                  "5: element 'd' requires 'e', which is no element of 't'",
                  "6: item type 't': elements require each other in a circle: f -> f"));
}

TEST(SchemaPacks, ChecksNamesVersionsAndNeeds) {
  PackDefinition twin = core();
  twin.item_types.clear();
  twin.property_types.clear();
  twin.place = {"z/pack.yaml", 2, 1};
  PackDefinition odd = twin;
  odd.name = "odd pack";
  odd.version = "one";
  odd.place.line = 3;
  PackDefinition needy = twin;
  needy.name = "needy";
  needy.place.line = 4;
  needy.needs = {{"cor", "1", {"z/pack.yaml", 5, 1}},
                 {"core", "2.0", {"z/pack.yaml", 6, 1}},
                 {"core", "x", {"z/pack.yaml", 7, 1}}};
  EXPECT_THAT(
      errors_of({core(), twin, odd, needy}),
      ElementsAre("2: pack 'core' is there already, at core/pack.yaml:1:1",
                  HasSubstr("3: the pack's name 'odd pack' is not a name"),
                  HasSubstr("3: the pack's version 'one' is not a version"),
                  "5: pack 'needy' needs pack 'cor', which is not there; did you mean 'core'?",
                  "6: pack 'needy' needs pack 'core' 2.0 or newer; the one at core/pack.yaml:1:1 "
                  "is 1.0",
                  HasSubstr("7: the needed version 'x' is not a version")));
}

TEST(SchemaPacks, NeedsGoRoundInNoCircle) {
  PackDefinition a = core();
  a.place.line = 1;
  a.needs = {{"b", "1", {}}};
  PackDefinition b;
  b.name = "b";
  b.version = "1";
  b.needs = {{"core", "1", {}}};
  EXPECT_THAT(errors_of({a, b}), ElementsAre(HasSubstr("packs need each other in a circle")));
}

TEST(SchemaPacks, WhatAPackUsesItMustNeed) {
  PackDefinition user;
  user.name = "user";
  user.version = "1.0";
  user.place = {"user/pack.yaml", 1, 1};
  ItemTypeDefinition t = type("t", "root", 2);
  t.properties = {property("x", "text", 3)};
  t.elements = {child("y", "root", 4)};
  user.item_types = {t};
  EXPECT_THAT(errors_of({core(), user}),
              ElementsAre(HasSubstr("2: item type 'root' is defined by pack 'core', which pack "
                                    "'user' does not need; add it to `needs`"),
                          HasSubstr("3: property type 'text' is defined by pack 'core'"),
                          HasSubstr("4: item type 'root' is defined by pack 'core'")));
  PackDefinition middle;
  middle.name = "middle";
  middle.version = "1.0";
  middle.needs = {{"core", "1.0", {}}};
  user.needs = {{"middle", "", {}}};
  EXPECT_THAT(errors_of({core(), middle, user}), IsEmpty());
}

MigrationStep step(decltype(MigrationStep::change) change, int line) {
  return {std::move(change), at(line)};
}

TEST(SchemaMigrations, LeadToTheTypesThereAre) {
  PackDefinition pack = core();
  pack.version = "3.0";
  ItemTypeDefinition t = type("t");
  t.properties = {property("name", "text")};
  t.elements = {element("disks", ElementKind::Collection, "root")};
  pack.item_types.push_back(t);
  pack.migrations = {{"2.0",
                      {step(AddProperty{"old", "label", "x"}, 1),
                       step(AddProperty{"old", "gone", {}}, 2), step(RenameType{"old", "t"}, 3)},
                      at(1)},
                     {"3.0",
                      {step(RenameProperty{"t", "label", "name"}, 4),
                       step(RemoveProperty{"t", "gone"}, 5), step(AddCollection{"t", "disks"}, 6)},
                      at(4)}};
  EXPECT_THAT(errors_of({pack}), IsEmpty());

  pack.migrations[1].steps = {step(RemoveProperty{"t", "name"}, 5),
                              step(AddCollection{"t", "dsks"}, 6),
                              step(AddProperty{"tt", "x", {}}, 7)};
  EXPECT_THAT(
      errors_of({pack}),
      ElementsAre("1: the migrations lead to property 'label' of 't', which has none of that name",
                  "2: the migrations lead to property 'gone' of 't', which has none of that name",
                  "5: the migrations remove property 'name' of 't', which still has it",
                  "6: the migrations lead to collection 'dsks' of 't', which has none of that name",
                  "7: the migrations lead to item type 'tt', which no pack defines"));
}

TEST(SchemaModelChecks, NameWhatThereIs) {
  PackDefinition pack = core();
  ItemTypeDefinition t = type("t");
  t.properties = {property("name", "text")};
  t.elements = {element("parts", ElementKind::Collection, "t"),
                element("log", ElementKind::Child, "root")};
  t.model_checks = {{UniqueCheck{"name", {}, false}, at(1)},
                    {UniqueCheck{"nmae", {"t"}, false}, at(2)},
                    {UniqueCheck{"name", {"t", "root"}, false}, at(3)},
                    {UniqueCheck{"name", {"tt"}, false}, at(4)},
                    {ListsCheck{"name", "parts", "t"}, at(5)},
                    {ListsCheck{"name", "log", "t"}, at(6)},
                    {ListsCheck{"name", "part", "t"}, at(7)}};
  ItemTypeDefinition u = type("u");
  u.properties = {property("name", "text")};
  u.model_checks = {{UniqueCheck{"name", {"t"}, false}, at(8)}};
  pack.item_types.push_back(t);
  pack.item_types.push_back(u);
  EXPECT_THAT(
      errors_of({pack}),
      ElementsAre("2: item type 't': a check names 'nmae', which is no property; did you mean "
                  "'name'?",
                  "3: item type 'root': a check names 'name', which is no property",
                  "4: item type 't': a check names item type 'tt', which no pack defines",
                  "6: item type 't': a check names 'log', which is no collection of 't'",
                  "7: item type 't': a check names 'part', which is no collection of 't'; did you "
                  "mean 'parts'?",
                  "8: item type 'u': what is unique among 't' is no rule for the type itself"));
}

TEST(SchemaMigrations, AddedValuesAreRightForTheirTypes) {
  PackDefinition pack = core();
  ItemTypeDefinition t = type("t");
  t.properties = {property("size", "number"), property("label", "text"), property("note", "text")};
  t.properties[1].required = true;
  pack.item_types.push_back(t);
  pack.migrations = {
      {"1.0",
       {step(AddProperty{"t", "length", "abc"}, 1), step(RenameProperty{"t", "length", "size"}, 2),
        step(AddProperty{"t", "label", {}}, 3), step(AddProperty{"t", "note", {}}, 4)},
       at(1)}};
  EXPECT_THAT(errors_of({pack}),
              ElementsAre(HasSubstr("1: the value for property 'length' is refused by its type: "),
                          "3: property 'label' is required and has no default; the step needs a "
                          "`value`"));
}

TEST(SchemaMigrations, RemoveWhatIsNotThereAnyMore) {
  PackDefinition pack = core();
  ItemTypeDefinition t = type("t");
  t.elements = {element("disks", ElementKind::Collection, "root"),
                element("log", ElementKind::Child, "t")};
  pack.item_types.push_back(t);
  pack.migrations = {
      {"1.0",
       {step(RemoveElement{"t", "names", true}, 1), step(RemoveElement{"t", "disks", true}, 2),
        step(RemoveElement{"t", "log", false}, 3), step(RemoveElement{"t", "log", true}, 4)},
       at(1)}};
  EXPECT_THAT(errors_of({pack}),
              ElementsAre("2: the migrations remove collection 'disks' of 't', which still has it",
                          "3: the migrations remove child 'log' of 't', which still has it"));
  pack.migrations.front().steps = {step(RemoveElement{"t", "disks", true}, 1),
                                   step(AddCollection{"t", "disks"}, 2)};
  EXPECT_THAT(errors_of({pack}), IsEmpty());
}

TEST(SchemaMigrations, ComeInTheOrderOfTheirVersions) {
  PackDefinition pack = core();
  pack.migrations = {
      {"0.9", {}, at(1)}, {"0.9.0", {}, at(2)}, {"x", {}, at(3)}, {"1.1", {}, at(4)}};
  EXPECT_THAT(errors_of({pack}),
              ElementsAre("2: a migration to 0.9.0 after one to 0.9; the oldest comes first",
                          HasSubstr("3: the migration's version 'x' is not a version"),
                          "4: a migration to 1.1, which is newer than the pack itself, 1.0"));
}

}  // namespace
}  // namespace muster::model
