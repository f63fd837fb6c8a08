#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "document/reader.h"
#include "pack/loader.h"
#include "pack/shipped.h"
#include "plan/plan_script.h"

// Plans of what the templates of the shipped packs make: resources that depend on each other come
// in an order that works on a host that has nothing yet, and go in the opposite one.

namespace muster::pack {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const LoadedPacks& shipped() {
  static const LoadedPacks kLoaded = [] {
    const Result<LoadRequest> request = all_packs({.packs = MUSTER_PACKS});
    return request ? load_packs(*request) : LoadedPacks();
  }();
  return kLoaded;
}

model::Declaration declaration_of(const document::Value& value) {
  model::Declaration made;
  const document::Map* const map = value.map();
  if (map == nullptr) return made;
  for (const document::Entry& entry : *map) {
    if (entry.key == "type") {
      made.type = entry.value.scalar()->text;
    } else if (entry.key == "inherit") {
      made.inherit = *model::Path::parse(entry.value.scalar()->text);
    } else if (entry.key == "properties") {
      for (const document::Entry& each : *entry.value.map()) {
        made.properties[each.key] = each.value.scalar()->text;
      }
    } else {
      made.children[entry.key] = declaration_of(entry.value);
    }
  }
  return made;
}

class TemplatePlan : public ::testing::Test {
 protected:
  TemplatePlan() : script_(shipped().schema, *shipped().ruleset, &shipped().templates) {}

  void given(std::initializer_list<const char*> lines) {
    for (const char* line : lines) EXPECT_EQ(script_.run(line), "") << line;
  }
  // One node that takes over whatever is declared.
  void given_node() { given({"create cluster @c", "create node @c:n hostname=n domain=old"}); }
  void item(const std::string& id, const std::string& what, const std::string& element = "items") {
    const std::string source =
        (element == "managed_files" ? "/infrastructure/storage/" : "/software/") + element + "/";
    const std::size_t space = std::min(what.find(' '), what.size());
    const std::string lines[] = {
        "create " + what.substr(0, space) + " " + source + id + what.substr(space),
        "inherit @c:n/" + element + "/" + id + " " + source + id};
    for (const std::string& line : lines) EXPECT_EQ(script_.run(line), "") << line;
  }
  void file(const std::string& id, const std::string& what) { item(id, what, "managed_files"); }

  // The resources of the plan in its order, "file:/a" and so on.
  std::vector<std::string> order() {
    std::vector<std::string> found;
    std::istringstream lines(script_.run("plan"));
    for (std::string line; std::getline(lines, line);) {
      const std::string mark = "config:@c:n:";
      const std::size_t at = line.find(mark);
      if (at != 2) {
        EXPECT_THAT(line, Not(HasSubstr("error")));
        EXPECT_THAT(line, Not(HasSubstr("note")));
        continue;
      }
      std::string name = line.substr(at + mark.size());
      std::replace(name.begin(), name.end(), ',', '/');
      found.push_back(name);
    }
    return found;
  }

