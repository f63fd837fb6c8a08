#include "cli/dev_spawn.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/number.h"
#include "cli/dev_supervisor.h"

namespace muster::cli {
namespace {

struct SpawnSetup {
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// Answers with the port that was bound; the socket is closed again.
Result<std::uint16_t> try_bind(const in_addr& host, std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(ErrorCode::IoError, "cannot make a socket: {}", strerror(errno));
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr = host;
  address.sin_port = htons(port);
  socklen_t length = sizeof address;
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     listen(fd, 1) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  const int error = errno;
  close(fd);
  if (bound) return ntohs(address.sin_port);
  return fail(error == EADDRINUSE ? ErrorCode::Conflict : ErrorCode::IoError,
              "cannot bind port {}: {}", port, strerror(error));
}

}  // namespace

Result<pid_t> spawn_self(const std::vector<std::string>& arguments, const std::string& log_file) {
  SpawnSetup setup;
  posix_spawn_file_actions_addopen(&setup.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&setup.actions, STDOUT_FILENO, log_file.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&setup.actions, STDOUT_FILENO, STDERR_FILENO);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&setup.attributes, &none);
  posix_spawnattr_setsigdefault(&setup.attributes, &all);
  posix_spawnattr_setpgroup(&setup.attributes, 0);
  posix_spawnattr_setflags(&setup.attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string program = "muster";
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv = {program.data()};
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, "/proc/self/exe", &setup.actions, &setup.attributes, argv.data(), environ);
  if (error != 0) {
    return fail(ErrorCode::IoError, "cannot start 'muster {}' with its log in '{}': {}",
                arguments.front(), log_file, strerror(error));
  }
  return pid;
}

std::string command_name(std::string_view path_variable) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "muster";
  std::string_view rest = path_variable;
  while (!rest.empty()) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
    if (directory.empty()) continue;
    const std::filesystem::path candidate = std::filesystem::path(directory) / "muster";
    // The first one that can be started is the one that a shell takes.
    if (access(candidate.c_str(), X_OK) != 0) continue;
    return std::filesystem::equivalent(candidate, self, error) ? "muster" : self.string();
  }
  return self.string();
}

Result<void> end_with_parent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
    return fail(ErrorCode::Internal, "cannot watch the parent process: {}", strerror(errno));
  }
  if (getppid() != parent) {
    return fail(ErrorCode::Conflict, "the parent process {} is gone", parent);
  }
  return {};
}

SignalWaiter::SignalWaiter() {
  sigemptyset(&waited_);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&waited_, signal);
  pthread_sigmask(SIG_BLOCK, &waited_, &before_);
}

SignalWaiter::~SignalWaiter() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

int SignalWaiter::wait(Duration timeout) const {
  if (timeout.us < 0) timeout.us = 0;
  const timespec limit{timeout.us / 1'000'000, timeout.us % 1'000'000 * 1000};
  const int signal = sigtimedwait(&waited_, nullptr, &limit);
  return signal < 0 ? 0 : signal;
}

Result<DirectoryLock> DirectoryLock::take(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return fail(ErrorCode::IoError, "cannot open '{}': {}", path, strerror(errno));
  DirectoryLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::Conflict, "another `muster dev` runs in this directory ('{}' is locked)",
                path);
  }
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

Result<void> write_file_atomically(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return fail(ErrorCode::IoError, "cannot write '{}': {}", path, strerror(errno));
  const ssize_t written = write(fd, text.data(), text.size());
  close(fd);
  if (written != static_cast<ssize_t>(text.size()) ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    return fail(ErrorCode::IoError, "cannot write '{}': {}", path, strerror(errno));
  }
  return {};
}

Result<std::string> free_address(const std::string& preferred) {
  const std::size_t colon = preferred.rfind(':');
  in_addr host{};
  const std::string digits =
      colon == std::string::npos ? std::string() : preferred.substr(colon + 1);
  const auto port = whole_number<std::uint16_t>(digits);
  if (!port || inet_pton(AF_INET, preferred.substr(0, colon).c_str(), &host) != 1) {
    return fail(ErrorCode::InvalidValue, "'{}' is not an address like 127.0.0.1:8440", preferred);
  }
  Result<std::uint16_t> bound = try_bind(host, *port);
  if (!bound && bound.error().code == ErrorCode::Conflict) bound = try_bind(host, 0);
  if (!bound) return fail(std::move(bound.error()).wrap(preferred));
  return fmt::format("{}:{}", preferred.substr(0, colon), *bound);
}

}  // namespace muster::cli
