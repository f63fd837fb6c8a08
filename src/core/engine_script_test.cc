#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "core/engine_script.h"
#include "golden/golden.h"

// Replays testdata/*.txt.

namespace muster::core::testing {
namespace {

using muster::testing::expect_golden;
using muster::testing::golden_name;
using muster::testing::golden_scripts;
using muster::testing::read_golden;

// Runs a script and answers what it should look like.
std::string replay(const std::filesystem::path& path, EngineScript& engine) {
  std::istringstream lines(read_golden(path));
  std::string result;
  std::string line;
  bool in_transcript = false;
  while (std::getline(lines, line)) {
    if (line.empty()) in_transcript = false;
    if (in_transcript) continue;
    if (line == "----") {
      in_transcript = true;
      continue;
    }
    result += line + "\n";
    if (line.empty() || line.starts_with("#")) continue;
    result += "----\n" + engine.run(line);
  }
  return result;
}

class GoldenScript : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenScript, GivesItsTranscript) {
  EngineScript engine;
  const std::string actual = replay(GetParam(), engine);
  expect_golden(GetParam(), actual);
}

INSTANTIATE_TEST_SUITE_P(Core, GoldenScript, ::testing::ValuesIn(golden_scripts(MUSTER_TEST_DATA)),
                         [](const auto& script) { return golden_name(script.param); });

// The state machine of the design, as pairs. The scripts must make every one of them and no other.
TEST(StateMachine, ScriptsMakeEveryTransitionAndNoOther) {
  using enum Status;
  const std::set<std::pair<Status, Status>> allowed = {
      {Init, PendingApprove},
      {Init, Waiting},
      {Init, Ready},
      {Init, Running},
      {Init, PendingSchedule},
      {Init, Cancelled},
      {Init, Failed},
      {PendingApprove, Waiting},
      {PendingApprove, Ready},
      {PendingApprove, Running},
      {PendingApprove, PendingSchedule},
      {PendingApprove, Cancelled},
      {PendingApprove, Failed},
      {Waiting, Ready},
      {Waiting, Running},
      {Waiting, PendingSchedule},
      {Waiting, New},  // an agent's own action wins its id
      {Waiting, Failed},
      {Waiting, Cancelled},
      {Ready, Running},
      {Ready, Waiting},
      {Ready, Cancelled},
      {Ready, Failed},
      {Ready, Succeeded},
      {PendingSchedule, New},
      {PendingSchedule, Running},
      {PendingSchedule, Waiting},
      {PendingSchedule, Succeeded},
      {PendingSchedule, Failed},
      {PendingSchedule, Cancelled},
      {PendingSchedule, Lost},
      {PendingSchedule, Suspended},
      {New, Running},
      {New, Suspended},
      {New, Succeeded},
      {New, Failed},
      {New, Cancelled},
      {New, Lost},
      {Running, Suspended},
      {Running, Ready},
      {Running, PendingSchedule},
      {Running, Succeeded},
      {Running, Failed},
      {Running, Cancelled},
      {Running, Lost},
      {Suspended, Running},
      {Suspended, Cancelled},
      {Suspended, Succeeded},
      {Suspended, Failed},
      {Suspended, Lost},
      {Suspended, Ready},
      {Lost, Succeeded},
      {Lost, Failed},
      {Lost, Cancelled},
  };
  std::set<std::pair<Status, Status>> made;
  for (const auto& path : golden_scripts(MUSTER_TEST_DATA)) {
    EngineScript engine;
    (void)replay(path, engine);
    made.insert(engine.transitions().begin(), engine.transitions().end());
  }
  for (const auto& [from, to] : made) {
    EXPECT_TRUE(allowed.contains({from, to})) << name(from) << " -> " << name(to);
  }
  for (const auto& [from, to] : allowed) {
    EXPECT_TRUE(made.contains({from, to}))
        << "no script makes " << name(from) << " -> " << name(to);
  }
}

}  // namespace
}  // namespace muster::core::testing
