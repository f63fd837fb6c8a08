#include "exec/settlement.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "exec/child.h"
#include "os/clock.h"
#include "os/process_table.h"

namespace muster::exec {
namespace {

constexpr Duration kKillDeadline = Duration::seconds(5);

struct Suspects {
  pid_t session = 0;
  pid_t group = 0;
  std::uint64_t since = 0;  // nothing of the run is older
  std::string mark;
};

bool belongs(const os::ProcessInfo& info, const Suspects& suspects) {
  if (info.is_dead() || info.pid == ::getpid() || info.start_time < suspects.since) return false;
  // A session or group id is not given to another process while it has members. Both matching by
  // reuse would need a new session and a new group with just these numbers.
  if (suspects.group > 0 && info.group == suspects.group && info.session == suspects.session) {
    return true;
  }
  return os::has_environment(info.pid, suspects.mark);
}

bool wait_for_end(const std::vector<UniqueFd>& processes, std::int64_t end_us) {
  for (const UniqueFd& process : processes) {
    pollfd entry{process.get(), POLLIN, 0};
    const std::int64_t left_ms =
        std::max<std::int64_t>((end_us - os::monotonic_now().us) / 1000, 0);
    if (::poll(&entry, 1, static_cast<int>(left_ms)) != 1) return false;
  }
  return true;
}

RunResult lost(std::string reason, std::string outputs) {
  return {core::ExecuteResult::Error, std::move(reason), std::move(outputs)};
}

}  // namespace

bool kill_leftovers(const RunDirectory& directory, const RunKey& key, const std::string& boot_id,
                    Duration deadline) {
  const auto runner = directory.runner();
  // Without a record the runner died before it could start anything.
  if (!runner || runner->boot_id != boot_id) return true;
  Suspects suspects{.session = runner->pid,
                    .since = runner->start_time,
                    .mark = fmt::format("{}={}", kRunVariable, key.name())};
  if (const auto child = directory.child()) {
    const auto present = os::read_process(child->pid);
    // Another process with the child's pid means that its group has no members left.
    const bool reused = present && present->start_time != child->start_time;
    if (!reused) suspects.group = child->pid;
  }
  const std::int64_t end_us = os::monotonic_now().us + deadline.us;
  for (;;) {
    std::vector<UniqueFd> killed;
    for (const os::ProcessInfo& info : os::list_processes()) {
      if (!belongs(info, suspects)) continue;
      UniqueFd process = os::open_process(info.pid, info.start_time);
      if (process.valid() && os::signal_process(process, SIGKILL))
        killed.push_back(std::move(process));
    }
    if (killed.empty()) return true;
    if (!wait_for_end(killed, end_us)) return false;
  }
}

RunResult settle_lost_run(const RunDirectory& directory, const RunKey& key,
                          const std::string& boot_id) {
  const auto runner = directory.runner();
  RunResult result;
  if (runner && runner->boot_id != boot_id) {
    result = lost("the host restarted before the action ended",
                  R"({"host_restarted":true,"runner_lost":true})");
  } else {
    result = lost("runner was killed before the action ended", R"({"runner_lost":true})");
    if (!kill_leftovers(directory, key, boot_id, kKillDeadline)) {
      result.reason += "; some of its processes could not be killed";
    }
  }
  // Where the disk is full the next agent settles it again, with the same answer.
  static_cast<void>(directory.write_result(result));
  return result;
}

RunResult lost_before_start(std::string reason) {
  return lost(std::move(reason), R"({"runner_lost":true})");
}

RunResult unknown_after_restart() {
  return lost("the host restarted; whether the action had started is not known",
              R"({"host_restarted":true,"runner_lost":true})");
}

}  // namespace muster::exec
