#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "core/kind/inputs.h"
#include "exec/executor.h"

namespace muster::exec {

inline constexpr std::string_view kNoop = "noop";

// What a run has to do, read from its RunSpec. `exec` is filled for exec alone; the other kinds run
// as functions inside the child and read their inputs from the JSON.
struct RunWork {
  std::string kind;
  Json inputs;
  core::ExecInputs exec;
  Duration timeout;
  Duration grace = Duration::seconds(10);
  std::uint64_t output_limit = std::uint64_t{1} << 20;

  bool is_exec() const { return kind == "exec"; }
};

// The kinds that this executor can run, sorted.
std::vector<std::string> executable_kinds();

// Refuses an unknown kind and inputs that are not right for it, naming all that is wrong.
Result<RunWork> read_work(const RunSpec& spec);

}  // namespace muster::exec
