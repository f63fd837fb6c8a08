#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/test_types.h"
#include "sitefile/site.h"
#include "sitefile/xml_writer.h"

// The XML of LITP, read and written, over the small world of model/test_types.h.

namespace muster::sitefile {
namespace {

using model::Declaration;
using model::Detail;
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

constexpr std::string_view kNamespace = "xmlns:litp=\"http://www.ericsson.com/litp\"";

// `%` stands for the namespace.
Site read(std::string text, const ReadOptions& options = {}) {
  if (const std::size_t sign = text.find('%'); sign != std::string::npos) {
    text.replace(sign, 1, kNamespace);
  }
  return read_site_text(text, "m.xml", options);
}

constexpr const char* kModel = R"(<?xml version='1.0' encoding='utf-8'?>
<litp:root xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" % id="root">
  <litp:root-deployments-collection id="deployments">
    <litp:deployment id="d1">
      <litp:deployment-clusters-collection id="clusters">
        <litp:cluster id="c1">
          <litp:cluster-nodes-collection id="nodes">
            <litp:node id="n1">
              <hostname>n1</hostname>
              <is_locked>false<!-- note: this property is not updatable --></is_locked>
              <litp:system-inherit source_path="/infrastructure/systems/s1" id="system">
                <litp:system-disks-collection-inherit
                    source_path="/infrastructure/systems/s1/disks" id="disks"/>
              </litp:system-inherit>
              <litp:node-items-collection id="items">
                <litp:package-inherit
                    source_path="../../../../../../../../software/items/vim" id="vim">
                  <version>%%vim.version%%</version>
                </litp:package-inherit>
              </litp:node-items-collection>
            </litp:node>
          </litp:cluster-nodes-collection>
        </litp:cluster>
      </litp:deployment-clusters-collection>
    </litp:deployment>
  </litp:root-deployments-collection>
  <litp:root-plans-collection id="plans"/>
  <litp:software id="software">
    <litp:software-items-collection id="items">
      <litp:package id="vim">
        <name>vim</name>
        <note>a &lt; b</note>
      </litp:package>
    </litp:software-items-collection>
  </litp:software>
</litp:root>
)";

TEST(Xml, DeclaresWhatIsWritten) {
  const Site site = read(kModel, {.values = {{"vim.version", "2"}}});
  ASSERT_THAT(lines_of(site), IsEmpty());

  Declaration vim;
  vim.type = "package";
  vim.properties = {{"name", "vim"}, {"note", "a < b"}};
  Declaration system;
  system.type = "system";
  system.inherit = path("/infrastructure/systems/s1");
  system.children["disks"] = {};
  Declaration used;
  used.type = "package";
  used.inherit = path("/software/items/vim");
  used.properties = {{"version", "2"}};
  Declaration node;
  node.type = "node";
  node.properties = {{"hostname", "n1"}, {"is_locked", "false"}};
  node.children["system"] = system;
  node.children["items"].children["vim"] = used;
  Declaration cluster;
  cluster.type = "cluster";
  cluster.children["nodes"].children["n1"] = node;
  Declaration deployment;
  deployment.type = "deployment";
  deployment.children["clusters"].children["c1"] = cluster;
  Declaration software;
  software.type = "software";
  software.children["items"].children["vim"] = vim;
  Declaration root;
  root.children["deployments"].children["d1"] = deployment;
  root.children["software"] = software;
  EXPECT_EQ(site.declaration, root);
  EXPECT_TRUE(site.at.is_root());

  const Path n1 = path("/deployments/d1/clusters/c1/nodes/n1");
  EXPECT_EQ(to_text(site.places.find(n1)), "m.xml:8:13");
  EXPECT_EQ(to_text(site.places.find(n1, "hostname")), "m.xml:9:15");
}

TEST(Xml, APartStandsBelowTheGivenItem) {
  const Site site = read("<litp:package % id='vim'><name>vim</name></litp:package>",
                         {.at = path("/software/items")});
  ASSERT_THAT(lines_of(site), IsEmpty());
  EXPECT_EQ(site.at, path("/software/items/vim"));
  EXPECT_EQ(site.declaration.type, "package");
  EXPECT_EQ(to_text(site.places.find(path("/software/items/vim"), "name")), "m.xml:1:66");

  EXPECT_THAT(lines_of(read("<litp:root % id='root'/>", {.at = path("/ms")})),
              ElementsAre("m.xml:1:1: <litp:root> is the whole model, which cannot stand below "
                          "/ms"));
}

TEST(Xml, IsToldByItsTextToo) {
  EXPECT_TRUE(
      read_site_text(fmt::format(" <litp:root {} id='root'/>", kNamespace), "-", {}).good());
}

TEST(Xml, EveryProblemIsToldAtOnce) {
  EXPECT_THAT(
      lines_of(read(R"(<litp:root %>
text
<litp:node/>
<litp:node id='a b'/>
<litp:node id='a' colour='red' sourcepath='/x' source_path='/x'/>
<litp:node id='a'/>
<other:node id='b'/>
<litp:node-inherit id='c'/>
<litp:node-inherit id='d' source_path='../../x'/>
<litp:node-inherit id='e' source_path='/x//y'/>
<litp:node-inherit id='f' source_path='.'/>
<litp:root-nodes-collection id='node'/>
<p><q/></p>
<r x='1'/>
<s>1</s>
<s>2</s>
<t>%%name%%</t>
</litp:root>)")),
      ElementsAre(
          "m.xml:1:1: <litp:root> has text of its own; a property is an element with a text",
          "m.xml:3:1: <litp:node> has no 'id'",
          "m.xml:4:1: 'a b' is not an item's id; letters, digits, '_' and '-' are allowed",
          "m.xml:5:1: <litp:node> has a 'source_path', which only <...-inherit> has",
          "m.xml:5:1: <litp:node> has no attribute 'colour'",
          "m.xml:5:1: <litp:node> has no attribute 'sourcepath'; did you mean 'source_path'?",
          "m.xml:6:1: the id 'a' stands twice in /, first in line 5, column 1",
          "m.xml:7:1: the prefix 'other' of <other:node> does not stand for "
          "http://www.ericsson.com/litp",
          "m.xml:8:1: <litp:node-inherit> has no 'source_path'",
          "m.xml:9:1: the source_path '../../x' of <litp:node-inherit> leads out of the model",
          "m.xml:10:1: the source_path '/x//y' of <litp:node-inherit> is wrong: '/x//y' is not a "
          "path: an item's id may not be empty",
          "m.xml:11:1: the source_path '.' of <litp:node-inherit> is the item itself",
          "m.xml:12:1: the collection <litp:root-nodes-collection> has the id 'node'; it would be "
          "called <...-node-collection>",
          "m.xml:13:1: the property <p> of / has elements in it; a property has a text, and items "
          "have the prefix of http://www.ericsson.com/litp",
          "m.xml:14:1: the property <r> has an attribute 'x'; it has none",
          "m.xml:16:1: the property <s> of / stands twice, first in line 15, column 1",
          "m.xml:17:1: the placeholder %%name%% has no value"));
}

TEST(Xml, NeedsLitpsNamespace) {
  EXPECT_THAT(lines_of(read_site_text("<root id='root'/>", "m.xml", {})),
              ElementsAre("m.xml:1:1: <root> is not an element of http://www.ericsson.com/litp, as "
                          "the first one of a model is"));
  EXPECT_THAT(lines_of(read("<x:root xmlns:x='http://www.ericsson.com/litp' id='root'>"
                            "<litp:ms % id='ms'/></x:root>")),
              IsEmpty())
      << "any prefix, wherever it is bound";
}

// --- There and back. ---

struct World {
  World() : schema(model::testing::test_schema()), tree(model::empty_model(*schema)) {}

  bool edit(const model::Operation& operation) {
    return model::edit(tree, *schema, {operation}, model::Actor::User).ok();
  }

  model::SchemaPtr schema;
  model::Tree tree;
};

TEST(Xml, IsWrittenAsLitpWritesIt) {
  World world;
  ASSERT_TRUE(world.edit(model::CreateItem{
      path("/software/items"), "kit", "bundle", {{"name", "kit"}, {"note", "<\"&'>"}}}));
  ASSERT_TRUE(world.edit(
      model::CreateItem{path("/software/items/kit/parts"), "p", "package", {{"name", "p"}}}));
  ASSERT_TRUE(world.edit(model::InheritItem{
      path("/ms/items"), "kit", path("/software/items/kit"), {{"version", "2"}}}));
  const WrittenXml written = write_xml(*world.tree.find(path("/ms")), Detail::Full);
  ASSERT_TRUE(written.good());
  EXPECT_EQ(written.text,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<litp:ms xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
            " xmlns:litp=\"http://www.ericsson.com/litp\""
            " xsi:schemaLocation=\"http://www.ericsson.com/litp litp-xml-schema/litp.xsd\""
            " id=\"ms\">"
            R"(
  <litp:ms-items-collection id="items">
    <litp:bundle-inherit source_path="/software/items/kit" id="kit">
      <version>2</version>
      <litp:bundle-parts-collection-inherit source_path="/software/items/kit/parts" id="parts">
        <litp:package-inherit source_path="/software/items/kit/parts/p" id="p"/>
      </litp:bundle-parts-collection-inherit>
    </litp:bundle-inherit>
  </litp:ms-items-collection>
</litp:ms>
)");
  EXPECT_THAT(write_xml(*world.tree.find(path("/software/items/kit")), Detail::Brief).text,
              HasSubstr("  <name>kit</name>\n"
                        "  <note>&lt;&quot;&amp;'&gt;</note>\n"
                        "  <litp:bundle-parts-collection id=\"parts\">\n"));
  EXPECT_THAT(write_xml(world.tree.root(), Detail::Brief).text, HasSubstr(" id=\"root\">\n"));
}

TEST(Xml, ValuesThatItHasNoWordsForAreAnError) {
  World world;
  ASSERT_TRUE(world.edit(model::CreateItem{
      path("/software/items"), "a", "package", {{"name", "a"}, {"note", "bell\x07"}}}));
  const WrittenXml written = write_xml(world.tree.root(), Detail::Full);
  ASSERT_EQ(written.errors.size(), 1U);
  EXPECT_EQ(written.errors[0].path, path("/software/items/a"));
  EXPECT_EQ(written.errors[0].property, "note");
}

TEST(Xml, TheTypeOfAnInheritedItemIsThatOfItsSource) {
  World world;
  ASSERT_TRUE(
      world.edit(model::CreateItem{path("/software/items"), "vim", "package", {{"name", "vim"}}}));
  const Site site = read(
      "<litp:ms-items-collection % id='items'>"
      "<litp:bundle-inherit source_path='/software/items/vim' id='vim'/>"
      "</litp:ms-items-collection>",
      {.at = path("/ms")});
  ASSERT_THAT(lines_of(site), IsEmpty());
  for (const model::Prune prune : {model::Prune::Nothing, model::Prune::Undeclared}) {
    const model::EditOutcome outcome =
        model::apply(world.tree, *world.schema, site.at, site.declaration, prune);
    ASSERT_EQ(outcome.errors.size(), 1U);
    EXPECT_EQ(outcome.errors[0].message,
              "/ms/items/vim inherits from /software/items/vim, which is of type package, not "
              "bundle");
  }
}

rc::Gen<std::string> any_text() {
  const auto piece = rc::gen::element<std::string>("a", " ", "\n", "\t", "\r", "\r\n", "&", "&amp;",
                                                   "<", ">", "]]>", "<!--", "-->", "\"", "'", "%%",
                                                   "\xC3\xA4", "\xF0\x9F\x98\x80", "\x7F");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& each : pieces) text += each;
                        return placeholder_name(text) ? std::string() : text;
                      });
}

