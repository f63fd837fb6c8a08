#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/kind/inputs.h"
#include "exec/executor.h"

namespace muster::exec {

struct Program {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"
};

// Turns the calling process, which is a fresh child, into the one that the inputs of an exec action
// ask for: writes the script, sets standard input, working directory and user. What remains is to
// execute the program.
Result<Program> prepare_program(const RunSpec& spec, const core::ExecInputs& inputs,
                                int run_directory, const std::string& run_directory_path);

}  // namespace muster::exec
