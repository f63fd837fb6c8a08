#include "plan/plan_script.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "golden/golden.h"
#include "plan/test_world.h"

// Replays testdata/*.txt.

namespace muster::plan::testing {
namespace {

using muster::testing::expect_golden;
using muster::testing::golden_name;
using muster::testing::golden_scripts;
using muster::testing::read_golden;
using muster::testing::replay_commands;

// Each story of a script begins with "# ---" and an empty world.
std::string replay(const std::filesystem::path& path) {
  const model::SchemaPtr schema = test_schema();
  PlanScript script(schema, test_ruleset(*schema));
  return replay_commands(
      read_golden(path), [&](const std::string& command) { return script.run(command); },
      [&](std::string_view comment) {
        if (comment.starts_with("# ---")) script = PlanScript(schema, test_ruleset(*schema));
      });
}

class GoldenPlan : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenPlan, GivesItsTranscript) {
  const std::string actual = replay(GetParam());
  expect_golden(GetParam(), actual);
}

INSTANTIATE_TEST_SUITE_P(Plan, GoldenPlan, ::testing::ValuesIn(golden_scripts(MUSTER_TEST_DATA)),
                         [](const auto& script) { return golden_name(script.param); });

}  // namespace
}  // namespace muster::plan::testing
