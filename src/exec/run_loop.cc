#include "exec/run_loop.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "exec/control_message.h"
#include "exec/process_tree.h"
#include "os/clock.h"

namespace muster::exec {
namespace {

constexpr std::int64_t kNotifyEveryUs = 100'000;
constexpr std::int64_t kKillDeadlineUs = 10'000'000;

UniqueFd open_child_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// A fork copies the description of the whole address space, hundreds of mappings, and exec throws
// the copy away again: together about a quarter of what a short program costs. So a child that does
// little before it executes borrows the runner's memory instead, while the runner stands still.
// Whatever can take long before the exec needs a runner that goes on: looking up a user, or
// entering a directory that may be on a dead mount.
bool can_borrow_memory(const RunWork& work) {
  return work.is_exec() && work.exec.user.empty() && work.exec.cwd.empty();
}

pid_t fork_child(const ChildPlan& plan, const ChildPipes& pipes) {
  const pid_t child = ::fork();
  if (child == 0) run_child(plan, pipes);
  return child;
}

// Nothing but this frame lives across the vfork(), and the child never returns into it. What the
// child allocates stays behind in the runner, which ends with the run.
pid_t fork_borrowing_memory(const ChildPlan& plan, const ChildPipes& pipes) {
  const pid_t child = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (child == 0) run_child(plan, pipes);
  return child;
}

}  // namespace

RunLoop::RunLoop(ChildPlan plan, ControlServer& control)
    : plan_(std::move(plan)), control_(control), signals_(open_child_signals()) {}

RunResult RunLoop::run() {
  if (!start_child()) return finish();
  deadline_us_ = started_us_ + plan_.work.timeout.us;
  while (!done_) wait_once();
  if (output_->read_available()) control_.notify_output();
  return finish();
}

void RunLoop::discard_output() {
  if (output_) output_->discard();
}

bool RunLoop::start_child() {
  started_us_ = os::monotonic_now().us;
  std::array<int, 2> output{};
  std::array<int, 2> report{};
  if (!signals_.valid() || ::pipe2(output.data(), O_CLOEXEC) != 0) {
    ending_.report = ChildReport::error("cannot make a pipe: " + errno_text(errno));
    return false;
  }
  UniqueFd output_end(output[1]);
  ::fcntl(output[0], F_SETFL, O_NONBLOCK);
  output_ = std::make_unique<OutputCapture>(UniqueFd(output[0]), plan_.directory.fd(),
                                            plan_.work.output_limit);
  if (::pipe2(report.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    ending_.report = ChildReport::error("cannot make a pipe: " + errno_text(errno));
    return false;
  }
  report_.reset(report[0]);
  UniqueFd report_end(report[1]);
  const ChildPipes pipes{
      .output = output_end.get(), .report = report_end.get(), .runner = ::getpid()};
  char** const environment = environ;
  child_ = can_borrow_memory(plan_.work) ? fork_borrowing_memory(plan_, pipes)
                                         : fork_child(plan_, pipes);
  environ = environment;  // a child in borrowed memory has put its own there
  if (child_ < 0) {
    ending_.report = ChildReport::error("cannot fork: " + errno_text(errno));
    return false;
  }
  // The child does this too: whoever is first, the group is there before it is needed.
  ::setpgid(child_, child_);
  return true;
}

void RunLoop::wait_once() {
  entries_.clear();
  entries_.push_back({signals_.get(), POLLIN, 0});
  entries_.push_back({output_->pipe(), POLLIN, 0});  // a closed pipe is -1, which poll() skips
  control_.add_poll_entries(entries_);
  const std::int64_t wake_us = std::min(deadline_us_, notify_at_us_);
  int timeout_ms = -1;
  if (wake_us != kNever) {
    const std::int64_t left_ms = (wake_us - os::monotonic_now().us + 999) / 1000;
    timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 3'600'000));
  }
  if (::poll(entries_.data(), entries_.size(), timeout_ms) < 0) return;
  const std::int64_t now = os::monotonic_now().us;
  if (entries_[1].revents != 0 && output_->read_available()) on_output(now);
  if (entries_[0].revents != 0) reap();
  for (const char command : control_.handle(entries_, suspended_)) obey(command);
  if (now >= notify_at_us_) {
    notify_at_us_ = kNever;
    notified_us_ = now;
    control_.notify_output();
  }
  if (!done_ && now >= deadline_us_) on_deadline();
}

void RunLoop::on_output(std::int64_t now) {
  if (notify_at_us_ == kNever) notify_at_us_ = std::max(now, notified_us_ + kNotifyEveryUs);
}

void RunLoop::obey(char command) {
  if (done_ || phase_ != Phase::Running) return;
  switch (command) {
    case kCancel:
      terminate(EndCause::Cancelled);
      break;
    case kSuspend:
      suspend();
      break;
    case kResume:
      resume();
      break;
    default:
      break;
  }
}

void RunLoop::on_deadline() {
  switch (phase_) {
    case Phase::Running:
      terminate(EndCause::TimedOut);
      break;
    case Phase::Terminating:
      phase_ = Phase::Killing;
      deadline_us_ = os::monotonic_now().us + kKillDeadlineUs;
      kill_all();
      break;
    case Phase::Killing:
      ending_.leftovers = true;
      done_ = true;
      break;
  }
}

void RunLoop::reap() {
  std::array<signalfd_siginfo, 8> queued;
  while (::read(signals_.get(), queued.data(), sizeof queued) > 0) {
  }
  bool reaped = false;
  pid_t pid = 0;
  int status = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
    reaped = true;
    if (pid == child_) ending_.wait_status = status;
  }
  if (phase_ == Phase::Running) {
    done_ = ending_.wait_status.has_value();
    return;
  }
  if (pid < 0 && errno == ECHILD) {
    done_ = true;
  } else if (reaped && phase_ == Phase::Killing) {
    // What the dead left behind has just become a child of the runner.
    kill_all();
  }
}

void RunLoop::suspend() {
  if (!suspended_) {
    stop_tree(child_);
    suspended_ = true;
    remaining_us_ = std::max<std::int64_t>(deadline_us_ - os::monotonic_now().us, 0);
    deadline_us_ = kNever;
  }
  control_.notify_state(true);
}

void RunLoop::resume() {
  if (suspended_) {
    suspended_ = false;
    deadline_us_ = os::monotonic_now().us + remaining_us_;
    signal_tree(child_, SIGCONT);
  }
  control_.notify_state(false);
}

void RunLoop::terminate(EndCause cause) {
  ending_.cause = cause;
  phase_ = Phase::Terminating;
  deadline_us_ = os::monotonic_now().us + plan_.work.grace.us;
  signal_tree(child_, SIGTERM);
  // A stopped process acts on TERM only when it is continued. That includes one which stopped
  // itself.
  signal_tree(child_, SIGCONT);
  suspended_ = false;
}

void RunLoop::kill_all() { signal_tree(ending_.wait_status ? 0 : child_, SIGKILL); }

RunResult RunLoop::finish() {
  if (report_.valid() && !ending_.report) {
    const auto& exec = plan_.work.exec;
    ending_.report =
        read_report(report_.get(), exec.argv.empty() ? exec.interpreter : exec.argv.front());
  }
  ending_.duration = Duration::micros(os::monotonic_now().us - started_us_);
  if (output_) {
    ending_.output_tail = output_->tail();
    ending_.output_bytes = output_->bytes();
    ending_.output_truncated = output_->truncated();
  }
  return make_run_result(plan_.work, ending_);
}

}  // namespace muster::exec
