#include "plugin/task_codec.h"

#include <gmock/gmock.h>

#include "plugin/plugin_test_util.h"

namespace muster::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNode = "/deployments/d/clusters/c/nodes/n1";

class TaskCodec : public ::testing::Test {
 protected:
  TaskCodec()
      : schema_(model::testing::test_schema()),
        snapshot_(testing::make_tree(*schema_), schema_, 1),
        decoder_("web", snapshot_, callbacks_) {}

  static Json config(const std::string& id = "nginx") {
    return {{"kind", "config"},         {"item", std::string(kNode) + "/items/nginx"},
            {"description", "install"}, {"node", kNode},
            {"call", {"package", id}},  {"attributes", {{"z", 1}, {"a", "x"}}}};
  }
  // What is wrong with one document.
  std::vector<std::string> problems(Json task) {
    TaskDecoder decoder("web", snapshot_, callbacks_);
    decoder.add(Json::array({std::move(task)}));
    decoder.finish();
    return decoder.problems();
  }
  std::vector<std::string> problems_with(const char* field, const Json& value) {
    Json task = config();
    task[field] = value;
    return problems(std::move(task));
  }

  const std::vector<std::string> callbacks_ = {"reboot"};
  model::SchemaPtr schema_;
  Snapshot snapshot_;
  TaskDecoder decoder_;
};

TEST_F(TaskCodec, ReadsEveryKindWithEveryField) {
  Json full = config();
  full["tag"] = "T";
  full["model_items"] = {"/software/items/nginx", "/ms", "/ms"};
  full["requires"] = {{{"task", 1}}, {{"item", "/ms"}}, {{"call", {"file", "/etc/x"}}}};
  full["replaces"] = Json::array({Json::array({"package", "apache2"})});
  full["persist"] = false;
  decoder_.add(Json::array(
      {full,
       {{"kind", "callback"},
        {"item", "/ms"},
        {"description", "boot"},
        {"method", "reboot"},
        {"arguments", {{"x", {{"$future", {{"item", kNode}, {"property", "is_locked"}}}}}}}},
       {{"kind", "remote"},
        {"item", "/ms"},
        {"description", "run"},
        {"nodes", {"/ms", kNode, kNode}},
        {"action", "exec"},
        {"inputs", {{"argv", {"/bin/true"}}}}}}));
  decoder_.finish();
  ASSERT_THAT(decoder_.problems(), IsEmpty());
  const std::vector<plan::Task> tasks = std::move(decoder_).take();
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].plugin, "web");
  EXPECT_EQ(tasks[0].tag, "T");
  EXPECT_EQ(tasks[0].model_items.size(), 2U);
  EXPECT_EQ(tasks[0].requirements.size(), 3U);
  EXPECT_EQ(tasks[0].requirements[0], plan::Requirement(plan::RequiredTask{1}));
  const auto& work = std::get<plan::ConfigWork>(tasks[0].work);
  EXPECT_EQ(work.attributes, R"({"a":"x","z":1})");
  EXPECT_EQ(work.call, (plan::Call{"package", "nginx"}));
  EXPECT_FALSE(work.persist);
  EXPECT_EQ(work.replaces, (std::vector<plan::Call>{{"package", "apache2"}}));
  EXPECT_FALSE(tasks[0].has_future);
  EXPECT_TRUE(tasks[1].has_future);
  const auto& remote = std::get<plan::RemoteWork>(tasks[2].work);
  EXPECT_EQ(remote.nodes.size(), 2U);
  EXPECT_LT(remote.nodes[0], remote.nodes[1]);
}

TEST_F(TaskCodec, NamesEverythingThatIsWrongAtOnce) {
  decoder_.add(Json::array({{{"kind", "config"}, {"itm", "/ms"}}, 3, config()}));
  decoder_.finish();
  EXPECT_THAT(decoder_.problems(),
              ElementsAre("task 0, item: is missing; a text is needed",
                          "task 0, description: is missing; a text is needed",
                          "task 0, node: is missing; a text is needed",
                          "task 0, call: is missing; the type and the id of a resource are needed",
                          "task 0, itm: is an unknown field; did you mean 'item'?",
                          "task 1: is '3'; a mapping is needed"));
  EXPECT_EQ(decoder_.wrong_tasks(), 2U);
  EXPECT_EQ(decoder_.size(), 3U);
}

TEST_F(TaskCodec, AProblemNamesTheTaskAndTheEntry) {
  Json task = config();
  task["requires"] = {{{"item", "/ms"}}, {{"itm", "/ms"}}};
  EXPECT_THAT(problems(task),
              ElementsAre("task 0 ('install', for /deployments/d/clusters/c/nodes/n1/items/nginx, "
                          "package nginx), requires[1]: is '{\"itm\":\"/ms\"}'; an entry must be "
                          "{\"task\": NUMBER}, {\"item\": PATH} or {\"call\": [TYPE, ID]}"));
  const Json callback = {
      {"kind", "callback"}, {"item", "/nowhere"}, {"description", "boot"}, {"method", "reboot"}};
  EXPECT_THAT(problems(callback), ElementsAre("task 0 ('boot', for /nowhere, callback reboot), "
                                              "item: there is no item '/nowhere' in the model"));
}

