#include "plugin/host.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <thread>

#include "os/clock.h"
#include "plugin/plugin_test_util.h"

namespace muster::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The small world, and a pack with a view, checks and a plugin.
model::SchemaPtr make_schema() {
  model::PackDefinition web;
  web.name = "web";
  web.version = "1.0";
  web.needs = {{"core", "1.0", {}}};
  web.has_plugin = true;
  model::PropertyTypeDefinition port;
  port.id = "port";
  port.checks = {model::PluginCheck{"check_port"}};
  web.property_types = {port};
  model::ItemTypeDefinition site;
  site.id = "site";
  site.extends = "config";
  model::PropertyDefinition number;
  number.name = "port";
  number.type = "port";
  site.properties = {number};
  site.views = {{.name = "url", .type = {}, .description = {}, .method = "url", .place = {}}};
  site.checks = {model::PluginCheck{"check_site"}};
  web.item_types = {site};
  model::BuiltSchema built = model::build_schema({model::testing::test_pack(), web});
  for (const auto& error : built.errors) ADD_FAILURE() << error.message;
  return built.schema;
}

class Host : public ::testing::Test {
 protected:
  Host() : schema_(make_schema()), tree_(testing::make_tree(*schema_)) { take_snapshot(); }

  void take_snapshot() { model_ = std::make_shared<Snapshot>(tree_, schema_, ++revision_); }
  PluginHost host(std::vector<Program> programs) {
    return {std::move(programs), schema_, options_};
  }
  // Of a plugin that goes wrong in create_configuration.
  PluginFailure failure_of(const Program& program) {
    PluginHost made({program}, schema_, options_);
    const auto answer = made.create_configuration(model_);
    EXPECT_THAT(answer.failures, SizeIs(1));
    EXPECT_THAT(answer.value, IsEmpty());
    return answer.failures.empty() ? PluginFailure() : answer.failures.front();
  }

  testing::PluginFolder folder_;
  testing::Logged logged_;
  HostOptions options_ = testing::test_options(&logged_);
  model::SchemaPtr schema_;
  model::Tree tree_;
  SnapshotPtr model_;
  std::uint64_t revision_ = 0;
};

constexpr const char* kInstall = R"(
    def create_configuration(self, ctx):
        tasks = []
        for node in ctx.query("node"):
            before = None
            for package in node.query("package", is_initial=True):
                task = ConfigTask(node, package, "install " + package.name, "package",
                                  package.name, version=package.version)
                if before: task.requires.add(before)
                before = task
                tasks.append(task)
            tasks.append(CallbackTask(node, "boot", self.boot, 3, why="x"))
            tasks[-1].requires.add(before)
        return tasks
    def boot(self, api, times, why): pass
)";

TEST_F(Host, MakesTasksOfAPluginFromTheModel) {
  PluginHost made({folder_.add_python("core", kInstall)}, schema_, options_);
  const auto answer = made.create_configuration(model_);
  for (const auto& failure : answer.failures) ADD_FAILURE() << failure.message();
  ASSERT_THAT(answer.value, SizeIs(4));
  EXPECT_EQ(answer.value[0].item.text(), "/deployments/d/clusters/c/nodes/n1/items/nginx");
  EXPECT_EQ(std::get<plan::ConfigWork>(answer.value[0].work).attributes, R"({"version":"1"})");
  EXPECT_EQ(std::get<plan::CallbackWork>(answer.value[1].work).arguments,
            R"({"args":[3],"kwargs":{"why":"x"}})");
  EXPECT_EQ(answer.value[3].requirements, std::vector<plan::Requirement>{plan::RequiredTask{2}});
}