  plan::testing::PlanScript script_;
};

TEST_F(TemplatePlan, TheExampleWorksOnFreshHosts) {
  std::ifstream stream(MUSTER_PACKS "/../examples/site.yaml");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const document::ReadDocument read = document::read_document(text, "site.yaml");
  ASSERT_TRUE(read.problems.empty());
  // Without the cluster names of the script: the deployment is called otherwise.
  ASSERT_EQ(script_.apply(declaration_of(read.document.root)), "");
  const std::string node1 = "config:deployments,site,clusters,db,nodes,a1:";
  const std::string node2 = "config:deployments,site,clusters,web,nodes,a2:";
  const std::string node3 = "config:deployments,site,clusters,web,nodes,a3:";
  EXPECT_EQ(script_.run("plan"),
            "phase 1 NODE /deployments/site/clusters/db\n"
            "  " +
                node1 +
                "package:postgresql\n"
                "  " +
                node1 +
                "directory:,tmp,muster-site\n"
                "  " +
                node1 +
                "file:,tmp,muster-site,db.conf\n"
                "  " +
                node1 +
                "file:,tmp,muster-site,motd\n"
                "  " +
                node1 +
                "service:postgresql.service\n"
                "phase 2 NODE /deployments/site/clusters/web, after 1\n"
                "  " +
                node2 +
                "package:curl\n"
                "  " +
                node2 +
                "package:nginx-light\n"
                "  " +
                node2 +
                "directory:,tmp,muster-site\n"
                "  " +
                node2 +
                "file:,tmp,muster-site,motd\n"
                "  " +
                node2 +
                "service:nginx.service\n"
                "  " +
                node3 +
                "package:nginx-light\n"
                "  " +
                node3 +
                "directory:,tmp,muster-site\n"
                "  " +
                node3 +
                "file:,tmp,muster-site,motd\n"
                "  " +
                node3 + "service:nginx.service\n");
}

class WholeNode : public TemplatePlan {
 protected:
  // Ids are chosen so that nothing is right by its name alone.
  WholeNode() {
    given_node();
    item("a-run", "exec command=init user=app");
    item("b-user", "user name=app group=staff groups=adm,ops");
    item("c-ops", "group name=ops");
    item("d-staff", "group name=staff");
    item("e-unit", "systemd-unit unit=app.service content=x");
    item("f-package", "package name=app");
    item("g-repo", "apt-repository name=own url=https://example.org suites=stable/");
    item("h-sudo", "sudo-rule name=app user=app");
    file("a-file", "file path=/srv/app/conf/app.conf content=x owner=app group=staff");
    file("b-link", "link path=/srv/app/current target=/srv/app/1");
    file("c-dir", "directory path=/srv/app/conf owner=app");
    file("d-dir", "directory path=/srv/app");
    item("a-app", "systemd-service unit=app", "services");
  }
};

TEST_F(WholeNode, IsMadeFromTheGroundUp) {
  EXPECT_THAT(order(), ::testing::ElementsAre(
                           "apt_repository:own", "package:app", "group:ops", "group:staff",
                           "user:app", "unit_file:app.service", "sudo_rule:app",
                           "directory:/srv/app", "link:/srv/app/current", "directory:/srv/app/conf",
                           "file:/srv/app/conf/app.conf", "exec:/@c:n/items/a-run", "service:app"));
}

TEST_F(WholeNode, GoesTheOtherWayRound) {
  order();
  given({"done", "applied"});
  for (const char* id : {"b-user", "c-ops", "d-staff", "e-unit", "f-package", "g-repo", "h-sudo"}) {
    EXPECT_EQ(script_.run(std::string("remove @c:n/items/") + id), "");
  }
  for (const char* id : {"a-file", "b-link", "c-dir", "d-dir"}) {
    EXPECT_EQ(script_.run(std::string("remove @c:n/managed_files/") + id), "");
  }
  given({"remove @c:n/services/a-app"});
  EXPECT_THAT(order(), ::testing::ElementsAre(
                           "service:app", "unit_file:app.service", "sudo_rule:app",
                           "file:/srv/app/conf/app.conf", "link:/srv/app/current",
                           "directory:/srv/app/conf", "user:app", "group:ops", "group:staff",
                           "directory:/srv/app", "package:app", "apt_repository:own"));
}

TEST_F(TemplatePlan, WhatIsToBeAbsentGoesTheOtherWayRoundToo) {
  given_node();
  item("a-group", "group name=staff ensure=absent");
  item("b-user", "user name=app groups=staff ensure=absent");
  file("a-dir", "directory path=/srv/app ensure=absent");
  file("b-file", "file path=/srv/app/x content=x owner=app ensure=absent");
  file("c-file", "file path=/srv/other content=x");
  EXPECT_THAT(order(), ::testing::ElementsAre("file:/srv/app/x", "user:app", "group:staff",
                                              "directory:/srv/app", "file:/srv/other"));
}

TEST_F(TemplatePlan, WhatAClusterHasIsWaitedFor) {
  given_node();
  given({"create package /software/items/base name=base",
         "inherit @c/software/base /software/items/base",
         "create systemd-service @c/services/app unit=app",
         "create package /software/items/own name=own"});
  file("a-file", "file path=/etc/x content=x");
  EXPECT_THAT(order(), ::testing::ElementsAre("package:base", "file:/etc/x", "service:app"));
}

TEST_F(TemplatePlan, AResourceThatAnotherItemTakesOverIsNotRemoved) {
  given_node();
  item("vim", "package name=vim");
  order();
  given({"done", "applied", "remove @c:n/items/vim"});
  EXPECT_THAT(order(), ::testing::ElementsAre("package:vim"));
  item("editor", "package name=vim version=2");
  EXPECT_EQ(script_.run("plan"),
            "phase 1 NODE @c\n"
            "  config:@c:n:package:vim\n"
            "phase 2 CLEANUP, after 1\n"
            "  cleanup:@c:n,items,vim\n");
}

TEST_F(TemplatePlan, ATaskIsMadeAgainWhenWhatItReadsChanges) {
  given_node();
  file("dir", "directory path=/etc/app");
  file("motd", "template-file path=/etc/app/motd template={{domain}}");
  file("name", "template-file path=/etc/app/name template={{hostname}}");
  given({"create sysctl-config @c:n/configs/s",
         "create sysctl-setting @c:n/configs/s/settings/f key=net.ipv4.ip_forward value=1"});
  EXPECT_THAT(order(), ::testing::SizeIs(4));
  given({"done", "applied"});
  EXPECT_EQ(script_.run("plan"), "nothing to do\n");
  // The node has changed, its files have not; one of them does not come out as it was.
  given({"set @c:n domain=new"});
  EXPECT_EQ(script_.run("plan"),
            "phase 1 NODE @c\n"
            "  config:@c:n:file:,etc,app,motd\n"
            "left out config:@c:n:file:,etc,app,name: has succeeded before\n");
  given({"done", "applied", "set @c:n/configs/s apply_now=false"});
  EXPECT_EQ(script_.run("plan"),
            "phase 1 NODE @c\n"
            "  config:@c:n:sysctl:60-muster,net.ipv4.ip_forward\n");
}

// A package that is added is no reason to look at everything that comes after packages again.
TEST_F(WholeNode, StaysAsItIsWhenSomethingIsAdded) {
  order();
  given({"done"});
  item("more", "package name=more");
  file("more", "directory path=/srv");
  EXPECT_THAT(order(), ::testing::ElementsAre("package:more", "directory:/srv"));
}

}  // namespace
}  // namespace muster::pack
