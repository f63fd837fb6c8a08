#include "pack/shipped.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "model/value_check.h"
#include "pack/loader.h"

// The packs that ship, as data that must keep its promises.

namespace muster::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

const LoadedPacks& shipped() {
  static const LoadedPacks kLoaded = [] {
    const Result<LoadRequest> request = all_packs({.packs = MUSTER_PACKS, .core_pack = ""});
    return request ? load_packs(*request) : LoadedPacks();
  }();
  return kLoaded;
}

TEST(Shipped, HasNoProblem) {
  std::string told;
  for (const document::Problem& problem : shipped().problems) told += to_text(problem) + "\n";
  EXPECT_EQ(told, "");
  std::vector<std::string> names;
  for (const LoadedPack& pack : shipped().packs) names.push_back(pack.name);
  EXPECT_THAT(names, ElementsAre("core", "exec", "files", "hosts", "packages", "services", "sysctl",
                                 "users"));
}

TEST(Shipped, IsFoundFromTheProgramInABuildTree) {
  const Result<std::string> folder = shipped_packs_folder();
  ASSERT_TRUE(folder);
  EXPECT_TRUE(std::filesystem::equivalent(*folder, MUSTER_PACKS));
}

TEST(Shipped, DescribesEverything) {
  ASSERT_NE(shipped().schema, nullptr);
  for (const auto& [id, type] : shipped().schema->property_types()) {
    EXPECT_NE(type->definition.description, "") << id;
  }
  for (const auto& [id, type] : shipped().schema->item_types()) {
    EXPECT_NE(type->description, "") << id;
    for (const auto& [name, property] : type->properties) {
      EXPECT_NE(property.definition.description, "") << id << "." << name;
    }
    for (const model::Element& element : type->elements) {
      EXPECT_NE(element.definition.description, "") << id << "." << element.definition.name;
    }
  }
}

// The list of the seed: what stands in a node, and what comes before it.
TEST(CorePack, TheNodeIsThatOfTheSeed) {
  const model::ItemType* node = shipped().schema->find_item_type("node");
  const std::vector<std::pair<std::string, std::vector<std::string>>> wanted = {
      {"system", {}},
      {"os", {"system"}},
      {"network_interfaces", {"os", "system"}},
      {"routes", {"network_interfaces", "os", "system"}},
      {"storage_profile", {"network_interfaces", "os", "routes", "system"}},
      {"file_systems", {"network_interfaces", "os", "routes", "storage_profile", "system"}},
  };
  for (const auto& [name, after] : wanted) {
    ASSERT_NE(node->find_element(name), nullptr) << name;
    EXPECT_EQ(node->find_element(name)->after, after) << name;
  }
  for (const char* name : {"configs", "items"}) {
    EXPECT_THAT(node->find_element(name)->definition.require, ElementsAre("file_systems"));
  }
  // And what a service is made of comes before it.
  EXPECT_THAT(node->find_element("services")->after,
              IsSupersetOf({"file_systems", "configs", "items", "managed_files"}));
  EXPECT_TRUE(node->find_property("hostname")->definition.required);
  EXPECT_FALSE(node->find_property("is_locked")->definition.configuration);
}

TEST(CorePack, HasTheTreeAndTheBasesOfTheSpec) {
  const model::Schema& schema = *shipped().schema;
  for (const char* base : {"software-item", "service-base", "profile", "storage-profile-base",
                           "file-system-base", "route-base", "node-config", "cluster-config",
                           "disk-base", "controller-base", "system-provider", "service-provider",
                           "infra-item", "image-base", "managed-file-base", "cluster-base"}) {
    EXPECT_NE(schema.find_item_type(base), nullptr) << base;
  }
  const auto names = [&](const char* type) {
    std::vector<std::string> found;
    for (const auto& element : schema.find_item_type(type)->elements) {
      found.push_back(element.definition.name);
    }
    return found;
  };
  EXPECT_THAT(names("root"), ElementsAre("ms", "software", "infrastructure", "deployments"));
  EXPECT_THAT(names("software"),
              IsSupersetOf({"profiles", "runtimes", "deployables", "items", "services", "images"}));
  EXPECT_THAT(names("infrastructure"),
              IsSupersetOf({"items", "systems", "system_providers", "service_providers",
                            "networking", "storage"}));
  EXPECT_THAT(names("cluster"), IsSupersetOf({"nodes", "software", "services", "configs"}));
  EXPECT_THAT(schema.find_item_type("cluster")->find_element("services")->after,
              ElementsAre("configs", "managed_files", "nodes", "software"));
  EXPECT_TRUE(schema.find_item_type("cluster")->is_a("cluster-base"));
  EXPECT_FALSE(schema.find_item_type("ms")->find_element("system")->definition.required);
  EXPECT_GE(schema.property_types().size(), 45U);
}

TEST(CorePack, TheRulesetHasTheGroupsInTheirOrder) {
  ASSERT_TRUE(shipped().ruleset);
  const plan::Ruleset& ruleset = *shipped().ruleset;
  std::vector<std::string> order;
  for (const std::size_t index : ruleset.order) order.push_back(ruleset.groups[index].name);
  EXPECT_THAT(order,
              ElementsAre("DEPLOYMENT_MS_GROUP", "DEPLOYMENT_BOOT_GROUP",
                          "DEPLOYMENT_PRE_CLUSTER_GROUP", "DEPLOYMENT_PRE_NODE_CLUSTER_GROUP",
                          "DEPLOYMENT_UPGRADE_BOOT_GROUP", "DEPLOYMENT_NODE_GROUP",
                          "DEPLOYMENT_CLUSTER_GROUP", "DEPLOYMENT_POST_CLUSTER_GROUP"));
  EXPECT_EQ(ruleset.groups[ruleset.unmatched].name, "DEPLOYMENT_MS_GROUP");
  EXPECT_TRUE(ruleset.find_by_tag("DEPLOYMENT_NODE_TAG")->lockable);
  EXPECT_TRUE(ruleset.find_by_tag("DEPLOYMENT_CLUSTER_TAG")->per_cluster);
  EXPECT_FALSE(ruleset.find_by_tag("DEPLOYMENT_CLUSTER_TAG")->lockable);
}

