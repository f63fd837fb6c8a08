#include "plugin/kit.h"

#include <gmock/gmock.h>

#include "document/reader.h"
#include "plugin/kit_model.h"
#include "plugin/plugin_test_util.h"

namespace muster::plugin {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KitTest : public ::testing::Test {
 protected:
  // "name: detail" of what did not pass.
  std::vector<std::string> failed(const Program& program) {
    KitRequest request{
        {program}, program.pack, model::testing::test_schema(), {}, testing::test_options()};
    request.options.call_timeout = Duration::seconds(20);
    request.options.session.limits.grace = grace_;
    request.models = models_;
    std::vector<std::string> told;
    for (const KitResult& result : run_kit(request)) {
      ++count_;
      if (result.verdict == KitVerdict::Failed) told.push_back(result.name + ": " + result.detail);
    }
    return told;
  }

  testing::PluginFolder folder_;
  std::vector<KitModelFile> models_;
  std::size_t count_ = 0;
  Duration grace_ = Duration::seconds(10);
};

TEST_F(KitTest, AGoodPluginPasses) {
  document::Problems problems;
  const auto read = document::read_document(
      "deployments: {d: {type: deployment, clusters: {c: {type: cluster, nodes: {n1: "
      "{type: node, properties: {hostname: n1}}}}}}}\n",
      "m.yaml");
  models_.push_back({"m.yaml", read_declaration(read.document, problems)});
  ASSERT_TRUE(problems.empty());
  EXPECT_THAT(failed(folder_.add_python("core", R"(
    def create_configuration(self, ctx):
        return [ConfigTask(node, node, "make", "file", "/x") for node in ctx.query("node")]
    def create_lock_tasks(self, ctx, node):
        return (CallbackTask(node, "lock", self.lock), CallbackTask(node, "unlock", self.lock))
    def lock(self, api): pass
)")),
              IsEmpty());
  EXPECT_GT(count_, 20U);
}

TEST_F(KitTest, FindsAnswersThatDependOnTheProcess) {
  EXPECT_THAT(failed(folder_.add_python("core", R"(
    def create_configuration(self, ctx):
        return [ConfigTask(node, node, str(os.getpid()), "file", "/x")
                for node in ctx.query("node")]
)")),
              Contains(HasSubstr("the same tasks again: task 0 was")));
}

TEST_F(KitTest, FindsAPluginThatDoesNotEnd) {
  grace_ = Duration::millis(50);
  EXPECT_THAT(failed(folder_.add("core", R"(#!/usr/bin/env python3
import json, sys, signal
for line in sys.stdin:
    ask = json.loads(line)
    if ask["method"] == "initialize":
        answer = {"result": {"protocol": 1, "name": "core", "methods": []}}
    else:
        answer = {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], **answer}), flush=True)
signal.pause()
)")),
              ::testing::ElementsAre("ends when its input ends: still ran 50ms later"));
}

TEST_F(KitTest, FindsAPluginThatAnswersEverything) {
  const auto told = failed(folder_.add("core", R"(#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    answer = {"protocol": 1, "name": "core", "methods": ["validate_model"]}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": answer}), flush=True)
)"));
  EXPECT_THAT(told, Contains(HasSubstr("answered no_such_method with a result")));
  EXPECT_THAT(told, Contains(HasSubstr("answered without a list 'errors'")));
}

TEST_F(KitTest, TellsWhatIsWrongWithAModel) {
  models_.push_back({"m.yaml", {}});
  models_.back().declaration.children["nowhere"].type = "node";
  EXPECT_THAT(failed(folder_.add_python("core", "    pass")),
              ::testing::ElementsAre(HasSubstr("m.yaml: can be made: /nowhere: ")));
}

}  // namespace
}  // namespace muster::plugin
