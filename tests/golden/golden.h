#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// Files that say what a test must give. With MUSTER_REWRITE in the environment they are written
// anew, to be reviewed as a diff.

namespace muster::testing {

// The *.txt of a folder, sorted.
std::vector<std::filesystem::path> golden_scripts(const std::filesystem::path& folder);

// The name of a script as that of a parameterised test.
std::string golden_name(const std::filesystem::path& script);

std::string read_golden(const std::filesystem::path& file);

// Fails the test where the file says otherwise.
void expect_golden(const std::filesystem::path& file, const std::string& actual);

// What a script of commands, "$ command", should look like: each with what it answers behind it.
// Comments and empty lines stay, and `on_comment` may look at the former.
std::string replay_commands(std::string_view script,
                            const std::function<std::string(const std::string& command)>& run,
                            const std::function<void(std::string_view comment)>& on_comment = {});

}  // namespace muster::testing
