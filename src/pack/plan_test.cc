#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pack/loader.h"
#include "pack/shipped.h"
#include "plan/plan_script.h"

// Plans over the types and groups that ship: the stories of a package, a DNS client, and a rolling
// change of a highly available cluster.

namespace muster::pack {
namespace {

using plan::testing::PlanScript;

const LoadedPacks& loaded() {
  static const LoadedPacks kLoaded = [] {
    const auto request = only_packs(
        {.packs = MUSTER_PACKS,
         .core_pack = "",
         .extra = {MUSTER_PACKS "/packages", MUSTER_PACKS "/../examples/packs/dns-client"}});
    return request ? load_packs(*request) : LoadedPacks();
  }();
  return kLoaded;
}

class PlanStory : public ::testing::Test {
 protected:
  PlanStory() : script_(loaded().schema, *loaded().ruleset) {}

  // Runs lines that have nothing to say.
  void given(std::initializer_list<const char*> lines) {
    for (const char* line : lines) EXPECT_EQ(script_.run(line), "") << line;
  }
  std::string then(const char* line) { return script_.run(line); }

  PlanScript script_;
};

TEST_F(PlanStory, APackageIsInstalledUpdatedAndRemoved) {
  given({
      "create package /software/items/vim name=vim",
      "create cluster @c1",
      "create node @c1:n1 hostname=n1",
      "create node @c1:n2 hostname=n2",
      "inherit @c1:n1/items/vim /software/items/vim",
      "inherit @c1:n2/items/vim /software/items/vim",
      "inherit /ms/items/vim /software/items/vim",
      "config m /ms /ms/items/vim package vim",
      "config a @c1:n1 @c1:n1/items/vim package vim",
      "config b @c1:n2 @c1:n2/items/vim package vim",
  });
  EXPECT_EQ(then("plan"),
            "phase 1 MS\n"
            "  config:ms:package:vim\n"
            "phase 2 NODE @c1, after 1\n"
            "  config:@c1:n1:package:vim\n"
            "  config:@c1:n2:package:vim\n");
  // One node fails: only its task comes again.
  given({"done b"});
  EXPECT_EQ(then("plan"),
            "phase 1 NODE @c1\n"
            "  config:@c1:n2:package:vim\n"
            "left out config:@c1:n1:package:vim: has succeeded before\n"
            "left out config:ms:package:vim: has succeeded before\n");
  given({"done", "applied", "no tasks"});
  EXPECT_EQ(then("plan"), "nothing to do\n");
  // The source is updated, and with it what inherits from it.
  given({
      "set /software/items/vim version=2",
      R"(config a @c1:n1 @c1:n1/items/vim package vim args={"version":"2"})",
      R"(config b @c1:n2 @c1:n2/items/vim package vim args={"version":"2"})",
  });
  EXPECT_EQ(then("plan"),
            "phase 1 NODE @c1\n"
            "  config:@c1:n1:package:vim\n"
            "  config:@c1:n2:package:vim\n");
  given({"done", "applied", "no tasks", "remove @c1:n1/items/vim",
         R"(config a @c1:n1 @c1:n1/items/vim package vim args={"ensure":"absent"})"});
  EXPECT_EQ(then("plan"),
            "phase 1 NODE @c1\n"
            "  config:@c1:n1:package:vim\n");
}

TEST_F(PlanStory, ADnsClientIsOneTaskForManyItems) {
  given({
      "create cluster @c1",
      "create node @c1:n1 hostname=n1",
      "create dns-client @c1:n1/configs/dns search=example.org",
      "create nameserver @c1:n1/configs/dns/nameservers/a ipaddress=192.0.2.1 position=1",
      "create nameserver @c1:n1/configs/dns/nameservers/b ipaddress=192.0.2.2 position=2",
      "config dns @c1:n1 @c1:n1/configs/dns dnsclient resolv.conf "
      "also=@c1:n1/configs/dns/nameservers,@c1:n1/configs/dns/nameservers/a,"
      "@c1:n1/configs/dns/nameservers/b",
  });
  EXPECT_EQ(then("plan"),
            "phase 1 NODE @c1\n"
            "  config:@c1:n1:dnsclient:resolv.conf\n");
  given({"done"});
  EXPECT_EQ(then("plan"),
            "nothing to do\n"
            "left out config:@c1:n1:dnsclient:resolv.conf\n");
  // In doubt about one of the nameservers, it is done again.
  given({"doubt @c1:n1/configs/dns/nameservers/b"});
  EXPECT_EQ(then("plan"),
            "phase 1 NODE @c1\n"
            "  config:@c1:n1:dnsclient:resolv.conf\n");
}

TEST_F(PlanStory, AHighlyAvailableClusterIsChangedNodeByNode) {
  given({
      "create cluster @db ha_manager=vcs",
      "create cluster @web ha_manager=vcs dependency_list=db",
      "create node @db:n1 hostname=d1",
      "create node @db:n2 hostname=d2",
      "create node @web:n1 hostname=w1",
      "applied",
      "create package /software/items/p name=p",
      "inherit @db:n1/items/p /software/items/p",
      "inherit @db:n2/items/p /software/items/p",
      "inherit @web:n1/items/p /software/items/p",
      "locks vcs",
      "nodes @db n2,n1",
      "callback cb1 @db:n1/items/p fetch plugin=app",
      "config k1 @db:n1 @db:n1/items/p package p requires=cb1 future",
      "callback cb2 @db:n2/items/p fetch plugin=app",
      "config k2 @db:n2 @db:n2/items/p package p requires=cb2 future",
      "config k3 @web:n1 @web:n1/items/p package p",
      "callback cluster @db rebalance",
      "callback post /software/items/p report tag=POST_CLUSTER",
  });
  EXPECT_EQ(then("plan"),
            "phase 1 NODE @db\n"
            "  lock:@db:n2\n"
            "phase 2 NODE @db, after 1\n"
            "  callback:app:@db:n2,items,p:fetch\n"
            "phase 3 NODE @db, after 2\n"
            "  config:@db:n2:package:p\n"
            "phase 4 NODE @db, after 3\n"
            "  unlock:@db:n2\n"
            "phase 5 NODE @db, after 4\n"
            "  lock:@db:n1\n"
            "phase 6 NODE @db, after 5\n"
            "  callback:app:@db:n1,items,p:fetch\n"
            "phase 7 NODE @db, after 6\n"
            "  config:@db:n1:package:p\n"
            "phase 8 NODE @db, after 7\n"
            "  unlock:@db:n1\n"
            "phase 9 CLUSTER @db, after 8\n"
            "  callback:p:@db:rebalance\n"
            "phase 10 NODE @web, after 9\n"
            "  lock:@web:n1\n"
            "phase 11 NODE @web, after 10\n"
            "  config:@web:n1:package:p\n"
            "phase 12 NODE @web, after 11\n"
            "  unlock:@web:n1\n"
            "phase 13 POST_CLUSTER, after 12\n"
            "  callback:p:software,items,p:report\n");
  // Values that are known later make a task run again; the node was left locked.
  given({"done k1", "set @db:n1 is_locked=true", "no tasks",
         "callback cb1 @db:n1/items/p fetch plugin=app",
         "config k1 @db:n1 @db:n1/items/p package p requires=cb1 future"});
  EXPECT_THAT(then("plan"), ::testing::StartsWith("phase 1 PRE_NODE_CLUSTER @db\n"
                                                  "  release:@db:n1\n"
                                                  "phase 2 NODE @db, after 1\n"
                                                  "  lock:@db:n1\n"));
}

}  // namespace
}  // namespace muster::pack