TEST_F(Host, TasksOfSeveralPluginsStandInTheOrderOfThePacks) {
  const std::string slow = std::string("    def __init__(self): list(range(3000000))\n") + kInstall;
  PluginHost made({folder_.add_python("core", slow), folder_.add_python("other", kInstall)},
                  schema_, options_);
  const auto answer = made.create_configuration(model_);
  ASSERT_TRUE(answer.good());
  ASSERT_THAT(answer.value, SizeIs(8));
  EXPECT_EQ(answer.value[0].plugin, "core");
  EXPECT_EQ(answer.value[4].plugin, "other");
  EXPECT_EQ(answer.value[7].requirements, std::vector<plan::Requirement>{plan::RequiredTask{6}});
}

TEST_F(Host, WritesComeBackAsEdits) {
  PluginHost made({folder_.add_python("core", R"(
    def update_model(self, ctx):
        for node in ctx.query("node"):
            node.is_locked = "true"
            assert node.is_locked == "true"
        ctx.query("node")[0].clear_property("is_locked")
        try: ctx.query("node")[0].hostname = "x"
        except ReadOnlyError: ctx.log("refused")
)")},
                  schema_, options_);
  const auto answer = made.update_model(model_);
  for (const auto& failure : answer.failures) ADD_FAILURE() << failure.message();
  ASSERT_THAT(answer.value, SizeIs(2));
  EXPECT_THAT(std::get<model::UpdateItem>(answer.value[0]).unset, ElementsAre("is_locked"));
  EXPECT_EQ(std::get<model::UpdateItem>(answer.value[1]).set.at("is_locked"), "true");
  EXPECT_THAT(logged_.lines, ElementsAre("core: refused"));
  EXPECT_TRUE(model::edit(tree_, *schema_, answer.value, model::Actor::Plugin).ok());
}

TEST_F(Host, TheModelIsReadOnlyWhereTasksAreMade) {
  const PluginFailure failure = failure_of(folder_.add_raw("core", R"(
ask = {'jsonrpc': '2.0', 'id': 'w', 'method': 'write', 'params':
       {'path': '/deployments/d/clusters/c/nodes/n1', 'set': {'is_locked': 'true'}}}
print(json.dumps(ask), flush=True)
answer = json.loads(sys.stdin.readline())
print(json.dumps({'jsonrpc': '2.0', 'id': call['id'], 'error': answer['error']}), flush=True)
)"));
  EXPECT_EQ(failure.kind, FailureKind::Refused);
  EXPECT_THAT(failure.reason, HasSubstr("read-only"));
}

TEST_F(Host, FindingsOfAllPluginsComeTogether) {
  const std::string finds = R"(
    def validate_model(self, ctx):
        return [ValidationError("/ms", "wrong", property_name="x"),
                ValidationError("/software", "also wrong")]
)";
  PluginHost made({folder_.add_python("core", finds), folder_.add_python("other", finds)}, schema_,
                  options_);
  const auto answer = made.validate_model(model_);
  ASSERT_TRUE(answer.good());
  ASSERT_THAT(answer.value, SizeIs(4));
  EXPECT_EQ(answer.value[0].property, "x");
  EXPECT_EQ(answer.value[3].plugin, "other");
  EXPECT_EQ(answer.value[3].message, "also wrong");
}

TEST_F(Host, APluginMayFetchLessThanTheModel) {
  PluginHost made({folder_.add_python("core", R"(
    model_types = ["package"]
    def validate_model(self, ctx):
        packages = ctx.root.query("package")
        nodes = [item.get_node().hostname for item in packages if item.get_node()]
        try: told = str(ctx.query("node"))
        except ValueError as error: told = str(error)
        return [ValidationError("/", text) for text in (",".join(nodes), told,
                packages[0].get_source().vpath, str(ctx.query_by_path("/infrastructure")))]
)")},
                  schema_, options_);
  const auto answer = made.validate_model(model_);
  for (const auto& failure : answer.failures) ADD_FAILURE() << failure.message();
  ASSERT_THAT(answer.value, SizeIs(4));
  EXPECT_EQ(answer.value[0].message, "n1,n2");
  EXPECT_THAT(answer.value[1].message, HasSubstr("'node' were not asked for"));
  EXPECT_EQ(answer.value[2].message, "/software/items/nginx");
  EXPECT_EQ(answer.value[3].message, "None");
}

constexpr const char* kWeb = R"(
    @property_validator
    def check_port(self, value):
        if not value.isdigit(): return "not a port: " + value
    @item_validator
    def check_site(self, properties):
        if properties.get("key") == properties.get("port"): return "key and port are the same"
    @view
    def url(self, ctx, item):
        if item.key == "broken": raise ViewError("no url for " + item.vpath)
        return "http://" + item.get_node().hostname + "/" + item.key
)";

TEST_F(Host, ChecksAndViewsOfAPackAreAskedOfItsPlugin) {
  PluginHost made({folder_.add_python("web", kWeb)}, schema_, options_);
  const model::Path configs = *model::Path::parse("/deployments/d/clusters/c/nodes/n1/configs");
  const std::vector<model::Operation> create = {
      model::CreateItem{configs, "s", "site", {{"key", "k"}, {"value", "v"}, {"port", "80"}}},
      model::CreateItem{configs, "t", "site", {{"key", "broken"}, {"value", "v"}, {"port", "x"}}},
      model::CreateItem{configs, "u", "site", {{"key", "1"}, {"value", "v"}, {"port", "1"}}}};
  model::Answers answers;
  model::EditOutcome outcome = model::edit(tree_, *schema_, create, model::Actor::User);
  while (!outcome.questions.empty()) {
    const auto answer = made.check(model_, outcome.questions);
    for (const auto& failure : answer.failures) FAIL() << failure.message();
    answers.insert(answer.value.begin(), answer.value.end());
    outcome = model::edit(tree_, *schema_, create, model::Actor::User, answers);
  }
  std::vector<std::string> told;
  for (const auto& error : outcome.errors) told.push_back(error.message);
  EXPECT_THAT(told, ElementsAre(HasSubstr("not a port: x"), HasSubstr("are the same")));

  std::vector<model::Operation> good = {create[0]};
  ASSERT_TRUE(model::edit(tree_, *schema_, good, model::Actor::User, answers).ok());
  take_snapshot();
  const auto url = made.view(model_, configs.child("s"), "url");
  ASSERT_TRUE(url) << url.error().message();
  EXPECT_EQ(*url, "http://n1/k");
  const auto nothing = made.view(model_, configs.child("s"), "nothing");
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message(),
              HasSubstr("view 'nothing' of /deployments/d/clusters/c/nodes/n1/configs/s: "));
  EXPECT_FALSE(made.view(model_, configs.child("nowhere"), "url"));
}

