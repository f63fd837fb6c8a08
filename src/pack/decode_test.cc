#include "pack/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/schema.h"

namespace muster::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Decoded {
  DecodedPack pack;
  std::vector<std::string> problems;
};

Decoded decode(std::string manifest, std::string types = {}, std::string ruleset = {}) {
  PackFolder folder{"p"};
  folder.manifest = PackFile{"pack.yaml", std::move(manifest)};
  if (!types.empty()) folder.types.push_back({"types/t.yaml", std::move(types)});
  if (!ruleset.empty()) folder.ruleset = PackFile{"ruleset.yaml", std::move(ruleset)};
  document::Problems problems;
  Decoded decoded{decode_pack(folder, problems), {}};
  for (const document::Problem& problem : std::move(problems).take()) {
    decoded.problems.push_back(to_text(problem));
  }
  return decoded;
}

constexpr const char* kManifest = "name: p\nversion: 1.0\n";

TEST(DecodePack, ReadsTheManifest) {
  const Decoded decoded = decode(R"(name: web
version: 2.1.0
description: Web servers.
needs: {core: '1.0', files: "1.2"}
plugin: {program: bin/plugin}
migrations:
  - version: 2.0
    steps:
      - add_property: {type: site, property: port, value: '80'}
      - remove_property: {type: site, property: old}
      - rename_property: {type: site, from: a, to: b}
      - rename_type: {from: page, to: site}
      - add_collection: {type: site, collection: aliases}
      - remove_collection: {type: site, collection: names}
      - remove_child: {type: site, child: log}
)");
  EXPECT_THAT(decoded.problems, IsEmpty());
  const model::PackDefinition& pack = decoded.pack.definition;
  EXPECT_EQ(pack.name, "web");
  EXPECT_EQ(pack.version, "2.1.0");
  ASSERT_THAT(pack.needs, SizeIs(2));
  EXPECT_EQ(pack.needs[1].pack, "files");
  EXPECT_EQ(pack.needs[1].version, "1.2");
  EXPECT_EQ(to_text(pack.needs[1].place), "p/pack.yaml:4:22");
  EXPECT_TRUE(pack.has_plugin);
  EXPECT_EQ(decoded.pack.program, "bin/plugin");
  ASSERT_THAT(pack.migrations, SizeIs(1));
  ASSERT_THAT(pack.migrations[0].steps, SizeIs(7));
  const auto& add = std::get<model::AddProperty>(pack.migrations[0].steps[0].change);
  EXPECT_EQ(add.value, "80");
  EXPECT_EQ(std::get<model::RenameType>(pack.migrations[0].steps[3].change).to, "site");
  EXPECT_EQ(std::get<model::AddCollection>(pack.migrations[0].steps[4].change).collection,
            "aliases");
  const auto& names = std::get<model::RemoveElement>(pack.migrations[0].steps[5].change);
  EXPECT_EQ(names.element, "names");
  EXPECT_TRUE(names.is_collection);
  const auto& log = std::get<model::RemoveElement>(pack.migrations[0].steps[6].change);
  EXPECT_EQ(log.element, "log");
  EXPECT_FALSE(log.is_collection);
}

TEST(DecodePack, TellsEverythingThatIsWrongInTheManifest) {
  const Decoded decoded = decode(R"(version: [1]
needs: [core]
plugin: {programm: x}
migrations:
  - steps: [{add_proprety: {}}, rename_type, {rename_type: {from: a, too: b}}]
)");
  EXPECT_THAT(
      decoded.problems,
      ElementsAre("p/pack.yaml:1:1: a pack has no 'name'",
                  "p/pack.yaml:1:10: 'version' of a pack is a text; here is a list",
                  "p/pack.yaml:2:8: 'needs' of a pack is a mapping; here is a list",
                  "p/pack.yaml:3:9: a plugin has no 'program'",
                  "p/pack.yaml:3:10: a plugin has no field 'programm'; did you mean 'program'?",
                  "p/pack.yaml:5:5: a migration has no 'version'",
                  "p/pack.yaml:5:14: 'add_proprety' is no step of a migration; did you mean "
                  "'add_property'?",
                  "p/pack.yaml:5:33: step 'rename_type' needs a mapping with it",
                  "p/pack.yaml:5:60: step 'rename_type' has no 'to'",
                  "p/pack.yaml:5:70: step 'rename_type' has no field 'too'; did you mean 'to'?"));
}

