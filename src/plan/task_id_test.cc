#include "plan/task_id.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace muster::plan {
namespace {

model::Path path(const std::string& text) { return *model::Path::parse(text); }

Task config(const std::string& node, Call call) {
  Task task;
  task.plugin = "p";
  task.item = path("/a");
  task.work = ConfigWork{.node = path(node), .call = std::move(call), .replaces = {}};
  return task;
}

TEST(TaskId, IsReadable) {
  EXPECT_EQ(task_id(config("/deployments/d/clusters/c/nodes/n1", {"package", "nginx"})),
            "config:deployments,d,clusters,c,nodes,n1:package:nginx");
  EXPECT_EQ(task_id(config("/ms", {"file", "/etc/a b:c,~"})),
            "config:ms:file:,etc,a~20b~3ac~2c~7e");
  Task callback = config("/ms", {"x", "y"});
  callback.work = CallbackWork{"reload"};
  EXPECT_EQ(task_id(callback), "callback:p:a:reload");
  callback.work = CallbackWork{"reload", R"({"a":1})"};
  EXPECT_EQ(task_id(callback), "callback:p:a:reload:238c12b3c5918ec27a7906beebbb0e8b");
  Task remote = callback;
  remote.work = RemoteWork{{path("/ms")}, "exec"};
  EXPECT_EQ(task_id(remote), "remote:a:exec:ms");
  EXPECT_EQ(describe(remote), "remote:a:exec:ms of plugin 'p' for /a");
}

TEST(TaskId, DoesNotDependOnWhatATaskSaysBesides) {
  Task task = config("/ms", {"package", "a"});
  const std::string id = task_id(task);
  task.description = "x";
  task.tag = "T";
  task.plugin = "q";
  task.item = path("/b");
  task.requirements = {RequiredCall{{"package", "b"}}};
  std::get<ConfigWork>(task.work).attributes = R"({"a":1})";
  EXPECT_EQ(task_id(task), id);
}

// Few letters, so that tasks meet; among them all that ids give a meaning to.
rc::Gen<std::string> any_text() {
  return rc::gen::container<std::string>(rc::gen::elementOf(std::string("a:,~/2c")));
}

Task any_task() {
  const auto any_path = [] { return path(*rc::gen::element<std::string>("/a", "/a/b", "/b")); };
  Task task;
  task.plugin = *rc::gen::element<std::string>("p", "q");
  task.item = any_path();
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      task.work =
          ConfigWork{.node = any_path(), .call = {*any_text(), *any_text()}, .replaces = {}};
      break;
    case 1:
      task.work = CallbackWork{*any_text(), *rc::gen::element<std::string>("{}", "{1}", "{2}")};
      break;
    default: {
      RemoteWork work{{any_path()}, *any_text(), *rc::gen::element<std::string>("{}", "{1}")};
      if (work.nodes[0] != path("/b") && *rc::gen::arbitrary<bool>()) {
        work.nodes.push_back(path("/b"));
      }
      task.work = work;
    }
  }
  return task;
}

RC_GTEST_PROP(TaskId, IsTheSameForTheSameTaskOnly, ()) {
  const Task a = any_task();
  const Task b = any_task();
  RC_ASSERT((task_id(a) == task_id(b)) == same_task(a, b));
  if (compare_identity(a, b) == 0) RC_ASSERT(same_task(a, b));
  RC_ASSERT((compare_identity(a, b) < 0) == (compare_identity(b, a) > 0));
}

RC_GTEST_PROP(TaskId, StandsInAUrlAsItIs, ()) {
  const std::string id = task_id(any_task());
  RC_ASSERT(std::all_of(id.begin(), id.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string("_-.:,~").find(c) != std::string::npos;
  }));
}

}  // namespace
}  // namespace muster::plan
