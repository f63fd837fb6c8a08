#include "exec/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <vector>

#include "exec/child_kinds.h"
#include "exec/child_report.h"
#include "exec/exec_program.h"
#include "os/process_table.h"

namespace muster::exec {
namespace {

constexpr int kExitNotStarted = 126;
// Where the child keeps what it needs; everything above is closed.
constexpr int kReportFd = 3;
constexpr int kDirectoryFd = 4;

[[noreturn]] void give_up(int report, const std::string& reason) {
  send_report(report, ChildReport::error(reason));
  ::_exit(kExitNotStarted);
}

// The child must hold none of the runner's descriptors: a copy of its connection would hide its
// death from the agent.
void arrange_descriptors(const ChildPlan& plan, const ChildPipes& pipes) {
  // First out of the way, so that no number is overwritten before it was used.
  const int output = ::fcntl(pipes.output, F_DUPFD_CLOEXEC, 16);
  const int report = ::fcntl(pipes.report, F_DUPFD_CLOEXEC, 16);
  const int directory = ::fcntl(plan.directory.fd(), F_DUPFD_CLOEXEC, 16);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (output < 0 || report < 0 || directory < 0 || null < 0) {
    give_up(pipes.report, "cannot set up the descriptors of a run: " + errno_text(errno));
  }
  ::dup2(null, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::dup3(report, kReportFd, O_CLOEXEC);
  ::dup3(directory, kDirectoryFd, O_CLOEXEC);
  ::close_range(kDirectoryFd + 1, UINT_MAX, 0);
}

// From here on the death of the runner kills the child. A change of user undoes this.
void die_with(pid_t runner) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != runner) ::_exit(kExitNotStarted);
}

void unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void execute_program(const ChildPlan& plan, pid_t runner) {
  auto program = prepare_program(plan.spec, plan.work.exec, kDirectoryFd, plan.directory_path);
  if (!program) give_up(kReportFd, program.error().message);
  die_with(runner);
  std::vector<char*> argv;
  for (std::string& argument : program->argv) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<char*> variables;
  for (std::string& variable : program->environment) variables.push_back(variable.data());
  variables.push_back(nullptr);
  // execvp() looks for the program in the PATH of the environment that the action asks for.
  environ = variables.data();
  unblock_signals();
  if (const std::uint64_t limit = plan.work.exec.memory_limit; limit > 0) {
    const rlimit memory{limit, limit};
    if (::setrlimit(RLIMIT_AS, &memory) != 0) {
      send_exec_failure(kReportFd, errno);
      ::_exit(kExitNotStarted);
    }
  }
  ::execvp(argv.front(), argv.data());
  send_exec_failure(kReportFd, errno);
  ::_exit(kExitNotStarted);
}

}  // namespace

void run_child(const ChildPlan& plan, const ChildPipes& pipes) {
  ::setpgid(0, 0);
  die_with(pipes.runner);
  const auto self = os::read_process(::getpid());
  if (!self) give_up(pipes.report, "cannot read /proc; is it mounted?");
  // Recorded before any work, so that whoever finds the runner dead knows what to look for.
  const auto recorded = plan.directory.record_child({self->pid, self->start_time, plan.boot_id});
  if (!recorded) give_up(pipes.report, recorded.error().message);
  arrange_descriptors(plan, pipes);
  if (plan.work.is_exec()) execute_program(plan, pipes.runner);
  ::prctl(PR_SET_NAME, "muster-action");
  unblock_signals();
  send_report(kReportFd, run_child_kind(plan.work, plan.version));
  ::_exit(0);
}

}  // namespace muster::exec
