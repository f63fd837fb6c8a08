#include "document/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json.h"

namespace muster::document {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The value as one line: `"quoted"`, plain, [list], {key: value}, null.
std::string flat(const Value& value) {
  if (const Scalar* scalar = value.scalar()) {
    return scalar->quoted ? fmt::format("\"{}\"", scalar->text) : scalar->text;
  }
  std::string text;
  if (const List* list = value.list()) {
    for (const Value& item : *list) text += (text.empty() ? "" : ", ") + flat(item);
    return "[" + text + "]";
  }
  if (const Map* map = value.map()) {
    for (const Entry& entry : *map) {
      text += (text.empty() ? "" : ", ") + entry.key + ": " + flat(entry.value);
    }
    return "{" + text + "}";
  }
  return "null";
}

std::vector<std::string> problems_of(std::string_view text, const Limits& limits = {}) {
  std::vector<std::string> lines;
  for (const Problem& problem : read_document(text, "f.yaml", limits).problems) {
    lines.push_back(to_text(problem));
  }
  return lines;
}

TEST(ReadDocument, KeepsScalarsAsTheyAreWritten) {
  const ReadDocument read = read_document(
      "a: yes\nb: 0755\nc: 1.10\nd: 'no'\ne: \"\\u00e4\"\nf: |\n  two\n  lines\ng: ~\nh:\ni: "
      "'null'\nj: ''\nk: 2026-11-15\n",
      "f.yaml");
  ASSERT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(
      flat(read.document.root),
      "{a: yes, b: 0755, c: 1.10, d: \"no\", e: \"ä\", f: \"two\nlines\n\", g: null, h: null, "
      "i: \"null\", j: \"\", k: 2026-11-15}");
}

TEST(ReadDocument, KeepsTheOrderOfKeysAndThePlaceOfEverything) {
  const ReadDocument read = read_document("z: 1\na:\n  - x\n  - {y: 2}\n", "f.yaml");
  ASSERT_THAT(read.problems, IsEmpty());
  const Map& map = *read.document.root.map();
  ASSERT_THAT(map, SizeIs(2));
  EXPECT_EQ(map[0].key, "z");
  EXPECT_EQ(map[0].mark, (Mark{1, 1}));
  EXPECT_EQ(map[0].value.mark, (Mark{1, 4}));
  EXPECT_EQ(map[1].mark, (Mark{2, 1}));
  const Value& inner = (*map[1].value.list())[1];
  EXPECT_EQ(inner.mark, (Mark{4, 5}));
  EXPECT_EQ((*inner.map())[0].value.mark, (Mark{4, 9}));
  EXPECT_EQ(model::to_text(read.document.place(inner.mark)), "f.yaml:4:5");
}

TEST(ReadDocument, ReadsJson) {
  const ReadDocument read = read_document(
      "{\n\t\"a\": [1, 2.50, true, null],\n\t\"smile\": \"\\ud83d\\ude00\\\\ud83d\", \"s\": "
      "\"a\\/b\"\n}\n",
      "f.json");
  ASSERT_THAT(read.problems, IsEmpty()) << problems_of("{\n\t\"a\": 1}")[0];
  EXPECT_EQ(flat(read.document.root),
            "{a: [1, 2.50, true, null], smile: \"😀\\ud83d\", s: \"a/b\"}");
}

TEST(ReadDocument, AnEmptyTextIsNothing) {
  for (const char* text : {"", "\n", "# only words\n", "---\n", "\xEF\xBB\xBF"}) {
    const ReadDocument read = read_document(text, "f.yaml");
    EXPECT_THAT(read.problems, IsEmpty()) << text;
    EXPECT_EQ(read.document.root.kind(), Kind::Null);
  }
  EXPECT_EQ(flat(read_document("\xEF\xBB\xBF"
                               "a: b",
                               "f")
                     .document.root),
            "{a: b}");
}

TEST(ReadDocument, TellsWhereTheSyntaxIsWrong) {
  EXPECT_THAT(problems_of("a: 1\nb: [1, 2\nc: 3\n"), ElementsAre(HasSubstr("f.yaml:3:")));
  EXPECT_THAT(problems_of("a: b: c\n"),
              ElementsAre("f.yaml:1:5: mapping values are not allowed in this context"));
  EXPECT_THAT(problems_of("a:\n\tb: 1\n"),
              ElementsAre("f.yaml:2:1: a tab; YAML is indented with spaces"));
  EXPECT_THAT(problems_of("a: 'open\n"),
              ElementsAre(HasSubstr("f.yaml:2:1: found unexpected end")));
  EXPECT_THAT(problems_of("a: 1\nb: \xFF\n"), ElementsAre(HasSubstr("f.yaml:2:4: a byte that is")));
  EXPECT_THAT(problems_of(std::string_view("a: \0b", 5)),
              ElementsAre(HasSubstr("f.yaml:1:4: a byte that is not UTF-8, or a control")));
  EXPECT_THAT(problems_of("a: \"\\0\"\n"), ElementsAre(HasSubstr("f.yaml:1:4: a text with a NUL")));
}

TEST(ReadDocument, TellsAllDoubleKeysWithBothPlaces) {
  EXPECT_THAT(problems_of("a: 1\nb: {x: 1, y: 2, x: 3}\na: 2\n"),
              ElementsAre("f.yaml:2:17: the key 'x' stands twice, first in line 2, column 5",
                          "f.yaml:3:1: the key 'a' stands twice, first in line 1, column 1"));
  std::string large;
  for (int i = 0; i < 100; ++i) large += fmt::format("k{}: 1\n", i);
  EXPECT_THAT(problems_of(large), IsEmpty());
  EXPECT_THAT(problems_of(large + "k42: 2\nk42: 3\n"),
              ElementsAre("f.yaml:101:1: the key 'k42' stands twice, first in line 43, column 1",
                          "f.yaml:102:1: the key 'k42' stands twice, first in line 43, column 1"));
}

TEST(ReadDocument, RefusesAnchorsAliasesTagsAndStrangeKeys) {
  EXPECT_THAT(problems_of("a: &x 1\nb: *x\n"),
              ElementsAre("f.yaml:1:4: an anchor; aliases are not read, so it has no use",
                          "f.yaml:2:4: an alias; write the value out"));
  EXPECT_THAT(problems_of("a: !!str 1\nb: !own {x: 1}\n"),
              ElementsAre(HasSubstr("f.yaml:1:4: the tag 'tag:yaml.org,2002:str'"),
                          HasSubstr("f.yaml:2:4: the tag '!own'")));
  EXPECT_THAT(problems_of("? [a, b]\n: 1\n? {c: d}\n: 2\n"),
              ElementsAre(HasSubstr("f.yaml:1:3: a list or mapping as a key"),
                          HasSubstr("f.yaml:3:3: a list or mapping as a key"),
                          HasSubstr("the key '' stands twice")));
  EXPECT_THAT(problems_of("&x a: 1\n*x : 2\n"), SizeIs(2));
  EXPECT_THAT(problems_of("a: 1\n---\nb: 2\n"),
              ElementsAre("f.yaml:2:1: a second document; a file has one"));
}

TEST(ReadDocument, KeepsItsLimits) {
  EXPECT_THAT(problems_of("a: 123456", {.bytes_max = 8}),
              ElementsAre("f.yaml: the file has 9 bytes; at most 8 are allowed"));
  EXPECT_THAT(problems_of("[[[1]]]", {.depth_max = 2}),
              ElementsAre("f.yaml:1:3: nested deeper than 2 levels"));
  EXPECT_THAT(problems_of("[1, 2, 3]", {.values_max = 3}),
              ElementsAre("f.yaml:1:8: more than 3 values in one file"));
  EXPECT_THAT(problems_of("a: 12345", {.scalar_bytes_max = 4}),
              ElementsAre("f.yaml:1:4: a text of 5 bytes; at most 4 are allowed"));
  std::string many;
  for (int i = 0; i < 500; ++i) many += "a: !x 1\n";
  EXPECT_THAT(problems_of(many), SizeIs(100));
  EXPECT_THAT(problems_of(std::string(1'000'000, '[')), SizeIs(1));
}

// Each line stands for ten of the line before; read out it would be 10^9 values.
TEST(ReadDocument, ABombDoesNotGoOff) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += fmt::format("a{0}: &a{0} [", i);
    for (int j = 0; j < 10; ++j) bomb += fmt::format("{}*a{}", j == 0 ? "" : ", ", i - 1);
    bomb += "]\n";
  }
  const std::vector<std::string> problems = problems_of(bomb);
  EXPECT_THAT(problems, SizeIs(100));
  EXPECT_EQ(problems[0], "f.yaml:1:5: an anchor; aliases are not read, so it has no use");
}

