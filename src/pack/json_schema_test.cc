#include "model/json_schema.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "document/reader.h"
#include "model/test_validator.h"
#include "pack/shipped.h"

namespace muster::pack {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Json& schema() {
  static const Json kSchema = [] {
    const auto request = all_packs({.packs = MUSTER_PACKS, .core_pack = ""});
    return model::json_schema_of(*load_packs(*request).schema);
  }();
  return kSchema;
}

// As an editor reads YAML: what looks like a number or a truth value is one.
Json editor_value(const document::Value& value) {
  if (const auto* map = value.map()) {
    Json object = Json::object();
    for (const auto& entry : *map) object[entry.key] = editor_value(entry.value);
    return object;
  }
  if (const auto* scalar = value.scalar()) {
    if (!scalar->quoted && (scalar->text == "true" || scalar->text == "false")) {
      return scalar->text == "true";
    }
    const Result<Json> number = parse_json(scalar->text);
    return !scalar->quoted && number && number->is_number() ? *number : Json(scalar->text);
  }
  return nullptr;
}

std::vector<std::string> refused(std::string_view model) {
  const document::ReadDocument read = document::read_document(model, "m.yaml");
  EXPECT_TRUE(read.good());
  model::testing::SchemaValidator validator(schema());
  validator.accepts(editor_value(read.document.root));
  return validator.refused();
}

constexpr std::string_view kModel = R"(
software:
  items:
    vim: {type: package, properties: {name: vim, version: 2.1, hold: true}}
  profiles:
    debian: {type: os-profile, properties: {name: debian, version: 12}}
infrastructure:
  networking:
    networks:
      mgmt: {type: network, properties: {name: mgmt, subnet: 192.0.2.0/24}}
  systems:
    s1:
      type: system
      properties: {system_name: s1}
      disks:
        d0: {type: disk, properties: {name: sda, size: 40G, uuid: '%%uuid_s1%%'}}
deployments:
  site1:
    type: deployment
    clusters:
      db:
        type: cluster
        properties: {ha_manager: vcs}
        nodes:
          n1:
            type: node
            properties: {hostname: '%%n1_hostname%%', node_id: 1}
            system: {inherit: /infrastructure/systems/s1, properties: {serial: 5}}
            os: {inherit: /software/profiles/debian}
            items:
              vim: {inherit: /software/items/vim, properties: {version: 2.2}}
            configs:
              kernel:
                type: sysctl-config
                settings:
                  fwd: {type: sysctl-setting, properties: {key: net.ipv4.ip_forward, value: 1}}
            upgrade: {properties: {reboot: true}}
)";

TEST(JsonSchema, AcceptsAModel) { EXPECT_THAT(refused(kModel), IsEmpty()); }

TEST(JsonSchema, AcceptsTheExample) {
  std::ifstream stream(MUSTER_PACKS "/../examples/site.yaml");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  ASSERT_NE(text, "");
  EXPECT_THAT(refused(text), IsEmpty());
}

// Of items that are there already, or that another file declares, a file names what it changes.
TEST(JsonSchema, AcceptsParts) {
  EXPECT_THAT(refused(R"(
software:
  items:
    vim: {properties: {version: 3}}
    other:
    key: {type: secret-file}
deployments:
  site1:
    clusters:
      db:
        properties: {dependency_list: web}
        nodes:
          n1:
            properties: {domain: example.org}
            os: {properties: {path: /srv/images}}
            items:
              vim: {properties: {version: 4}}
              gone:
            configs:
              kernel: {properties: {apply_now: false}, settings: {fwd: {properties: {value: 0}}}}
)"),
              ::testing::ElementsAre("/software/items/key/type enum"));  // it is no software
}

TEST(JsonSchema, AcceptsAnEmptyModel) { EXPECT_THAT(refused("{}"), IsEmpty()); }

TEST(JsonSchema, RefusesWhatIsWrong) {
  const auto with = [](std::string_view old, std::string_view changed) {
    std::string model(kModel);
    model.replace(model.find(old), old.size(), changed);
    return fmt::format("{}", fmt::join(refused(model), "\n"));
  };
  EXPECT_THAT(with("type: package", "type: pakage"), HasSubstr("/software/items/vim/type enum"));
  EXPECT_THAT(with("type: package", "type: software-item"),
              HasSubstr("/software/items/vim/type enum"));
  EXPECT_THAT(with("hold: true", "hodl: true"),
              HasSubstr("/software/items/vim/properties/hodl false"));
  EXPECT_THAT(with("size: 40G", "size: large"), HasSubstr("/disks/d0/properties/size pattern"));
  EXPECT_THAT(with("type: package, properties: {name", "properties: {nmae"),
              HasSubstr("/software/items/vim/properties/nmae false"));
  EXPECT_THAT(with("{inherit: /software/profiles/debian}", "{type: os-profile}"),
              HasSubstr("/nodes/n1/os/inherit required"));
  EXPECT_THAT(with("networking:", "netwroking:"), HasSubstr("/infrastructure/netwroking false"));
  EXPECT_THAT(with("d0:", "'d 0':"), HasSubstr("/disks/d 0 pattern"));
  EXPECT_THAT(with("vcs", "VCS"), HasSubstr("/clusters/db/properties/ha_manager pattern"));
}

}  // namespace
}  // namespace muster::pack
