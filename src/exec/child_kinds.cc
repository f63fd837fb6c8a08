#include "exec/child_kinds.h"

#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "exec/facts.h"
#include "exec/fd.h"
#include "exec/file_fetch.h"
#include "exec/file_put.h"
#include "exec/service.h"
#include "os/clock.h"

namespace muster::exec {
namespace {

ChildReport run_sleep(const core::SleepInputs& inputs) {
  const std::int64_t end_us = os::monotonic_now().us + inputs.duration.us;
  const timespec end{end_us / 1'000'000, (end_us % 1'000'000) * 1000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
  }
  return {};
}

ChildReport run_fail(const core::FailInputs& inputs) {
  return {core::parse_execute_result(inputs.result).value_or(core::ExecuteResult::Error),
          inputs.reason};
}

}  // namespace

ChildReport run_child_kind(const RunWork& work, const std::string& version) {
  // The inputs were checked by the runner.
  std::vector<FieldError> errors;
  if (::chdir("/") != 0) return ChildReport::error("cannot change to '/': " + errno_text(errno));
  if (work.kind == "sleep") return run_sleep(core::decode_sleep(work.inputs, "", errors));
  if (work.kind == "fail") return run_fail(core::decode_fail(work.inputs, "", errors));
  if (work.kind == "facts") return run_facts(version);
  if (work.kind == "file.put") return put_file(core::decode_file_put(work.inputs, "", errors));
  if (work.kind == "file.fetch")
    return fetch_file(core::decode_file_fetch(work.inputs, "", errors));
  if (work.kind == "service") return run_service(core::decode_service(work.inputs, "", errors), {});
  if (work.kind == kNoop) return {};
  return ChildReport::error(fmt::format("kind '{}' has no implementation", work.kind));
}

}  // namespace muster::exec