TEST(DecodeTypes, ReadsEveryField) {
  const Decoded decoded = decode(kManifest, R"(property_types:
  port:
    regex: '[0-9]+'
    description: a port
    deprecated: true
    checks:
      - integer
      - integer_range: {min: 1, max: 9}
      - length: 5
      - not_empty
      - not_digits
      - network: 4
      - not_zero_address
      - ip_address: 6
      - ip_address
      - ipv6_and_mask
      - restricted: [a, b]
      - plugin: check_port
item_types:
  base:
  site:
    extends: base
    description: A site.
    deprecated: true
    properties:
      port: {type: port, description: d, default: 080, required: true, user_may_update: false,
             plugin_may_update: true, configuration: false, site_specific: true, secret: true,
             deprecated: true}
      locked: {type: port, plugin_only: true}
    views:
      order: {type: port, description: v, method: get_order}
      plain: {}
    elements:
      a: {child: base, required: true, description: e}
      b: {collection: base, min: 1, max: 3, require: a}
      c: {reference: base, read_only: true, require: [a, b]}
      d: {ref_collection: base, exclusive: true}
    checks:
      - max_value: {property: port, limit: port}
      - one_property: [port, other]
      - directory: port
      - plugin: check_site
      - unique: {property: port, among: [site, base], ignore_case: true}
      - lists: {property: other, collection: b, of: site}
)");
  EXPECT_THAT(decoded.problems, IsEmpty());
  const model::PackDefinition& pack = decoded.pack.definition;
  ASSERT_THAT(pack.property_types, SizeIs(1));
  const model::PropertyTypeDefinition& port = pack.property_types[0];
  EXPECT_EQ(port.regex, "[0-9]+");
  EXPECT_TRUE(port.deprecated);
  ASSERT_THAT(port.checks, SizeIs(12));
  EXPECT_EQ(std::get<model::IntegerRangeCheck>(port.checks[1]).max, 9);
  EXPECT_EQ(std::get<model::IpAddressCheck>(port.checks[7]).version, model::IpVersion::V6);
  EXPECT_EQ(std::get<model::IpAddressCheck>(port.checks[8]).version, model::IpVersion::Both);
  EXPECT_EQ(std::get<model::PluginCheck>(port.checks[11]).method, "check_port");

  ASSERT_THAT(pack.item_types, SizeIs(2));
  const model::ItemTypeDefinition& site = pack.item_types[1];
  EXPECT_EQ(site.extends, "base");
  EXPECT_TRUE(site.deprecated);
  EXPECT_EQ(to_text(site.place), "p/types/t.yaml:21:3");
  const model::PropertyDefinition& property = site.properties.at(0);
  EXPECT_EQ(property.default_value, "080");
  EXPECT_TRUE(property.required && property.plugin_may_update && property.site_specific &&
              property.secret && property.deprecated);
  EXPECT_FALSE(property.user_may_update || property.configuration || property.plugin_only);
  const model::PropertyDefinition& locked = site.properties.at(1);
  EXPECT_TRUE(locked.plugin_only && locked.plugin_may_update && !locked.user_may_update);
  EXPECT_EQ(site.views.at(0).method, "get_order");
  EXPECT_EQ(site.views.at(1).method, "plain");
  EXPECT_TRUE(site.elements.at(0).required);
  EXPECT_EQ(site.elements.at(1).max, 3U);
  EXPECT_THAT(site.elements.at(1).require, ElementsAre("a"));
  EXPECT_TRUE(site.elements.at(2).read_only);
  EXPECT_THAT(site.elements.at(2).require, ElementsAre("a", "b"));
  EXPECT_EQ(site.elements.at(3).kind, model::ElementKind::RefCollection);
  EXPECT_TRUE(site.elements.at(3).exclusive);
  EXPECT_EQ(site.checks.size(), 4U);
  ASSERT_THAT(site.model_checks, SizeIs(2));
  EXPECT_EQ(std::get<model::UniqueCheck>(site.model_checks[0].check),
            (model::UniqueCheck{"port", {"site", "base"}, true}));
  EXPECT_EQ(to_text(site.model_checks[0].place).substr(0, 15), "p/types/t.yaml:");
  const auto& lists = std::get<model::ListsCheck>(site.model_checks[1].check);
  EXPECT_EQ(lists.property + " " + lists.collection + " " + lists.of, "other b site");
}