TEST_F(TaskCodec, RefusesWhatDoesNotFit) {
  const std::pair<std::pair<const char*, Json>, const char*> cases[] = {
      {{"kind", "confg"}, "'confg' is none of config, callback and remote; did you mean 'config'?"},
      {{"item", "/nowhere"}, "there is no item '/nowhere' in the model"},
      {{"item", "relative"}, "a path begins with '/'"},
      {{"node", "/software"}, "'/software' is of type 'software'; a node or the management server"},
      {{"call", {"package"}}, "the type and the id of a resource"},
      {{"call", {"package", ""}}, "may be empty"},
      {{"attributes", {1}}, "is a list; a mapping is needed"},
      {{"persist", "no"}, "true or false is needed"},
      {{"requires", {"x"}}, "'\"x\"'; an entry must be {\"task\": NUMBER}"},
      {{"requires", {{{"task", -1}}}}, "an entry must be"},
      {{"requires", {{{"task", 7}}}}, "there is no task 7; the answer has 1"},
      {{"requires", {{{"task", 0}}}}, "a task cannot require itself"},
      {{"requires", {{{"item", "/nowhere"}}}}, "there is no item"},
      {{"replaces", Json::array({{"a", "b", "c"}})}, "the type and the id of a resource"},
      {{"model_items", {"/nowhere"}}, "there is no item"},
      {{"description", std::string(2000, 'x')}, "has 2000 bytes; at most 1000 are allowed"},
      {{"method", "reboot"}, "is no field of a task of this kind"},
      {{"attributes", {{"a", {{"$future", {{"item", kNode}, {"property", "hostname"}}}}}}},
       "whose value is known now"},
      {{"attributes", {{"a", {{"$future", {{"item", kNode}, {"property", "nothing"}}}}}}},
       "does not have"},
      {{"attributes", {{"a", {{"$future", 4}}}}}, "has a text 'item'"},
  };
  for (const auto& [given, told] : cases) {
    const auto found = problems_with(given.first, given.second);
    ASSERT_EQ(found.size(), 1U) << given.first << " " << given.second;
    EXPECT_THAT(found[0], HasSubstr(told));
    EXPECT_THAT(found[0], HasSubstr("task 0"));
  }
  Json callback = {
      {"kind", "callback"}, {"item", "/ms"}, {"description", "x"}, {"method", "rebot"}};
  EXPECT_THAT(problems(callback), ElementsAre(HasSubstr("did you mean 'reboot'?")));
}

TEST_F(TaskCodec, RefusesOneResourceTwice) {
  Json other = config();
  other["node"] = "/ms";
  decoder_.add(Json::array({config(), other, config("curl"), config()}));
  decoder_.finish();
  EXPECT_THAT(decoder_.problems(),
              ElementsAre("task 3 ('install', for /deployments/d/clusters/c/nodes/n1/items/nginx, "
                          "package nginx), call: task 0 ('install', for "
                          "/deployments/d/clusters/c/nodes/n1/items/nginx, package nginx) has the "
                          "resource 'package' 'nginx' of /deployments/d/clusters/c/nodes/n1 "
                          "already"));
}

TEST_F(TaskCodec, ASecretMayBeNamedByAFuture) {
  Json task = config();
  task["attributes"] = {{"p", {{"$future", {{"item", kNode}, {"property", "password"}}}}}};
  EXPECT_THAT(problems(task), IsEmpty());
}

TEST_F(TaskCodec, HasLimits) {
  Json deep = "x";
  for (int i = 0; i < 30; ++i) deep = Json::array({deep});
  EXPECT_THAT(problems_with("attributes", {{"a", deep}}),
              ElementsAre(HasSubstr("nested more than 20 levels deep")));
  EXPECT_THAT(problems_with("attributes", {{"a", std::string(2 << 20, 'x')}}),
              ElementsAre(HasSubstr("at most 1048576 are allowed")));

  TaskDecoder few("web", snapshot_, callbacks_, {.tasks_max = 2});
  EXPECT_FALSE(few.add(Json::array({config("a"), config("b"), config("c")})));
  EXPECT_THAT(few.problems(), ElementsAre(HasSubstr("more than 2 tasks")));

  TaskDecoder many("web", snapshot_, callbacks_, {.problems_max = 3});
  many.add(Json(std::vector<int>(10, 1)));
  many.finish();
  EXPECT_EQ(many.problems().size(), 4U);
  EXPECT_EQ(many.problems().back(), "and 7 more");
}

}  // namespace
}  // namespace muster::plugin
