#include "sitefile/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sitefile/scalar.h"
#include "sitefile/site.h"

namespace muster::sitefile {
namespace {

using model::Declaration;
using model::Path;

constexpr std::string_view kSite = R"(deployments:
  site1:
    type: deployment
    clusters:
      db:
        type: cluster
        nodes:
          n1:
            type: node
            properties: {hostname: n1, node_id: 1}
            items:
              postgres: {inherit: /software/items/postgres}
            upgrade: {}
software:
  items:
    long:
      type: file
      properties:
        content: |
          first line

          # third line
            fourth: line
        mode: '0755'
        path: /etc/a file/of:some kind
        title: "it's\u0007"
    postgres: {type: package, properties: {hold: true, name: postgresql, version: '1.10'}}
)";

TEST(Writer, WritesWhatAPersonWouldWrite) {
  const Site site = read_site_text(kSite, "s.yaml", {});
  ASSERT_TRUE(site.good());
  EXPECT_EQ(write_yaml(site.declaration), kSite);
}

TEST(Writer, WritesJson) {
  const Site site = read_site_text(
      "ms: {properties: {a: 1, b: 'x\"y'}}\nsoftware: {items: {v: {type: package}}, e: {}}", "s",
      {});
  ASSERT_TRUE(site.good());
  EXPECT_EQ(write_json(site.declaration), R"({
  "ms": {
    "properties": {
      "a": "1",
      "b": "x\"y"
    }
  },
  "software": {
    "e": {},
    "items": {
      "v": {
        "type": "package"
      }
    }
  }
}
)");
}

TEST(Writer, QuotesWhatOthersWouldTakeForSomethingElse) {
  for (const char* plain : {"a", "true", "false", "0", "42", "a b", "/a/b", "10.0.0.1", "1.2.3",
                            "a:b", "http://x/y?z=1", "a,b", "50%", "vim-tiny", "12G x"}) {
    EXPECT_EQ(yaml_scalar(plain, false), plain);
  }
  for (const char* quoted :
       {"",      "yes",   "No",  "null",  "~",    "1.10", "0755", "0x1f", "1e3", "2024-01-02",
        "12:30", "1_000", "- a", "a: b",  "a #b", "#a",   "&a",   "*a",   "!a",  "|",
        ">",     "%a",    "@a",  "`a",    " a",   "a ",   "a:",   "[a]",  "{a}", "-",
        "---",   "...",   "? a", "\"a\"", "=",    "<<",   "ä"}) {
    EXPECT_EQ(yaml_scalar(quoted, false), "'" + std::string(quoted) + "'");
  }
  EXPECT_EQ(yaml_scalar("a,b", true), "'a,b'");
  EXPECT_EQ(yaml_scalar("a:b", true), "'a:b'");
  EXPECT_EQ(yaml_scalar("it's", true), "it's");
  EXPECT_EQ(yaml_scalar("'", true), "\"'\"");
  EXPECT_EQ(yaml_scalar("a\nb", true), "\"a\\nb\"");
  EXPECT_EQ(yaml_scalar("a\xFF", true), "\"a\xEF\xBF\xBD\"") << "not UTF-8";
}

// --- Random declarations, with texts that are hard to write. ---

rc::Gen<std::string> nasty_text() {
  const auto piece = rc::gen::element<std::string>(
      "a", "B", "0", "1", "9", ".", "-", "---", "...", ":", ": ", " ", "  ", "#", " #", "\n",
      "\n\n", "\n ", "\t", "\r", "\r\n", "'", "\"", "\\", "\\n", ",", "[", "]", "{", "}", "&", "*",
      "!", "|", ">", "%", "%%", "@", "`", "~", "null", "yes", "true", "=", "<<", "?", "? ", "- ",
      "\x7F", "\x01", "\x1B", "\xC2\x85", "\xC2\xA0", "\xC3\xA4", "\xE2\x80\xA8", "\xE2\x80\xA9",
      "\xEF\xBB\xBF", "\xEF\xBF\xBF", "\xF0\x9F\x98\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
      "\xC2\x80", std::string(120, 'x'), "\xF4\x8F\xBF\xBF");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& each : pieces) text += each;
                        return text;
                      });
}

rc::Gen<std::string> word() {
  return rc::gen::element<std::string>("a", "b2", "node", "is_locked", "yes", "null", "12", "0x1",
                                       "1e5", "-", "--", "-a", "_", "Type", "on", "off-site");
}

Declaration make_declaration(int depth) {
  Declaration made;
  if (*rc::gen::arbitrary<bool>()) made.type = *word();
  if (*rc::gen::weightedElement<bool>({{1, true}, {3, false}})) {
    made.inherit = Path::parse("/" + *word() + "/" + *word()).value();
  }
  const int properties = *rc::gen::inRange(0, 5);
  for (int i = 0; i < properties; ++i) made.properties[*word()] = *nasty_text();
  const int children = depth == 0 ? 0 : *rc::gen::inRange(0, 4);
  for (int i = 0; i < children; ++i) made.children[*word()] = make_declaration(depth - 1);
  return made;
}

// What looks like a placeholder stands for itself.
Values placeholders_in(const Declaration& declaration) {
  Values values;
  for (const auto& [name, value] : declaration.properties) {
    if (const auto found = placeholder_name(value)) values.emplace(*found, value);
  }
  for (const auto& [id, child] : declaration.children) values.merge(placeholders_in(child));
  return values;
}

void check_comes_back(const Declaration& declaration, const std::string& text) {
  const Path at = Path::parse("/at").value();
  const Site site =
      read_site_text(text, "s.yaml", {.at = at, .values = placeholders_in(declaration)});
  for (const document::Problem& problem : site.problems) RC_LOG() << to_text(problem) << "\n";
  RC_LOG() << text;
  RC_ASSERT(site.good());
  RC_ASSERT(site.declaration == declaration);
}

RC_GTEST_PROP(Writer, YamlReadsBackEqual, ()) {
  const Declaration declaration = make_declaration(3);
  check_comes_back(declaration, write_yaml(declaration));
}

RC_GTEST_PROP(Writer, JsonReadsBackEqual, ()) {
  const Declaration declaration = make_declaration(3);
  check_comes_back(declaration, write_json(declaration));
}

}  // namespace
}  // namespace muster::sitefile
