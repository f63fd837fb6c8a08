#include "plugin/family.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "os/clock.h"
#include "os/fd.h"

namespace muster::plugin {
namespace {

constexpr std::size_t kFileMax = std::size_t{1} << 20;
// What is killed ends soon; a process that hangs in the kernel is not waited for any longer.
constexpr Duration kDeathPatience = Duration::seconds(1);
constexpr Duration kLookAgain = Duration::millis(20);
constexpr int kKillRounds = 20;

// Empty: there is no such process (any more), or it is not ours to see.
std::string read_proc(pid_t pid, const char* file) {
  const os::UniqueFd fd(
      ::open(fmt::format("/proc/{}/{}", pid, file).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!fd.valid()) return text;
  std::array<char, 4096> buffer{};
  while (text.size() < kFileMax) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (space > 0) words.push_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return words;
}

struct ProcessStat {
  pid_t pid = -1;
  pid_t parent = -1;
  pid_t group = -1;
  pid_t session = -1;
  std::uint64_t started = 0;
  bool ended = false;  // only its exit status is still there
  std::string name;
};

std::optional<ProcessStat> stat_of(pid_t pid) {
  const std::string text = read_proc(pid, "stat");
  // "PID (NAME) STATE PARENT GROUP SESSION ...", and the name may have brackets and blanks.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  const std::vector<std::string_view> words = words_of(std::string_view(text).substr(close + 1));
  constexpr std::size_t kStarted = 19;
  if (words.size() <= kStarted) return std::nullopt;
  const auto process = [&](std::size_t i) { return static_cast<pid_t>(number_of(words[i])); };
  return ProcessStat{.pid = pid,
                     .parent = process(1),
                     .group = process(2),
                     .session = process(3),
                     .started = number_of(words[kStarted]),
                     .ended = words[0] == "Z" || words[0] == "X",
                     .name = text.substr(open + 1, close - open - 1)};
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (folder == nullptr) return pids;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    if (!name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos) {
      pids.push_back(static_cast<pid_t>(number_of(name)));
    }
  }
  return pids;
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
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 2) return 0;
  return number_of(words[1]) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A handle of exactly this process; invalid: it has ended.
os::UniqueFd handle_of(const Relative& relative) {
  os::UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, relative.pid, 0)));
  if (!handle.valid()) return handle;
  const std::optional<ProcessStat> now = stat_of(relative.pid);
  if (!now || now->started != relative.started) handle.reset();
  return handle;
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
        const std::optional<ProcessStat> now = stat_of(root);
        return now ? now->started : 0;
      }()) {}

std::vector<Relative> Family::relatives() const {
  std::vector<ProcessStat> strangers;
  for (const pid_t pid : all_processes()) {
    if (pid == root_) continue;
    std::optional<ProcessStat> process = stat_of(pid);
    // What was there before the root cannot come from it.
    if (process && process->started >= root_started_) strangers.push_back(std::move(*process));
  }
  const auto has_mark = [&](pid_t pid) {
    const std::string environment = read_proc(pid, "environ");
    const std::size_t at = environment.find(mark_);
    return at != std::string::npos && (at == 0 || environment[at - 1] == '\0') &&
           environment.c_str()[at + mark_.size()] == '\0';
  };
  std::set<pid_t> known = {root_};
  std::vector<Relative> found;
  // Descent may lead over any number of steps, in any order of pids.
  bool first = true;
  for (bool grown = true; grown; first = false) {
    grown = false;
    for (ProcessStat& process : strangers) {
      if (process.pid < 0) continue;
      const bool related = process.group == root_ || process.session == root_ ||
                           known.contains(process.parent) || (first && has_mark(process.pid));
      if (!related) continue;
      known.insert(process.pid);
      if (!process.ended) {
        found.push_back({process.pid, process.started, std::move(process.name)});
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
      if (os::UniqueFd handle = handle_of(relative); handle.valid()) {
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
      os::UniqueFd handle = handle_of(relative);
      if (!handle.valid()) continue;
      ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
      handles.push_back(std::move(handle));
    }
    if (handles.empty() || os::monotonic_now() >= deadline) return;
    wait_for_all(handles, deadline);
  }
}

}  // namespace muster::plugin
