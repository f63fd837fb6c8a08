#include "model/model_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

// Replays testdata/*.txt. With MUSTER_REWRITE=1 the transcripts are written anew, to be reviewed as
// a diff.

namespace muster::model::testing {
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
std::string replay(const std::filesystem::path& path, ModelScript& script) {
  std::istringstream lines(read(path));
  std::string result;
  bool in_transcript = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_command = line.starts_with("$ ");
    if (line.empty() || is_command || line.starts_with("#")) in_transcript = false;
    if (in_transcript) continue;
    result += line + "\n";
    if (!is_command) continue;
    result += script.run(line.substr(2));
    in_transcript = true;
  }
  return result;
}

class GoldenScript : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenScript, GivesItsTranscript) {
  ModelScript script;
  const std::string actual = replay(GetParam(), script);
  if (std::getenv("MUSTER_REWRITE") != nullptr) std::ofstream(GetParam()) << actual;
  EXPECT_EQ(actual, read(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Model, GoldenScript, ::testing::ValuesIn(scripts()),
                         [](const auto& script) {
                           std::string name = script.param.stem().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

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
  for (const auto& path : scripts()) {
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
