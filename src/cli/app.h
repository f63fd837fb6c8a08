#pragma once

#include <string>
#include <vector>

namespace muster::cli {

// Reads the command line (without the program's name) and runs the command. Answers with the exit
// code of the process.
int run_cli(std::vector<std::string> arguments);

}  // namespace muster::cli
