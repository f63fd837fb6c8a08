#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// The system calls under `muster dev`.

namespace muster::cli {

// Starts this same program with other arguments: no stdin, output appended to `log_file`, a process
// group of its own (so that Ctrl-C reaches only the supervisor), signals as in a fresh process.
Result<pid_t> spawn_self(const std::vector<std::string>& arguments, const std::string& log_file);

// How a person calls this program: "muster" where that is what the PATH has, else its whole path.
std::string command_name(std::string_view path_variable);

// Makes the calling process end (SIGTERM) when its parent dies, and at once if `parent` already is
// not its parent any more.
Result<void> end_with_parent(pid_t parent);

// Blocks SIGCHLD, SIGINT, SIGTERM and SIGHUP while it lives, so that they are waited for instead.
class SignalWaiter {
 public:
  SignalWaiter();
  ~SignalWaiter();
  SignalWaiter(const SignalWaiter&) = delete;
  SignalWaiter& operator=(const SignalWaiter&) = delete;

  int wait(Duration timeout) const;  // 0: none came

 private:
  sigset_t waited_;
  sigset_t before_;
};

// Held by at most one process; the system drops it when the process ends.
class DirectoryLock {
 public:
  static Result<DirectoryLock> take(const std::string& path);
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_;
};

// A reader sees the old text or the new, never a part.
Result<void> write_file_atomically(const std::string& path, std::string_view text);

}  // namespace muster::cli