Json arbitrary_json(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 4 : 2);
  if (kind == 0) return *rc::gen::string<std::string>();
  if (kind == 1) return *rc::gen::inRange(-1000, 1000);
  Json value = kind == 2 ? Json::array() : Json::object();
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) {
    if (kind == 2) {
      value.push_back(arbitrary_json(depth - 1));
    } else {
      value[*rc::gen::string<std::string>()] = arbitrary_json(depth - 1);
    }
  }
  return value;
}

void same(const Json& json, const Value& value) {
  if (json.is_object()) {
    RC_ASSERT(value.map() != nullptr);
    RC_ASSERT(value.map()->size() == json.size());
    for (const Entry& entry : *value.map()) {
      RC_ASSERT(json.contains(entry.key));
      same(json[entry.key], entry.value);
    }
  } else if (json.is_array()) {
    RC_ASSERT(value.list() != nullptr);
    RC_ASSERT(value.list()->size() == json.size());
    for (std::size_t i = 0; i < json.size(); ++i) same(json[i], (*value.list())[i]);
  } else {
    RC_ASSERT(value.scalar() != nullptr);
    RC_ASSERT(value.scalar()->text == (json.is_string() ? json.get<std::string>() : json.dump()));
    RC_ASSERT(value.scalar()->quoted == json.is_string());
  }
}

// Escapes only, so that any text survives: nlohmann writes what JSON asks for and no more.
RC_GTEST_PROP(ReadDocumentProp, ReadsWhatAJsonWriterWrites, ()) {
  // What begins with a bracket is JSON; a text alone would be read as YAML.
  Json json = Json::array({arbitrary_json(3)});
  const std::string text =
      json.dump(*rc::gen::element(-1, 2), ' ', true, Json::error_handler_t::replace);
  json = *parse_json(text);  // with what is not UTF-8 replaced
  const ReadDocument read = read_document(text, "f.json");
  RC_TAG(read.good() ? "read" : "refused");
  if (!read.good()) {
    // A NUL and DEL are what JSON allows and we do not; a key may not be longer than libyaml reads.
    RC_ASSERT(text.find("\\u0000") != std::string::npos || text.find('\x7F') != std::string::npos);
    return;
  }
  same(json, read.document.root);
}

}  // namespace
}  // namespace muster::document
