#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exec/child_report.h"
#include "exec/executor.h"
#include "exec/run_work.h"

namespace muster::exec {

enum class EndCause : std::uint8_t { Itself, Cancelled, TimedOut };

// All that a runner knows of a run that is over.
struct RunEnding {
  EndCause cause = EndCause::Itself;
  std::optional<int> wait_status;  // of the child; nothing if it could not be killed
  bool leftovers = false;          // processes that could not be killed
  std::optional<ChildReport> report;
  std::string output_tail;
  std::uint64_t output_bytes = 0;
  bool output_truncated = false;
  Duration duration;
};

// Pure.
RunResult make_run_result(const RunWork& work, const RunEnding& ending);

}  // namespace muster::exec