TEST(DecodeTypes, TellsEverythingThatIsWrong) {
  const Decoded decoded = decode(kManifest, R"(item_type: {}
property_types:
  port:
    regexp: x
    checks:
      - intger
      - length: x
      - network: 5
      - restricted: a
      - integer_range: {}
      - [1]
      - not_empty: 1
      - length
item_types:
  site:
    properties:
      port: {typ: port, required: yes}
    elements:
      a: {child: x, collection: y}
      b: {child: x, min: 1}
      c: {collection: x, required: true, max: 0}
    checks: [{max_value: {property: port}}, {directory: [a]}]
)");
  EXPECT_THAT(
      decoded.problems,
      ElementsAre(
          "p/types/t.yaml:1:1: a file of types has no field 'item_type'; did you mean "
          "'item_types'?",
          "p/types/t.yaml:4:5: property type 'port' has no field 'regexp'; did you mean 'regex'?",
          "p/types/t.yaml:6:9: 'intger' is no check of a value; did you mean 'integer'?",
          "p/types/t.yaml:7:9: with check 'length' stands a whole number, not 'x'",
          "p/types/t.yaml:8:9: with check 'network' stands 4, 6 or both, not '5'",
          "p/types/t.yaml:9:9: check 'restricted' needs a list with it",
          "p/types/t.yaml:10:9: check 'integer_range' needs min, max, or both with it",
          "p/types/t.yaml:11:9: check of a value is a word, or a mapping with one key",
          "p/types/t.yaml:12:9: check 'not_empty' is a word alone",
          "p/types/t.yaml:13:9: check 'length' needs a text with it",
          "p/types/t.yaml:17:14: property 'port' has no field 'typ'; did you mean 'type'?",
          "p/types/t.yaml:17:35: 'required' of property 'port' is true or false, not 'yes'",
          "p/types/t.yaml:19:10: element 'a' is only one of 'child' and 'collection'",
          "p/types/t.yaml:20:21: element 'b' has no field 'min'",
          "p/types/t.yaml:21:26: element 'c' has no field 'required'; did you mean 'require'?",
          "p/types/t.yaml:21:47: 'max' of element 'c' is a whole number from 1 to 1000000, not '0'",
          "p/types/t.yaml:22:26: check 'max_value' has no 'limit'",
          "p/types/t.yaml:22:57: what stands with check 'directory' is a text; here is a list"));
}

TEST(DecodeTypes, WhatCannotBeReadIsSaidOnce) {
  const Decoded decoded = decode(kManifest, "item_types:\n\tx: {}\n");
  EXPECT_THAT(decoded.problems, ElementsAre(HasSubstr("p/types/t.yaml:2:1: a tab")));
  EXPECT_FALSE(decoded.pack.readable);
}

TEST(DecodeRuleset, ReadsGroups) {
  const Decoded decoded = decode(kManifest, {}, R"(groups:
  - name: NODE
    tag: NODE_TAG
    requires: [MS]
    per_cluster: true
    lockable: true
    takes_unmatched: false
    criteria:
      - {task: config, node: managed}
      - {task: [callback, remote], item_below: node, tag: X, initial_locks: true}
    constraints:
      - {task: config, node: ms, reason: because}
      - {item_not_below: deployment, reason: why}
  - {name: MS, tagg: 1, criteria: [{task: cnfig, node: here}], constraints: [{}]}
)");
  ASSERT_THAT(decoded.pack.groups, SizeIs(2));
  const plan::Group& group = decoded.pack.groups[0];
  EXPECT_TRUE(group.per_cluster && group.lockable);
  EXPECT_THAT(group.requires_groups, ElementsAre("MS"));
  EXPECT_EQ(group.criteria[0].node, plan::NodeKind::Managed);
  EXPECT_THAT(group.criteria[1].tasks,
              ElementsAre(plan::TaskKind::Callback, plan::TaskKind::Remote));
  EXPECT_TRUE(group.criteria[1].initial_locks);
  EXPECT_EQ(group.constraints[0].must.node, plan::NodeKind::Ms);
  EXPECT_EQ(group.constraints[1].must.item_not_below, "deployment");
  EXPECT_THAT(
      decoded.problems,
      ElementsAre(
          "p/ruleset.yaml:14:16: a group has no field 'tagg'; did you mean 'tag'?",
          HasSubstr("14:43: 'cnfig' is no kind of task"),
          HasSubstr("14:56: 'node' of a criterion is one of 'ms' and 'managed', not 'here'"),
          "p/ruleset.yaml:14:78: a constraint has no 'reason'"));
}

}  // namespace
}  // namespace muster::pack