struct Values {
  const char* type;
  std::vector<const char*> right;
  std::vector<const char*> wrong;
};

TEST(CorePack, PropertyTypesTakeWhatIsRight) {
  const std::vector<Values> cases = {
      {"basic_boolean", {"true", "false"}, {"", "yes", "True"}},
      {"basic_list", {"", "a", "a,b-1"}, {"a,", "a b", ",a"}},
      {"disk_size", {"512M", "40G"}, {"40", "0G", "40g"}},
      {"domain", {"example.org", "a"}, {"", ".org", "a..b", "-a.org"}},
      {"duration", {"90s", "1h30m", "1.5s"}, {"", "90", "s", "1 h"}},
      {"file_mode", {"644", "0644", "02755"}, {"888", "64", "rw"}},
      {"ha_manager", {"", "vcs", "cmw"}, {"VCS", "x"}},
      {"hostname", {"n1", "a-b", "1a"}, {"", "-a", "a-", "1", "a.b", "a_b"}},
      {"ipv4_address", {"192.0.2.1"}, {"0.0.0.0", "::1", "192.0.2.1/24"}},
      {"mac_address", {"52:54:00:12:34:aF"}, {"52:54:00:12:34", "52-54-00-12-34-56"}},
      {"network", {"192.0.2.0/24", "0.0.0.0/0"}, {"192.0.2.1/24", "192.0.2.0"}},
      {"node_id", {"1", "2047"}, {"0", "2048", "x"}},
      {"path_string", {"/", "/etc", "/etc/a b/"}, {"", "etc", "/a//b", "/a\n"}},
      {"port", {"1", "65535"}, {"0", "65536"}},
      {"posix_name", {"root", "_apt", "a-b"}, {"Root", "1a", ""}},
      {"service_name", {"nginx", "getty@tty1"}, {"sshd", "a b", ""}},
      {"status_interval", {"10", "3600"}, {"9", "3601"}},
      {"timestamp", {"2026-11-15T19:26:00Z", "1700000000.5"}, {"yesterday", "2026-11-15"}},
      {"url", {"https://example.org/a?b=c", "file:///srv/x"}, {"example.org", "https://a b"}},
      {"version_string", {"1:2.4.10-1+deb12u2", "1.0~rc1"}, {"", "-1", "1 0"}},
      {"domain_list", {"a.org", "a.org,b.org c.org"}, {"", "a,b,c,d,e,f,g"}},
  };
  for (const Values& c : cases) {
    const model::PropertyType* type = shipped().schema->find_property_type(c.type);
    ASSERT_NE(type, nullptr) << c.type;
    for (const char* value : c.right) EXPECT_EQ(model::value_problem(*type, value), "") << c.type;
    for (const char* value : c.wrong) {
      EXPECT_NE(model::value_problem(*type, value), "") << c.type << " " << value;
    }
  }
}

TEST(Shipped, ItemsGoWhereNodesTakeThemOver) {
  const model::Schema& schema = *shipped().schema;
  const auto accepts = [&](const char* parent, const char* element, const char* type) {
    const model::Element* slot = schema.find_item_type(parent)->find_element(element);
    return schema.find_item_type(type)->is_a(*slot->type);
  };
  for (const char* type : {"package", "apt-repository", "dnf-repository", "user", "group", "exec",
                           "systemd-unit", "systemd-drop-in", "sudo-rule"}) {
    EXPECT_TRUE(accepts("node", "items", type)) << type;
    EXPECT_TRUE(accepts("software", "items", type)) << type;
  }
  for (const char* type : {"file", "template-file", "secret-file", "directory", "link"}) {
    EXPECT_TRUE(accepts("node", "managed_files", type)) << type;
    EXPECT_TRUE(accepts("storage", "managed_files", type)) << type;
  }
  EXPECT_TRUE(accepts("node", "services", "systemd-service"));
  EXPECT_TRUE(accepts("node", "configs", "sysctl-config"));
  EXPECT_TRUE(accepts("node", "configs", "hosts-file"));
  EXPECT_TRUE(accepts("cluster", "configs", "cluster-hosts-file"));
}

TEST(Examples, ArePacksThatCanBeUsed) {
  const auto request = only_packs({.packs = MUSTER_PACKS,
                                   .core_pack = "",
                                   .extra = {MUSTER_PACKS "/../examples/packs/dns-client"}});
  ASSERT_TRUE(request);
  const LoadedPacks loaded = load_packs(*request);
  for (const document::Problem& problem : loaded.problems) ADD_FAILURE() << to_text(problem);
  ASSERT_NE(loaded.schema, nullptr);
  const model::ItemType* client = loaded.schema->find_item_type("dns-client");
  ASSERT_NE(client, nullptr);
  EXPECT_TRUE(client->is_a("node-config"));
  EXPECT_EQ(client->find_element("nameservers")->definition.max, 3U);
}

}  // namespace
}  // namespace muster::pack
