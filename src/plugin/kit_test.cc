#include "plugin/kit.h"

#include <gmock/gmock.h>

#include "plugin/plugin_test_util.h"

namespace muster::plugin {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A program that speaks the protocol and has no method, between what it does before and after.
std::string bare_program(const std::string& before, const std::string& after) {
  return "#!/usr/bin/env python3\nimport json, os, signal, sys\n" + before + R"(
for line in sys.stdin:
    ask = json.loads(line)
    if ask["method"] == "initialize":
        answer = {"result": {"protocol": 1, "name": "core", "methods": []}}
    else:
        answer = {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], **answer}), flush=True)
)" + after;
}

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

  void declare_node() {
    model::Declaration declaration;
    model::Declaration& deployment = declaration.children["deployments"].children["d"];
    deployment.type = "deployment";
    model::Declaration& cluster = deployment.children["clusters"].children["c"];
    cluster.type = "cluster";
    model::Declaration& node = cluster.children["nodes"].children["n1"];
    node.type = "node";
    node.properties["hostname"] = "n1";
    models_.push_back({"m.yaml", std::move(declaration)});
  }

  testing::PluginFolder folder_;
  std::vector<KitModelFile> models_;
  std::size_t count_ = 0;
  Duration grace_ = Duration::seconds(10);
};

TEST_F(KitTest, AGoodPluginPasses) {
  declare_node();
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
  EXPECT_THAT(
      failed(folder_.add_python("core", R"(
    def create_configuration(self, ctx):
        return [ConfigTask(node, node, str(os.getpid()), "file", "/x")
                for node in ctx.query("node")]
)")),
      Contains(HasSubstr("the same tasks in another process, asked in another order: task 0 was")));
}

TEST_F(KitTest, FindsAnswersThatDependOnEarlierCalls) {
  const auto told = failed(folder_.add_python("core", R"(
    calls = []
    def create_configuration(self, ctx):
        self.calls.append(1)
        return [ConfigTask(node, node, f"do {len(self.calls)}", "file", "/x")
                for node in ctx.query("node")]
)"));
  EXPECT_THAT(told, Contains(HasSubstr("new: the same tasks again: task 0 was")));
  EXPECT_THAT(told, Contains(HasSubstr("in another order: task 0 was")));
}

TEST_F(KitTest, CallsCallbacks) {
  const std::string plugin = R"(
    def create_configuration(self, ctx):
        return [CallbackTask(node, "do", self.do, node.vpath,
                             FuturePropertyValue(node, "is_locked"))
                for node in ctx.query("node")]
    def do(self, api, path, locked):
        assert locked == "false", locked
        %s
)";
  const auto with = [&](const std::string& body) {
    std::string text = plugin;
    text.replace(text.find("%s"), 2, body);
    return failed(folder_.add_python("core", text));
  };
  EXPECT_THAT(with("api.query_by_path(path).is_locked = 'true'"), IsEmpty());
  EXPECT_THAT(with("raise CallbackExecutionException('no such host')"), IsEmpty());
  // It waits for what never comes, as long as the plan runs.
  EXPECT_THAT(with("while api.is_running(): pass"), IsEmpty());
  EXPECT_THAT(with("return 1 / 0"),
              Contains(::testing::AllOf(HasSubstr("new: callback 'do' for /deployments/"),
                                        HasSubstr("ZeroDivisionError"))));
  EXPECT_THAT(with("os._exit(3)"), Contains(HasSubstr("ended with exit status 3")));
}

TEST_F(KitTest, FindsWhatAPluginLeavesBehind) {
  grace_ = Duration::seconds(1);
  // Two forks and a session of its own: neither descent, group nor session lead back.
  const auto told = failed(folder_.add("core", bare_program(R"(
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3): os.close(fd)
        signal.pause()
    os._exit(0)
os.wait()
)",
                                                            "")));
  EXPECT_THAT(told, ::testing::ElementsAre(HasSubstr(
                        "leaves no process behind when it ends: these still ran and were killed")));
}

TEST_F(KitTest, EachMistakeHasItsLine) {
  const auto told = failed(folder_.add_python("core", R"(
    def create_configuration(self, ctx):
        return [ConfigTask(node, node, "do", "file", "/x", tag_name="x" * 5000)
                for node in ctx.query("node")]
)"));
  EXPECT_THAT(told, Contains(HasSubstr("create_configuration: plugin 'core', create_configuration: "
                                       "4 of 4 tasks are not right")));
  EXPECT_THAT(told, Contains(HasSubstr("create_configuration: task 1 ('do', for ")));
}

TEST_F(KitTest, FindsAPluginThatDoesNotEnd) {
  grace_ = Duration::millis(50);
  EXPECT_THAT(failed(folder_.add("core", bare_program("", "signal.pause()\n"))),
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
