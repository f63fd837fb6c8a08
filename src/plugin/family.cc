#include "plugin/family.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "os/clock.h"
#include "os/fd.h"
#include "os/process_table.h"

namespace muster::plugin {
namespace {

constexpr std::size_t kFileMax = std::size_t{64} << 10;
// What is killed ends soon; a process that hangs in the kernel is not waited for any longer.
constexpr Duration kDeathPatience = Duration::seconds(1);
constexpr Duration kLookAgain = Duration::millis(20);
constexpr int kKillRounds = 20;

// Empty: there is no such process (any more), or it is not ours to see.
std::string read_proc(pid_t pid, const char* file) {
  return os::read_file_at(AT_FDCWD, fmt::format("/proc/{}/{}", pid, file).c_str(), kFileMax)
      .value_or("");
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The value of "Pss:  123 kB"; nothing: the kernel does not tell.
std::optional<std::uint64_t> proportional_bytes(pid_t pid) {
  const std::string text = read_proc(pid, "smaps_rollup");
  const std::size_t at = text.find("\nPss:");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t digit = text.find_first_of("0123456789", at);
  if (digit == std::string::npos) return std::nullopt;
  return number_of(std::string_view(text).substr(digit)) * 1024;
}

std::uint64_t resident_bytes_of(pid_t pid) {
  const std::string text = read_proc(pid, "statm");  // "SIZE RESIDENT ...", in pages
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return 0;
  return number_of(std::string_view(text).substr(space + 1)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void wait_for_all(const std::vector<os::UniqueFd>& handles, Duration deadline) {
  for (const os::UniqueFd& handle : handles) {
    const Duration left = deadline - os::monotonic_now();
    if (left.us <= 0) return;
    pollfd wait{handle.get(), POLLIN, 0};
    ::poll(&wait, 1, static_cast<int>(left.us / 1000 + 1));
  }
}

}  // namespace

Family::Family(pid_t root, const std::string& mark)
    : root_(root), mark_(fmt::format("{}={}", kMarkName, mark)), root_started_([&] {
        const std::optional<os::ProcessInfo> now = os::read_process(root);
        return now ? now->start_time : 0;
      }()) {}

std::vector<Relative> Family::relatives() const {
  std::vector<os::ProcessInfo> strangers = os::list_processes();
  // What was there before the root cannot come from it.
  std::erase_if(strangers, [&](const os::ProcessInfo& process) {
    return process.pid == root_ || process.start_time < root_started_;
  });
  std::set<pid_t> known = {root_};
  std::vector<Relative> found;
  // Descent may lead over any number of steps, in any order of pids.
  bool first = true;
  for (bool grown = true; grown; first = false) {
    grown = false;
    for (os::ProcessInfo& process : strangers) {
      if (process.pid < 0) continue;
      const bool related = process.group == root_ || process.session == root_ ||
                           known.contains(process.parent) ||
                           (first && os::has_environment(process.pid, mark_));
      if (!related) continue;
      known.insert(process.pid);
      if (!process.is_dead()) {
        found.push_back({process.pid, process.start_time, std::move(process.name)});
      }
      process.pid = -1;
      grown = true;
    }
  }
  return found;
}

std::uint64_t Family::resident_bytes(bool exact) const {
  const auto bytes_of = [&](pid_t pid) {
    const std::optional<std::uint64_t> share =
        exact ? proportional_bytes(pid) : std::optional<std::uint64_t>();
    return share ? *share : resident_bytes_of(pid);
  };
  std::uint64_t sum = bytes_of(root_);
  for (const Relative& relative : relatives()) sum += bytes_of(relative.pid);
  return sum;
}

std::vector<Relative> Family::wait_for_end(Duration deadline) const {
  while (true) {
    std::vector<Relative> left = relatives();
    const Duration now = os::monotonic_now();
    if (left.empty() || now >= deadline) return left;
    std::vector<os::UniqueFd> handles;
    for (const Relative& relative : left) {
      if (os::UniqueFd handle = os::open_process(relative.pid, relative.started); handle.valid()) {
        handles.push_back(std::move(handle));
      }
    }
    // One that ended between the looks leaves nothing to wait for.
    if (handles.empty()) {
      ::poll(nullptr, 0, static_cast<int>(std::min(kLookAgain, deadline - now).us / 1000 + 1));
    }
    wait_for_all(handles, deadline);
  }
}

void Family::kill_relatives() const {
  const Duration deadline = os::monotonic_now() + kDeathPatience;
  for (int round = 0; round < kKillRounds; ++round) {
    std::vector<os::UniqueFd> handles;
    for (const Relative& relative : relatives()) {
      os::UniqueFd handle = os::open_process(relative.pid, relative.started);
      if (!handle.valid()) continue;
      os::signal_process(handle, SIGKILL);
      handles.push_back(std::move(handle));
    }
    if (handles.empty() || os::monotonic_now() >= deadline) return;
    wait_for_all(handles, deadline);
  }
}

}  // namespace muster::plugin
