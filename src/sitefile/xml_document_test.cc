#include "sitefile/xml_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::sitefile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> problems_of(std::string_view text, const XmlLimits& limits = {}) {
  std::vector<std::string> lines;
  for (const document::Problem& problem : read_xml_document(text, "m.xml", limits).problems) {
    lines.push_back(to_text(problem));
  }
  return lines;
}

TEST(XmlDocument, HasElementsAttributesTextsAndPlaces) {
  const ReadXmlDocument read = read_xml_document(
      "\xEF\xBB\xBF<?xml version='1.0' encoding='utf-8'?>\n"
      "<!-- a <comment> & more -->\n"
      "<a x='1 &lt; 2'>\n"
      "  \xC3\xA4<b>one<!-- no -->&amp;<![CDATA[<two> &c;]]></b><c/><d> </d>\n"
      "</a>\n",
      "m.xml");
  ASSERT_TRUE(read.good());
  EXPECT_EQ(read.root.name, "a");
  EXPECT_EQ(read.root.mark, (document::Mark{3, 1}));
  ASSERT_NE(read.root.attribute("x"), nullptr);
  EXPECT_EQ(*read.root.attribute("x"), "1 < 2");
  EXPECT_EQ(read.root.attribute("y"), nullptr);
  ASSERT_EQ(read.root.children.size(), 3U);
  EXPECT_EQ(read.root.children[0].text, "one&<two> &c;");
  EXPECT_EQ(read.root.children[0].mark, (document::Mark{4, 4})) << "characters, not bytes";
  EXPECT_EQ(read.root.children[1].text, "");
  EXPECT_EQ(read.root.children[2].text, " ");
}

TEST(XmlDocument, RefusesWhatIsNotXml) {
  EXPECT_THAT(problems_of(""), ElementsAre("m.xml: has no element"));
  EXPECT_THAT(problems_of("<a>\n</b>"),
              ElementsAre(HasSubstr("m.xml:2:3: not XML: start-end tags")));
  EXPECT_THAT(problems_of("<a>\n<b>"), ElementsAre(HasSubstr("not XML")));
  EXPECT_THAT(problems_of("<a x=1/>"), ElementsAre(HasSubstr("m.xml:1:6: not XML")));
  EXPECT_THAT(problems_of("<a/>\n<b/>"),
              ElementsAre("m.xml:2:1: a second first element; a file has one"));
  EXPECT_THAT(problems_of("<a/>\ntext"), ElementsAre("m.xml:1:5: text that stands in no element"));
  EXPECT_THAT(problems_of("<a x='1' x='2'/>"),
              ElementsAre("m.xml:1:1: <a> has the attribute 'x' twice"));
  EXPECT_THAT(problems_of("<a>\x01</a>"), ElementsAre(HasSubstr("m.xml:1:4: a byte that is not")));
  EXPECT_THAT(problems_of("<a>\xFF</a>"), ElementsAre(HasSubstr("m.xml:1:4: a byte that is not")));
  EXPECT_THAT(problems_of("<?xml version='1.0' encoding='latin1'?><a/>"),
              ElementsAre("m.xml:1:3: the encoding 'latin1'; files are read as UTF-8"));
}

TEST(XmlDocument, ExpandsNothing) {
  EXPECT_THAT(problems_of("<!DOCTYPE a [<!ENTITY b 'bbbb'>]>\n<a>&b;</a>"),
              ElementsAre("m.xml:1:1: a document type; it is not read, and may not stand here"));
  EXPECT_THAT(
      problems_of("<a>&b; &amp; & &#65; &#0; &#xD800; &#x110000;</a>"),
      ElementsAre(HasSubstr("m.xml:1:4: an '&' that"), HasSubstr("m.xml:1:14: an '&' that"),
                  HasSubstr("m.xml:1:22: an '&' that"), HasSubstr("m.xml:1:27: an '&' that"),
                  HasSubstr("m.xml:1:36: an '&' that")));
}

TEST(XmlDocument, HasLimits) {
  EXPECT_THAT(problems_of("<a><b/></a>", {.bytes_max = 10}),
              ElementsAre("m.xml: the file has 11 bytes; at most 10 are allowed"));
  EXPECT_THAT(problems_of("<a><b><c/></b></a>", {.depth_max = 2}),
              ElementsAre("m.xml:1:7: nested deeper than 2 levels"));
  EXPECT_THAT(problems_of("<a><b/><c/></a>", {.elements_max = 2}),
              ElementsAre("m.xml:1:8: more than 2 elements in one file"));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  for (int i = 0; i < 100'000; ++i) deep += "</a>";
  EXPECT_THAT(problems_of(deep), ElementsAre(HasSubstr("nested deeper than 100 levels")));
}

}  // namespace
}  // namespace muster::sitefile
