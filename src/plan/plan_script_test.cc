#include "plan/plan_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "plan/test_world.h"

// Replays testdata/*.txt. With MUSTER_REWRITE=1 the transcripts are written anew, to be reviewed as
// a diff.

namespace muster::plan::testing {
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

// Each story of a script begins with "# ---" and an empty world.
std::string replay(const std::filesystem::path& path) {
  const model::SchemaPtr schema = test_schema();
  PlanScript script(schema, test_ruleset(*schema));
  std::istringstream lines(read(path));
  std::string result;
  bool in_transcript = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ---")) script = PlanScript(schema, test_ruleset(*schema));
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

class GoldenPlan : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenPlan, GivesItsTranscript) {
  const std::string actual = replay(GetParam());
  if (std::getenv("MUSTER_REWRITE") != nullptr) std::ofstream(GetParam()) << actual;
  EXPECT_EQ(actual, read(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Plan, GoldenPlan, ::testing::ValuesIn(scripts()), [](const auto& script) {
  std::string name = script.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace muster::plan::testing
