#include "plugin/failure.h"

#include <gmock/gmock.h>

namespace muster::plugin {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> lines(const Error& error) {
  std::vector<std::string> told = {error.message};
  for (const FieldError& field : error.fields) told.push_back(field.plugin + ": " + field.detail);
  return told;
}

TEST(PluginFailures, OneIsToldOnceWithItsProblems) {
  PluginFailure failure{FailureKind::Garbage, "web", "create_configuration", "2 tasks are wrong"};
  failure.problems = {"task 0: a", "task 1: b"};
  EXPECT_THAT(lines(to_error({failure})),
              ElementsAre("plugin 'web', create_configuration: 2 tasks are wrong", "web: task 0: a",
                          "web: task 1: b"));
  EXPECT_EQ(failure.message(),
            "plugin 'web', create_configuration: 2 tasks are wrong: task 0: a; task 1: b");
}

TEST(PluginFailures, WithoutProblemsTheFieldRepeatsNothingButTheReason) {
  PluginFailure failure{FailureKind::Refused, "web", "view", "no view today"};
  failure.about = "'url' of /ms";
  EXPECT_THAT(lines(to_error({failure})),
              ElementsAre("plugin 'web', view 'url' of /ms: no view today", "web: no view today"));
}

TEST(PluginFailures, PluginsAreCountedNotFailures) {
  PluginFailure first{FailureKind::Wrong, "web", "create_lock_tasks", "a"};
  first.about = "for /ms";
  PluginFailure second{FailureKind::Wrong, "web", "create_lock_tasks", "b"};
  second.problems = {"p"};
  EXPECT_THAT(lines(to_error({first, second})),
              ElementsAre("plugin 'web' failed in 2 calls", "web: create_lock_tasks for /ms: a",
                          "web: create_lock_tasks: b", "web: p"));
  const PluginFailure third{FailureKind::Crashed, "db", "view", "c"};
  EXPECT_EQ(to_error({first, second, third}).message, "2 plugins failed");
}

}  // namespace
}  // namespace muster::plugin