TEST_F(Host, APluginReadsViewsOfOthers) {
  const model::Path configs = *model::Path::parse("/deployments/d/clusters/c/nodes/n1/configs");
  std::vector<model::Operation> create = {
      model::CreateItem{configs, "s", "site", {{"key", "k"}, {"value", "v"}}}};
  model::Answers answers;
  for (const auto& question : model::edit(tree_, *schema_, create, model::Actor::User).questions) {
    answers.emplace(question, "");
  }
  ASSERT_TRUE(model::edit(tree_, *schema_, create, model::Actor::User, answers).ok());
  take_snapshot();
  PluginHost made({folder_.add_python("core", R"(
    def create_configuration(self, ctx):
        site = ctx.query("site")[0]
        return [ConfigTask(site.get_node(), site, "say " + site.url, "file", "/x",
                           url=FuturePropertyValue(site, "url"))]
)"),
                   folder_.add_python("web", kWeb)},
                  schema_, options_);
  const auto answer = made.create_configuration(model_);
  for (const auto& failure : answer.failures) ADD_FAILURE() << failure.message();
  ASSERT_THAT(answer.value, SizeIs(1));
  EXPECT_EQ(answer.value[0].description, "say http://n1/k");
  EXPECT_TRUE(answer.value[0].has_future);
}

