#include "model/model_script.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "golden/golden.h"

// Replays testdata/*.txt.

namespace muster::model::testing {
namespace {

using muster::testing::expect_golden;
using muster::testing::golden_name;
using muster::testing::golden_scripts;
using muster::testing::read_golden;
using muster::testing::replay_commands;

// Runs a script and answers what it should look like.
std::string replay(const std::filesystem::path& path, ModelScript& script) {
  return replay_commands(read_golden(path),
                         [&](const std::string& command) { return script.run(command); });
}

class GoldenScript : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenScript, GivesItsTranscript) {
  ModelScript script;
  const std::string actual = replay(GetParam(), script);
  expect_golden(GetParam(), actual);
}

INSTANTIATE_TEST_SUITE_P(Model, GoldenScript, ::testing::ValuesIn(golden_scripts(MUSTER_TEST_DATA)),
                         [](const auto& script) { return golden_name(script.param); });

// The states of an item, as pairs. The scripts must make every one of them and no other; "-" is an
// item that is not there.
TEST(ItemStates, ScriptsMakeEveryTransitionAndNoOther) {
  const std::set<std::pair<std::string, std::string>> allowed = {
      {"-", "Initial"},
      {"Initial", "-"},
      {"Initial", "Initial"},  // new values
      {"Initial", "Applied"},
      {"Initial", "ForRemoval"},
      {"Applied", "Applied"},  // values that need no plan
      {"Applied", "Updated"},
      {"Applied", "ForRemoval"},
      {"Applied", "Initial"},  // to be made anew
      {"Updated", "Updated"},
      {"Updated", "Applied"},
      {"Updated", "ForRemoval"},
      {"ForRemoval", "Initial"},
      {"ForRemoval", "Applied"},
      {"ForRemoval", "Updated"},
      {"ForRemoval", "ForRemoval"},  // what is on its host is no longer known
      {"ForRemoval", "Removed"},
      {"Removed", "ForRemoval"},  // it has to stay
      {"Removed", "-"},
  };
  std::set<std::pair<std::string, std::string>> made;
  for (const auto& path : golden_scripts(MUSTER_TEST_DATA)) {
    ModelScript script;
    replay(path, script);
    made.insert(script.transitions().begin(), script.transitions().end());
  }
  for (const auto& [from, to] : made) {
    EXPECT_TRUE(allowed.contains({from, to})) << from << " -> " << to << " is not a transition";
  }
  for (const auto& [from, to] : allowed) {
    EXPECT_TRUE(made.contains({from, to})) << "no script makes " << from << " -> " << to;
  }
}

}  // namespace
}  // namespace muster::model::testing
