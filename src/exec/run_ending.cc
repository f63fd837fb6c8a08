#include "exec/run_ending.h"

#include <string.h>
#include <sys/wait.h>

#include <algorithm>

namespace muster::exec {
namespace {

using core::ExecuteResult;

bool contains(const std::vector<int>& codes, int code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

std::string describe_status(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("killed by signal {} (SIG{})", signal, name)
                         : fmt::format("killed by signal {}", signal);
}

Json common_outputs(const RunWork& work, const RunEnding& ending) {
  Json outputs = ending.report ? ending.report->outputs : Json::object();
  outputs["duration_ms"] = ending.duration.us / 1000;
  const bool executed = work.is_exec() && !ending.report;
  if (executed && ending.wait_status) {
    if (WIFSIGNALED(*ending.wait_status)) {
      outputs["signal"] = WTERMSIG(*ending.wait_status);
    } else {
      outputs["exit_code"] = WEXITSTATUS(*ending.wait_status);
    }
  }
  if (executed || ending.output_bytes > 0) {
    outputs["output_tail"] = ending.output_tail;
    outputs["output_bytes"] = ending.output_bytes;
    outputs["output_truncated"] = ending.output_truncated;
  }
  return outputs;
}

void judge_own_end(const RunWork& work, const RunEnding& ending, RunResult& result) {
  if (ending.report) {
    result.result = ending.report->result;
    result.reason = ending.report->reason;
    return;
  }
  const int status = ending.wait_status.value_or(0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (!work.is_exec() || code < 0) {
    // A function inside the child always reports, unless it was killed.
    result.result = ExecuteResult::Error;
  } else if (contains(work.exec.success_codes, code)) {
    result.result = ExecuteResult::Ok;
  } else if (contains(work.exec.retry_codes, code)) {
    result.result = ExecuteResult::Retry;
  } else {
    result.result = ExecuteResult::Error;
  }
  if (result.result != ExecuteResult::Ok) result.reason = describe_status(status);
}

}  // namespace

RunResult make_run_result(const RunWork& work, const RunEnding& ending) {
  RunResult result;
  switch (ending.cause) {
    case EndCause::Itself:
      judge_own_end(work, ending, result);
      break;
    case EndCause::Cancelled:
      result.result = ExecuteResult::Cancel;
      result.reason = "cancelled";
      break;
    case EndCause::TimedOut:
      result.result = ExecuteResult::Timeout;
      result.reason = fmt::format("timed out after {}", format_duration(work.timeout));
      break;
  }
  if (ending.leftovers) result.reason += "; some of its processes could not be killed";
  result.outputs = dump_json(common_outputs(work, ending));
  return result;
}

}  // namespace muster::exec