model::Operation any_operation() {
  const std::string id = *rc::gen::element<std::string>("a", "b", "c");
  const std::string other = *rc::gen::element<std::string>("a", "b", "c");
  const Path nodes = path("/deployments/d/clusters/c/nodes");
  const Path node = nodes.child(other);
  const Path package = path("/software/items").child(id);
  switch (*rc::gen::inRange(0, 9)) {
    case 0:
      return model::CreateItem{path("/software/items"),
                               id,
                               id == "a" ? "bundle" : "package",
                               {{"name", id}, {"note", *any_text()}, {"version", *any_text()}}};
    case 1:
      return model::CreateItem{path("/software/items/a/parts"), id, "package", {{"name", id}}};
    case 2:
      return model::CreateItem{
          path("/infrastructure/systems"), id, "system", {{"serial", *any_text()}}};
    case 3:
      return model::CreateItem{
          path("/infrastructure/systems").child(other).child("disks"), id, "disk", {{"size", "5"}}};
    case 4:
      return model::CreateItem{nodes, other, "node", {{"hostname", id}, {"password", "x"}}};
    case 5:
      return model::InheritItem{node, "system", path("/infrastructure/systems").child(id), {}};
    case 6:
      return model::InheritItem{node.child("items"), id, package, {{"version", *any_text()}}};
    case 7:
      return model::InheritItem{path("/ms/items"), id, package, {}};
    default:
      return model::UpdateItem{path("/ms/items/a/parts").child(id), {{"note", *any_text()}}, {}};
  }
}

