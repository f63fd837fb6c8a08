#include "plugin/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "log/thread_name.h"
#include "os/clock.h"
#include "plugin/family.h"

namespace muster::plugin {
namespace {

constexpr int kReportFd = 3;
constexpr rlim_t kFilesMax = 1024;

struct Pair {
  os::UniqueFd mine;
  os::UniqueFd theirs;
};

Result<Pair> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::IoError, "cannot make a pipe: {}", os::errno_text(errno));
  }
  return Pair{os::UniqueFd(ends[0]), os::UniqueFd(ends[1])};
}

Result<Pair> make_sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::IoError, "cannot make sockets: {}", os::errno_text(errno));
  }
  return Pair{os::UniqueFd(ends[0]), os::UniqueFd(ends[1])};
}

// What the child needs, made before the fork: between fork and exec it may only make system calls,
// because another thread may have held a lock of the allocator.
struct ChildPlan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;
  rlim_t address_space_max = 0;
  pid_t parent = 0;
  int input = -1;
  int output = -1;
  int errors = -1;
  int report = -1;
};

[[noreturn]] void give_up(int report, int error) {
  // A reader that is gone does not want to know.
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof(error));
  ::_exit(127);
}

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
  const rlim_t hard = now.rlim_max == RLIM_INFINITY || most < now.rlim_max ? most : now.rlim_max;
  const rlimit wanted{hard, hard};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &wanted);
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  ::setpgid(0, 0);
  // Out of the way first, so that no number is overwritten before it was used.
  const int input = ::fcntl(plan.input, F_DUPFD_CLOEXEC, 16);
  const int output = ::fcntl(plan.output, F_DUPFD_CLOEXEC, 16);
  const int errors = ::fcntl(plan.errors, F_DUPFD_CLOEXEC, 16);
  const int report = ::fcntl(plan.report, F_DUPFD_CLOEXEC, 16);
  if (input < 0 || output < 0 || errors < 0 || report < 0) give_up(plan.report, errno);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::dup3(report, kReportFd, O_CLOEXEC);
  ::close_range(kReportFd + 1, UINT_MAX, 0);
  for (int signal = 1; signal < 32; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, kFilesMax);
  if (plan.address_space_max > 0) limit(RLIMIT_AS, plan.address_space_max);
  if (::chdir(plan.directory) != 0) give_up(kReportFd, errno);
  ::execve(plan.program, plan.arguments, plan.environment);
  give_up(kReportFd, errno);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

Result<Launched> fork_child(const LaunchRequest& request, const std::string& mark) {
  MUSTER_TRY_ASSIGN(Pair input, make_sockets());
  MUSTER_TRY_ASSIGN(Pair output, make_pipe());
  MUSTER_TRY_ASSIGN(Pair errors, make_pipe());
  MUSTER_TRY_ASSIGN(Pair report, make_pipe());
  std::vector<std::string> arguments = {request.program};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = request.environment;
  environment.push_back(fmt::format("{}={}", Family::kMarkName, mark));
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const ChildPlan plan{.program = request.program.c_str(),
                       .arguments = argv.data(),
                       .environment = envp.data(),
                       .directory = request.directory.c_str(),
                       .address_space_max = request.address_space_max,
                       .parent = ::getpid(),
                       .input = input.theirs.get(),
                       .output = output.theirs.get(),
                       .errors = errors.theirs.get(),
                       .report = report.theirs.get()};
  const pid_t pid = ::fork();
  if (pid == 0) run_child(plan);
  if (pid < 0) return fail(ErrorCode::IoError, "cannot fork: {}", os::errno_text(errno));
  ::setpgid(pid, pid);  // whoever of both comes first
  report.theirs.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(report.mine.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(error)) {
    ::waitpid(pid, nullptr, 0);
    return fail(ErrorCode::IoError, "{}: {}", request.program, os::errno_text(error));
  }
  Launched launched;
  launched.pid = pid;
  launched.mark = mark;
  launched.handle = os::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!launched.handle.valid()) {
    const int reason = errno;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return fail(ErrorCode::IoError, "cannot watch a process: {}", os::errno_text(reason));
  }
  launched.input = std::move(input.mine);
  launched.output = std::move(output.mine);
  launched.errors = std::move(errors.mine);
  for (const os::UniqueFd* fd : {&launched.input, &launched.output, &launched.errors}) {
    ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
  }
  return launched;
}

}  // namespace

Launcher::Launcher() : thread_([this] { run(); }) {}

Launcher::~Launcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  asked_.notify_one();
  thread_.join();
}

Result<Launched> Launcher::launch(const LaunchRequest& request) {
  Result<Launched> answer;
  Job job{&request, &answer, false};
  std::unique_lock lock(mutex_);
  jobs_.push_back(&job);
  asked_.notify_one();
  answered_.wait(lock, [&] { return job.done; });
  return answer;
}

void Launcher::run() {
  log::name_thread("plugin-launch");
  std::unique_lock lock(mutex_);
  while (true) {
    asked_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job& job = *jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    // No other process has this thread's number, nor had this one at this time.
    const std::string mark =
        fmt::format("{}-{}-{}", ::gettid(), os::monotonic_now().us, ++launches_);
    Result<Launched> made = fork_child(*job.request, mark);
    lock.lock();
    *job.answer = std::move(made);
    job.done = true;
    answered_.notify_all();
  }
}

}  // namespace muster::plugin
