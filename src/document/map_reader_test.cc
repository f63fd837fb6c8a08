#include "document/map_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "document/reader.h"

namespace muster::document {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Fixture {
  explicit Fixture(std::string_view text)
      : read(read_document(text, "p.yaml")),
        reader(read.document, read.document.root, "a pack", problems) {
    EXPECT_TRUE(read.good());
  }

  std::vector<std::string> told() {
    std::vector<std::string> lines;
    for (const Problem& problem : std::move(problems).take()) lines.push_back(to_text(problem));
    return lines;
  }

  ReadDocument read;
  Problems problems;
  MapReader reader;
};

TEST(MapReader, ReadsWhatIsThere) {
  Fixture f("name: core\nmax: 5\nsecret: true\nneeds: [a, 'b']\none: c\nkind: child\nempty:\n");
  EXPECT_EQ(f.reader.required_text("name"), "core");
  EXPECT_EQ(f.reader.integer("max", 0, 9), 5);
  EXPECT_EQ(f.reader.flag("secret"), true);
  EXPECT_THAT(f.reader.texts("needs"), ElementsAre("a", "b"));
  EXPECT_THAT(f.reader.texts("one"), ElementsAre("c"));
  static constexpr std::array<std::string_view, 2> kKinds = {"collection", "child"};
  EXPECT_EQ(f.reader.choice("kind", kKinds), 1U);
  EXPECT_EQ(f.reader.map("empty"), nullptr);
  EXPECT_FALSE(f.reader.text("absent"));
  EXPECT_EQ(model::to_text(f.reader.place("max")), "p.yaml:2:1");
  f.reader.finish();
  EXPECT_THAT(f.told(), IsEmpty());
}

TEST(MapReader, TellsEverythingThatIsWrongInTheOrderOfTheText) {
  Fixture f(
      "max: ten\nnaem: core\nsecret: yes\nneeds: {a: b}\nkind: chld\nlist: [[1], 2]\n"
      "text: [1]\nempty:\n");
  EXPECT_EQ(f.reader.required_text("name"), "");
  EXPECT_FALSE(f.reader.integer("max", 0, 9));
  EXPECT_FALSE(f.reader.flag("secret"));
  EXPECT_THAT(f.reader.texts("needs"), IsEmpty());
  EXPECT_THAT(f.reader.texts("list"), ElementsAre("2"));
  EXPECT_FALSE(f.reader.text("text"));
  EXPECT_FALSE(f.reader.text("empty"));
  static constexpr std::array<std::string_view, 2> kKinds = {"collection", "child"};
  EXPECT_FALSE(f.reader.choice("kind", kKinds));
  f.reader.finish();
  EXPECT_THAT(
      f.told(),
      ElementsAre("p.yaml:1:1: a pack has no 'name'",
                  "p.yaml:1:6: 'max' of a pack is a whole number from 0 to 9, not 'ten'",
                  "p.yaml:2:1: a pack has no field 'naem'; did you mean 'name'?",
                  "p.yaml:3:9: 'secret' of a pack is true or false, not 'yes'",
                  "p.yaml:4:8: 'needs' of a pack is a list of texts; here is a mapping",
                  "p.yaml:5:7: 'kind' of a pack is one of 'collection' and 'child', not 'chld'; "
                  "did you mean 'child'?",
                  "p.yaml:6:8: an entry of 'list' is a text; here is a list",
                  "p.yaml:7:7: 'text' of a pack is a text; here is a list",
                  "p.yaml:8:7: 'empty' of a pack is a text; here is nothing"));
}

TEST(MapReader, WhatIsNoMappingIsToldOnce) {
  Fixture f("[1, 2]");
  f.reader.text("x");
  f.reader.list("y");
  f.reader.finish();
  EXPECT_THAT(f.told(), ElementsAre("p.yaml:1:1: a pack is a mapping; here is a list"));
}

}  // namespace
}  // namespace muster::document