void print(const model::Node& node, std::string& text) {
  const model::Item& item = node.item();
  text += node.path().text() + " " + item.type->id;
  if (item.source) text += " <- " + item.source->text();
  if (item.own) {
    for (const auto& [key, value] : *item.own) text += fmt::format(" {}={}", key, value);
  }
  text += '\n';
  for (const auto& child : node.children()) print(*child, text);
}

std::string picture(const model::Tree& tree) {
  std::string text;
  print(tree.root(), text);
  return text;
}

RC_GTEST_PROP(Xml, GoesThereAndBack, ()) {
  World world;
  world.edit(model::CreateItem{path("/deployments"), "d", "deployment", {}});
  world.edit(model::CreateItem{path("/deployments/d/clusters"), "c", "cluster", {}});
  for (int k = *rc::gen::inRange(0, 40); k > 0; --k) world.edit(any_operation());

  const WrittenXml written = write_xml(world.tree.root(), Detail::Full);
  RC_ASSERT(written.good());
  RC_LOG() << written.text;
  const Site site = read_site_text(written.text, "m.xml", {});
  for (const document::Problem& problem : site.problems) RC_LOG() << to_text(problem) << "\n";
  RC_ASSERT(site.good());

  model::Tree other = model::empty_model(*world.schema);
  const model::EditOutcome outcome =
      model::apply(other, *world.schema, site.at, site.declaration, model::Prune::Nothing);
  for (const model::ModelError& error : outcome.errors) {
    RC_LOG() << error.path.text() << ": " << error.message << "\n";
  }
  RC_ASSERT(outcome.ok());
  RC_ASSERT(picture(other) == picture(world.tree));
}

}  // namespace
}  // namespace muster::sitefile
