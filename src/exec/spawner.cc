#include "exec/spawner.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>

#include "exec/control_message.h"
#include "exec/run_request.h"
#include "exec/runner.h"

namespace muster::exec {
namespace {

constexpr timeval kSendDeadline = {10, 0};

// Leaves only the standard streams and the given descriptors open.
void close_all_but(std::array<int, 3> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned first = STDERR_FILENO + 1;
  for (const int fd : keep) {
    if (fd < static_cast<int>(first)) continue;
    if (static_cast<unsigned>(fd) > first) ::close_range(first, static_cast<unsigned>(fd) - 1, 0);
    first = static_cast<unsigned>(fd) + 1;
  }
  ::close_range(first, UINT_MAX, 0);
}

// A runner may outlive the agent by days, so it must not hold its terminal or its log pipe open.
void detach_from_agent() {
  ::setsid();
  ::prctl(PR_SET_NAME, "muster-spawner");
  ::umask(022);
  if (::chdir("/") != 0) ::_exit(1);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
  if (null > STDERR_FILENO) ::close(null);
}

// The kernel's own form of a signal's action. glibc's sigaction() refuses the two signals that it
// uses itself (32 and 33), but whoever started the agent may have left them ignored all the same.
// The handler comes first on every architecture that Debian builds Muster for; all zero is SIG_DFL.
struct KernelSigaction {
  void (*handler)(int);
  std::array<unsigned long, 7> rest;
};

void stop_ignoring(int signal) {
  constexpr std::size_t kMaskBytes = 8;
  KernelSigaction current{};
  const KernelSigaction to_default{};
  if (::syscall(SYS_rt_sigaction, signal, nullptr, &current, kMaskBytes) != 0) return;
  if (current.handler != SIG_IGN) return;
  ::syscall(SYS_rt_sigaction, signal, &to_default, nullptr, kMaskBytes);
}

// Ignored signals would be inherited by every program that an action starts, so all are back to
// their defaults; the ones that must not end a spawner or runner are blocked instead, and a child
// unblocks them. SIGCHLD alone is ignored here, so that runners need no reaping.
void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) stop_ignoring(signal);
  ::signal(SIGCHLD, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM}) {
    sigaddset(&blocked, signal);
  }
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

[[noreturn]] void run_spawner(int socket, const RunnerContext& context) {
  while (auto request = receive_run_request(socket)) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(socket);
      run_runner(context, std::move(request->body), std::move(request->connection));
    }
    if (pid < 0) {
      send_refusal(request->connection.get(), "cannot fork a runner: " + errno_text(errno));
    }
  }
  ::_exit(0);
}

}  // namespace

Result<Spawner> Spawner::fork(const SpawnerOptions& options) {
  MUSTER_TRY(make_directories(options.run_root, 0700));
  const std::unique_ptr<char, decltype(&::free)> path(::realpath(options.run_root.c_str(), nullptr),
                                                      &::free);
  if (!path) {
    return fail(ErrorCode::IoError, "cannot resolve '{}': {}", options.run_root, errno_text(errno));
  }
  const UniqueFd runs(::open(path.get(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::array<int, 2> pair{};
  if (!runs.valid() || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return fail(ErrorCode::IoError, "cannot set up the spawner on '{}': {}", options.run_root,
                errno_text(errno));
  }
  UniqueFd agent_end(pair[0]);
  const UniqueFd spawner_end(pair[1]);
  ::setsockopt(agent_end.get(), SOL_SOCKET, SO_SNDTIMEO, &kSendDeadline, sizeof kSendDeadline);
  const RunnerContext context{.runs = runs.get(),
                              .state_lock = options.state_lock,
                              .run_root = path.get(),
                              .boot_id = read_boot_id(),
                              .version = options.version};
  const pid_t pid = ::fork();
  if (pid < 0) {
    return fail(ErrorCode::IoError, "cannot fork the spawner: {}", errno_text(errno));
  }
  if (pid == 0) {
    close_all_but({spawner_end.get(), runs.get(), options.state_lock});
    detach_from_agent();
    reset_signals();
    run_spawner(spawner_end.get(), context);
  }
  return Spawner(std::move(agent_end), pid, options.state_lock);
}

Spawner::Spawner(Spawner&& other) noexcept
    : socket_(std::move(other.socket_)),
      pid_(std::exchange(other.pid_, -1)),
      state_lock_(other.state_lock_) {}

Spawner::~Spawner() {
  socket_.reset();
  if (pid_ < 0) return;
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace muster::exec