TEST_F(Host, APluginWithoutWhatItsPackNamesIsRefused) {
  PluginHost made({folder_.add_python("web", "    pass")}, schema_, options_);
  const std::vector<PluginFailure> failures = made.check_all();
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].kind, FailureKind::Incompatible);
  EXPECT_THAT(failures[0].problems, SizeIs(3));
  EXPECT_THAT(failures[0].message(), HasSubstr("property type 'port' names 'check_port'"));
}

TEST_F(Host, CallbacksWriteAndAreAskedToStop) {
  PluginHost made({folder_.add_python("core", R"(
    def lock(self, api, path, value="true"):
        node = api.query_by_path(path)
        assert node.password == "sesame", node.password
        node.is_locked = value
        if not api.is_running(): raise PlanStoppedException("stopped")
    def broken(self, api): raise CallbackExecutionException("no such host")
    def wrong(self, api): return 1 / 0
)")},
                  schema_, options_);
  const std::string node = "/deployments/d/clusters/c/nodes/n1";
  CallbackCall call{"core", *model::Path::parse(node), "lock",
                    R"({"args":[")" + node + R"("],"kwargs":{}})"};
  const auto done = made.callback(model_, call, {});
  ASSERT_TRUE(done) << done.error().message();
  ASSERT_THAT(*done, SizeIs(1));
  EXPECT_EQ(std::get<model::UpdateItem>((*done)[0]).set.at("is_locked"), "true");

  const auto stopped = made.callback(model_, call, {.is_running = [] { return false; }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, FailureKind::Stopped);

  call = {"core", *model::Path::parse(node), "broken"};
  const auto failed = made.callback(model_, call, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, FailureKind::Refused);
  EXPECT_EQ(failed.error().message(), "plugin 'core', callback: no such host");

  call.method = "wrong";
  const auto mistake = made.callback(model_, call, {});
  ASSERT_FALSE(mistake);
  EXPECT_EQ(mistake.error().kind, FailureKind::Wrong);
  EXPECT_THAT(mistake.error().reason, HasSubstr("ZeroDivisionError"));
}

TEST_F(Host, SecretsStayOutOfTheModelThatTasksAreMadeFrom) {
  PluginHost made({folder_.add_python("core", R"(
    def create_configuration(self, ctx):
        node = ctx.query_by_path("/deployments/d/clusters/c/nodes/n1")
        return [ConfigTask(node, node, "set", "user", "root", password=node.password)]
)")},
                  schema_, options_);
  const auto answer = made.create_configuration(model_);
  for (const auto& failure : answer.failures) ADD_FAILURE() << failure.message();
  ASSERT_THAT(answer.value, SizeIs(1));
  const auto& work = std::get<plan::ConfigWork>(answer.value[0].work);
  EXPECT_THAT(work.attributes, HasSubstr(R"({"password":{"$future":)"));
  EXPECT_THAT(work.attributes, ::testing::Not(HasSubstr("sesame")));
}

TEST_F(Host, LocksComeInPairsAndFromOnePluginOnly) {
  const std::string locks = R"(
    def create_lock_tasks(self, ctx, node):
        if node.hostname == "n2": return None
        return (RemoteExecutionTask([node], node, "lock", "exec", argv=["lock"]),
                RemoteExecutionTask([node], node, "unlock", "exec", argv=["unlock"]))
)";
  std::vector<model::Path> nodes;
  for (const char* id : {"n1", "n2"}) {
    nodes.push_back(model::Path::parse("/deployments/d/clusters/c/nodes")->child(id));
  }
  PluginHost one({folder_.add_python("core", locks)}, schema_, options_);
  const auto pairs = one.create_lock_tasks(model_, nodes);
  for (const auto& failure : pairs.failures) ADD_FAILURE() << failure.message();
  ASSERT_THAT(pairs.value, SizeIs(1));
  EXPECT_EQ(pairs.value[0].unlock.description, "unlock");

  PluginHost two({folder_.add_python("core", locks), folder_.add_python("other", locks)}, schema_,
                 options_);
  const auto clash = two.create_lock_tasks(model_, nodes);
  ASSERT_THAT(clash.failures, SizeIs(1));
  EXPECT_EQ(clash.failures[0].message(),
            "plugin 'other', create_lock_tasks: answers for a node that another plugin locks: "
            "/deployments/d/clusters/c/nodes/n1: plugin 'core' answers for it already");
}

TEST_F(Host, LocksThatDoNotFitAreToldOfEveryNode) {
  const std::vector<model::Path> nodes = {
      *model::Path::parse("/deployments/d/clusters/c/nodes/n1"),
      *model::Path::parse("/deployments/d/clusters/c/nodes/n2")};
  PluginHost astray({folder_.add_python("core", R"(
    def create_lock_tasks(self, ctx, node):
        ms = ctx.query("ms")[0]
        return (RemoteExecutionTask([node], node, "lock", "exec"),
                RemoteExecutionTask([ms], ms, "unlock", "exec", tag_name="T"))
)")},
                    schema_, options_);
  const auto answer = astray.create_lock_tasks(model_, nodes);
  ASSERT_THAT(answer.failures, SizeIs(1));
  EXPECT_EQ(answer.failures[0].reason, "the tasks for 2 of 2 nodes are not right");
  EXPECT_THAT(answer.failures[0].problems, SizeIs(6));
  EXPECT_THAT(answer.failures[0].problems[5],
              HasSubstr("n2: the unlock task ('unlock', for /ms, action exec), tag: is 'T'"));

  PluginHost raising({folder_.add_python("core", R"(
    def create_lock_tasks(self, ctx, node):
        if node.hostname == "n2": raise PluginError("no idea")
)")},
                     schema_, options_);
  const auto raised = raising.create_lock_tasks(model_, nodes);
  ASSERT_THAT(raised.failures, SizeIs(1));
  EXPECT_EQ(raised.failures[0].message(),
            "plugin 'core', create_lock_tasks for /deployments/d/clusters/c/nodes/n2: no idea");
}

// --- Plugins that misbehave. Each is stopped and named. ---

TEST_F(Host, NamesAPluginThatCrashes) {
  const PluginFailure failure = failure_of(folder_.add_raw("core", R"(
print("out of cheese", file=sys.stderr, flush=True)
os.kill(os.getpid(), signal.SIGSEGV))"));
  EXPECT_EQ(failure.kind, FailureKind::Crashed);
  EXPECT_EQ(failure.message(),
            "plugin 'core', create_configuration: was killed by signal 11 (Segmentation fault); "
            "its last words: 'out of cheese'");
}

TEST_F(Host, NamesAPluginThatEnds) {
  const PluginFailure failure = failure_of(folder_.add_raw("core", "sys.exit(7)"));
  EXPECT_EQ(failure.kind, FailureKind::Crashed);
  EXPECT_THAT(failure.reason, HasSubstr("ended with exit status 7"));
}

TEST_F(Host, NamesAPluginThatHangs) {
  options_.call_timeout = Duration::millis(300);
  const PluginFailure failure = failure_of(
      folder_.add_raw("core", "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.pause()"));
  EXPECT_EQ(failure.kind, FailureKind::TimedOut);
  EXPECT_THAT(failure.reason, HasSubstr("did not answer within 300ms"));
}

TEST_F(Host, NamesAPluginThatTalksWithoutEnd) {
  options_.call_timeout = Duration::millis(500);
  const PluginFailure failure = failure_of(folder_.add_raw("core", R"(
line = json.dumps({'jsonrpc': '2.0', 'method': 'log', 'params': {'message': 'x'}})
while True: print(line))"));
  EXPECT_EQ(failure.kind, FailureKind::TimedOut);
  EXPECT_LE(logged_.lines.size(), options_.session.limits.log_lines + 1);
}

TEST_F(Host, NamesAPluginThatFloods) {
  options_.session.limits.message_bytes = 1 << 20;
  const PluginFailure line =
      failure_of(folder_.add_raw("core", "while True: sys.stdout.write('x' * 65536)"));
  EXPECT_EQ(line.kind, FailureKind::Flooded);
  EXPECT_THAT(line.reason, HasSubstr("sent a message of more than 1.0 MiB: 'xxxx"));

  options_.session.limits.call_bytes = 1 << 20;
  const PluginFailure all = failure_of(folder_.add_raw("core", R"(
line = json.dumps({'jsonrpc': '2.0', 'method': 'log', 'params': {'message': 'x' * 1000}})
while True: print(line))"));
  EXPECT_EQ(all.kind, FailureKind::Flooded);
  EXPECT_THAT(all.reason, HasSubstr("sent more than 1.0 MiB in one call"));
}

TEST_F(Host, ReadsLittleOfAFloodOfErrors) {
  options_.call_timeout = Duration::millis(500);
  failure_of(folder_.add_raw("core", "while True: print('spam', file=sys.stderr)"));
  EXPECT_EQ(logged_.lines.size(), options_.session.limits.log_lines + 1);
  EXPECT_THAT(logged_.lines.back(), HasSubstr(" further lines of this call were dropped"));
}

TEST_F(Host, LinesForTheLogAreLimitedAndCountedByCall) {
  options_.session.limits.log_lines = 10;
  PluginHost made({folder_.add_python("core", R"(
    def validate_model(self, ctx):
        for i in range(8): ctx.log(f"said {i}")
        # More than is read at once, so that the answer overtakes some of it.
        sys.stderr.write(8 * ("x" * 4000 + "\n"))
        sys.stderr.flush()
        return []
)")},
                  schema_, options_);
  for (std::size_t call = 1; call <= 2; ++call) {
    EXPECT_TRUE(made.validate_model(model_).good());
    ASSERT_THAT(logged_.lines, SizeIs(11 * call));
    EXPECT_EQ(logged_.lines.back(), "core: 6 further lines of this call were dropped");
  }
}

TEST_F(Host, NamesAPluginThatAnswersGarbage) {
  const PluginFailure failure =
      failure_of(folder_.add_raw("core", "print('hello ' * 100, flush=True)\nsignal.pause()"));
  EXPECT_EQ(failure.kind, FailureKind::Garbage);
  EXPECT_THAT(failure.reason, HasSubstr("sent 600 bytes that are no message: 'hello hello"));

  const PluginFailure other = failure_of(folder_.add_raw("core", R"(
print(json.dumps({'jsonrpc': '2.0', 'id': 99, 'result': {}}), flush=True)
signal.pause())"));
  EXPECT_THAT(other.reason, HasSubstr("answered request 99, but was asked 2"));

  const PluginFailure shape = failure_of(folder_.add_raw("core", R"(
print(json.dumps({'jsonrpc': '2.0', 'id': call['id'], 'result': []}), flush=True)
signal.pause())"));
  EXPECT_THAT(shape.reason, HasSubstr("answered without a list 'tasks'"));
}

TEST_F(Host, NamesAPluginThatTakesTooMuchMemory) {
  options_.session.limits.memory_bytes = 200 << 20;
  const PluginFailure failure = failure_of(folder_.add_raw("core", R"(
kept = []
while True: kept.append(bytearray(b'x') * (1 << 20)))"));
  EXPECT_EQ(failure.kind, FailureKind::OutOfMemory) << failure.message();
  EXPECT_THAT(failure.reason, HasSubstr("used more than 200.0 MiB of memory"));
}

TEST_F(Host, WhatAPluginHasStartedCountsForItsMemory) {
  options_.session.limits.memory_bytes = 200 << 20;
  // The second child has left the session, and its parent has ended.
  const PluginFailure failure = failure_of(folder_.add_raw("core", R"(
def take():
    kept = bytearray(b'x') * (120 << 20)
    signal.pause()
if os.fork() == 0: take()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: take()
    os._exit(0)
signal.pause())"));
  EXPECT_EQ(failure.kind, FailureKind::OutOfMemory) << failure.message();
  EXPECT_THAT(failure.reason, HasSubstr("used more than 200.0 MiB of memory together with the "
                                        "processes that it has started"));
}

TEST_F(Host, WhatProcessesShareCountsOnce) {
  options_.session.limits.memory_bytes = 250 << 20;
  options_.call_timeout = Duration::millis(1500);
  const PluginFailure failure = failure_of(folder_.add_raw("core", R"(
kept = bytearray(b'x') * (100 << 20)
for i in range(3):
    if os.fork() == 0: signal.pause()
signal.pause())"));
  EXPECT_EQ(failure.kind, FailureKind::TimedOut) << failure.message();
}

TEST_F(Host, NamesAPluginThatCannotBeStarted) {
  Program program = folder_.add("core", "#!/nowhere/at/all\n");
  EXPECT_EQ(failure_of(program).kind, FailureKind::NotStarted);
  EXPECT_THAT(failure_of(program).reason, HasSubstr("No such file or directory"));
}

TEST_F(Host, NamesAPluginOfAnotherProtocol) {
  const PluginFailure failure = failure_of(folder_.add("core", R"(#!/bin/sh
read line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocol":7,"name":"core"}}'
read line)"));
  EXPECT_EQ(failure.kind, FailureKind::Incompatible);
  EXPECT_THAT(failure.reason, HasSubstr("speaks protocol 7; this Muster speaks 1"));
}

TEST_F(Host, AllMistakesInTasksAreTold) {
  const PluginFailure failure = failure_of(folder_.add_raw("core", R"(
print(json.dumps({'jsonrpc': '2.0', 'id': call['id'], 'result': {'tasks': [{}, {'kind': 3}]}}),
      flush=True)
signal.pause())"));
  EXPECT_EQ(failure.kind, FailureKind::Garbage);
  EXPECT_EQ(failure.reason, "2 of 2 tasks are not right");
  EXPECT_GE(failure.problems.size(), 4U);
  EXPECT_THAT(failure.message(), HasSubstr("task 1, kind: is a number; a text is needed"));
}

// Whether a process has ended, also if nobody has asked for its status yet.
bool has_ended(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  return !std::getline(status, text) || text.find(") Z ") != std::string::npos;
}

TEST_F(Host, WhatAPluginStartedEndsWithIt) {
  for (const char* leave : {"pass", "os.setsid()", "os.setsid(); os.fork() and os._exit(0)"}) {
    const PluginFailure failure = failure_of(folder_.add_raw("core", std::string(R"(
read, write = os.pipe()
if os.fork() == 0:
    )") + leave + R"(
    os.write(write, str(os.getpid()).encode())
    signal.pause()
print(os.read(read, 20).decode(), file=sys.stderr, flush=True)
sys.exit(1))"));
    EXPECT_EQ(failure.kind, FailureKind::Crashed);
    ASSERT_THAT(logged_.lines, SizeIs(1));
    EXPECT_TRUE(has_ended(std::stoi(logged_.lines[0].substr(6)))) << leave;
    logged_.lines.clear();
  }
}

TEST_F(Host, WhatAPluginLeavesBehindIsToldAndKilled) {
  options_.session.limits.grace = Duration::seconds(1);
  const Program program = folder_.add_python("core", R"(
    def validate_model(self, ctx):
        if os.fork() == 0:
            os.setsid()
            for fd in range(64):
                try: os.close(fd)
                except OSError: pass
            signal.pause()
        return []
)");
  {
    PluginHost made({program}, schema_, options_);
    EXPECT_TRUE(made.validate_model(model_).good());
  }
  ASSERT_THAT(logged_.lines, SizeIs(1));
  const std::string& line = logged_.lines[0];
  EXPECT_THAT(line, HasSubstr("core: ended, but left processes behind, which were killed: "));
  EXPECT_TRUE(has_ended(std::stoi(line.substr(line.rfind('(') + 1))));
}

TEST_F(Host, ACallCanBeCancelled) {
  PluginHost made({folder_.add_raw("core", "signal.pause()")}, schema_, options_);
  std::atomic<bool> cancel = false;
  PluginHost::Answers<std::vector<plan::Task>> answer;
  std::thread caller([&] { answer = made.create_configuration(model_, &cancel); });
  cancel = true;
  caller.join();
  ASSERT_THAT(answer.failures, SizeIs(1));
  EXPECT_EQ(answer.failures[0].kind, FailureKind::Cancelled);
}

TEST_F(Host, AProcessIsUsedAgainAndReplacedAfterAFailure) {
  const Program program = folder_.add_python("core", R"(
    def validate_model(self, ctx):
        return [ValidationError("/ms", str(os.getpid()))]
    def crash(self, api): os.abort()
)");
  PluginHost made({program}, schema_, options_);
  const std::string first = made.validate_model(model_).value.at(0).message;
  EXPECT_EQ(made.validate_model(model_).value.at(0).message, first);
  EXPECT_FALSE(made.callback(model_, {"core", model::Path(), "crash"}, {}));
  EXPECT_NE(made.validate_model(model_).value.at(0).message, first);
  const std::string second = made.validate_model(model_).value.at(0).message;
  made.close_idle();
  EXPECT_NE(made.validate_model(model_).value.at(0).message, second);
}

TEST_F(Host, ManyThreadsCallAtOnce) {
  options_.idle_max = 4;
  PluginHost made({folder_.add_python("core", kInstall)}, schema_, options_);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] { good += made.create_configuration(model_).value.size() == 4; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 6);
}

TEST_F(Host, QueriesAreAnsweredWithoutTheWholeModel) {
  const PluginFailure failure = failure_of(folder_.add_raw("core", R"(
def ask(params):
    print(json.dumps({'jsonrpc': '2.0', 'id': 'q', 'method': 'query', 'params': params}),
          flush=True)
    answer = json.loads(sys.stdin.readline())
    return answer.get('result', {}).get('items') if 'result' in answer else answer['error']
n1 = '/deployments/d/clusters/c/nodes/n1'
told = [
    [item['path'] for item in ask({'type': 'package'})],
    [item['source'] for item in ask({'type': 'package', 'below': n1})],
    [item['properties'] for item in ask({'path': n1})],
    [item['id'] for item in ask({'children': n1})],
    [item['id'] for item in ask({'type': 'node', 'where': {'hostname': 'n2'},
                                 'states': ['Initial']})],
    ask({'path': '/nowhere'}),
    ask({'type': 'nod'})['message'],
    ask({})['message'],
]
print(json.dumps({'jsonrpc': '2.0', 'id': call['id'],
                  'error': {'code': 1, 'message': json.dumps(told)}}), flush=True)
)"));
  const Json told = Json::parse(failure.reason);
  EXPECT_EQ(told[0], Json({"/software/items/nginx"}));
  EXPECT_EQ(told[1], Json({"/software/items/nginx"}));
  EXPECT_EQ(told[2], Json::array({{{"hostname", "n1"}, {"is_locked", "false"}, {"password", {}}}}));
  EXPECT_EQ(told[3], Json({"configs", "items"}));
  EXPECT_EQ(told[4], Json({"n2"}));
  EXPECT_EQ(told[5], Json::array());
  EXPECT_THAT(told[6].get<std::string>(), HasSubstr("did you mean 'node'?"));
  EXPECT_THAT(told[7].get<std::string>(), HasSubstr("exactly one of"));
}

}  // namespace
}  // namespace muster::plugin
