#include "plugin/lock_codec.h"

#include <gmock/gmock.h>

#include "plugin/plugin_test_util.h"

namespace muster::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kNode = "/deployments/d/clusters/c/nodes/n1";
constexpr const char* kOther = "/deployments/d/clusters/c/nodes/n2";

class LockCodec : public ::testing::Test {
 protected:
  LockCodec()
      : schema_(model::testing::test_schema()),
        snapshot_(testing::make_tree(*schema_), schema_, 1) {}

  LockAnswer read(Json answer) {
    return read_locks({plugin_, snapshot_, callbacks_, limits_}, *model::Path::parse(kNode),
                      std::move(answer));
  }
  // What is wrong with an unlock task, beside a lock that is right.
  std::vector<std::string> problems(Json unlock) {
    LockAnswer answer = read({{"lock", remote({kNode})}, {"unlock", std::move(unlock)}});
    EXPECT_EQ(answer.pair.has_value(), answer.problems.empty());
    return answer.problems;
  }
  static Json remote(const std::vector<std::string>& nodes, const char* item = kNode) {
    return {{"kind", "remote"},
            {"item", item},
            {"description", "put back"},
            {"nodes", nodes},
            {"action", "exec"}};
  }
  static Json config(const char* node) {
    return {{"kind", "config"},
            {"item", kNode},
            {"description", "put back"},
            {"node", node},
            {"call", {"service", "x"}}};
  }
  static Json callback(const std::string& item) {
    return {{"kind", "callback"}, {"item", item}, {"description", "put back"}, {"method", "go"}};
  }

  const std::string plugin_ = "web";
  const std::vector<std::string> callbacks_ = {"go"};
  const TaskLimits limits_;
  model::SchemaPtr schema_;
  Snapshot snapshot_;
};

TEST_F(LockCodec, TakesTasksOfTheNode) {
  EXPECT_THAT(problems(remote({kNode})), IsEmpty());
  EXPECT_THAT(problems(config(kNode)), IsEmpty());
  EXPECT_THAT(problems(callback(kNode)), IsEmpty());
  EXPECT_THAT(problems(callback(std::string(kNode) + "/items/nginx")), IsEmpty());
  EXPECT_FALSE(read(nullptr).pair);
  EXPECT_THAT(read(nullptr).problems, IsEmpty());
}

TEST_F(LockCodec, RefusesTasksOfOtherNodes) {
  EXPECT_THAT(problems(remote({kOther})),
              ElementsAre("/deployments/d/clusters/c/nodes/n1: the unlock task ('put back', for "
                          "/deployments/d/clusters/c/nodes/n1, action exec), nodes: are "
                          "/deployments/d/clusters/c/nodes/n2; a lock acts on its own node alone"));
  EXPECT_THAT(problems(remote({kNode, kOther})), SizeIs(1));
  EXPECT_THAT(problems(config(kOther)), ElementsAre(HasSubstr("n2, another node")));
  EXPECT_THAT(problems(callback("/ms")), ElementsAre(HasSubstr("/ms is not the node, nor below")));
  EXPECT_THAT(problems(callback(kOther)), SizeIs(1));
  EXPECT_THAT(problems(remote({kNode}, "/ms")), SizeIs(1));
}

TEST_F(LockCodec, RefusesTagsAndRequirements) {
  Json tagged = callback(kNode);
  tagged["tag"] = "nonsense";
  tagged["requires"] = {{{"task", 0}}, {{"item", "/ms"}}};
  EXPECT_THAT(problems(tagged), ElementsAre(HasSubstr("tag: is 'nonsense'; a lock has none"),
                                            HasSubstr("requires: a lock can require nothing")));
}

TEST_F(LockCodec, NamesWhichOfBothIsWrong) {
  const LockAnswer answer = read({{"lock", {{"kind", "callback"}}}, {"unlock", 3}});
  EXPECT_THAT(answer.problems, ::testing::Contains(HasSubstr("the lock task, item: is missing")));
  EXPECT_THAT(answer.problems,
              ::testing::Contains(HasSubstr("the unlock task: is '3'; a mapping is needed")));
  EXPECT_THAT(read({{"lock", 1}}).problems,
              ElementsAre(HasSubstr("must have 'lock' and 'unlock', or be null; it is")));
}

}  // namespace
}  // namespace muster::plugin
