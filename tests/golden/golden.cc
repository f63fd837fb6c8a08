#include "golden/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace muster::testing {

std::vector<std::filesystem::path> golden_scripts(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string golden_name(const std::filesystem::path& script) {
  std::string name = script.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string read_golden(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void expect_golden(const std::filesystem::path& file, const std::string& actual) {
  if (std::getenv("MUSTER_REWRITE") != nullptr) std::ofstream(file) << actual;
  EXPECT_EQ(actual, read_golden(file)) << file;
}

std::string replay_commands(std::string_view script,
                            const std::function<std::string(const std::string& command)>& run,
                            const std::function<void(std::string_view comment)>& on_comment) {
  std::istringstream lines{std::string(script)};
  std::string result;
  bool in_transcript = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_command = line.starts_with("$ ");
    const bool is_comment = line.starts_with("#");
    if (is_comment && on_comment) on_comment(line);
    if (line.empty() || is_command || is_comment) in_transcript = false;
    if (in_transcript) continue;
    result += line + "\n";
    if (!is_command) continue;
    result += run(line.substr(2));
    in_transcript = true;
  }
  return result;
}

}  // namespace muster::testing
