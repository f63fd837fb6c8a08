#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/engine_script.h"

// Replays testdata/*.txt. With MUSTER_REWRITE=1 the transcripts are written anew, to be reviewed as
// a diff.

namespace muster::core::testing {
namespace {

std::vector<std::filesystem::path> scripts() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(MUSTER_TEST_DATA)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Runs a script and answers what it should look like.
std::string replay(const std::filesystem::path& path, EngineScript& engine) {
  std::istringstream lines(read(path));
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
  if (std::getenv("MUSTER_REWRITE") != nullptr) std::ofstream(GetParam()) << actual;
  EXPECT_EQ(actual, read(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Core, GoldenScript, ::testing::ValuesIn(scripts()),
                         [](const auto& script) {
                           std::string name = script.param.stem().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

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
  for (const auto& path : scripts()) {
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
