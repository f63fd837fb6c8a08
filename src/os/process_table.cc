#include "os/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unordered_map>

#include "os/directory_handle.h"

namespace muster::os {
namespace {

constexpr std::size_t kStatBytesMax = 1024;
constexpr std::size_t kEnvironmentBytesMax = std::size_t{4} << 20;

}  // namespace

std::optional<ProcessInfo> read_process(pid_t pid) {
  const auto text =
      read_file_at(AT_FDCWD, fmt::format("/proc/{}/stat", pid).c_str(), kStatBytesMax);
  if (!text) return std::nullopt;
  // The command name is in parentheses and may itself contain any character.
  const std::size_t open = text->find('(');
  const std::size_t close = text->rfind(')');
  if (close == std::string::npos || open > close) return std::nullopt;
  ProcessInfo info;
  info.pid = pid;
  info.name = text->substr(open + 1, close - open - 1);
  // After the session come fifteen fields that are of no use here.
  const int fields = std::sscanf(
      text->c_str() + close + 1,
      " %c %d %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64,
      &info.state, &info.parent, &info.group, &info.session, &info.start_time);
  if (fields != 5) return std::nullopt;
  return info;
}

std::vector<ProcessInfo> list_processes() {
  std::vector<ProcessInfo> processes;
  const DirectoryHandle directory(::opendir("/proc"));
  if (!directory) return processes;
  while (const dirent* entry = ::readdir(directory.get())) {
    char* end = nullptr;
    const long pid = std::strtol(entry->d_name, &end, 10);
    if (pid <= 0 || *end != '\0') continue;
    if (auto info = read_process(static_cast<pid_t>(pid))) processes.push_back(*info);
  }
  return processes;
}

std::vector<ProcessInfo> list_descendants(pid_t root) {
  std::unordered_map<pid_t, std::vector<ProcessInfo>> children;
  for (const ProcessInfo& info : list_processes()) children[info.parent].push_back(info);
  std::vector<ProcessInfo> found;
  std::vector<pid_t> open = {root};
  while (!open.empty()) {
    const auto below = children.extract(open.back());
    open.pop_back();
    if (below.empty()) continue;
    for (const ProcessInfo& info : below.mapped()) {
      found.push_back(info);
      open.push_back(info.pid);
    }
  }
  return found;
}

bool has_environment(pid_t pid, std::string_view entry) {
  const auto text =
      read_file_at(AT_FDCWD, fmt::format("/proc/{}/environ", pid).c_str(), kEnvironmentBytesMax);
  if (!text) return false;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    if (rest.substr(0, end) == entry) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

UniqueFd open_process(pid_t pid, std::uint64_t start_time) {
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return {};
  // Checked after opening: from here on the descriptor cannot change its meaning.
  const auto info = read_process(pid);
  if (!info || info->start_time != start_time) return {};
  return process;
}

bool signal_process(const UniqueFd& process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

}  // namespace muster::os
