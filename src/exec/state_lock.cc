#include "exec/state_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/clock.h"

namespace muster::exec {
namespace {

// Interrupts the blocking calls of this thread from a point in time on, while it lives. The signal
// is repeated, because the first may come just before the call that it should interrupt.
class Interrupter {
 public:
  explicit Interrupter(Duration after) {
    struct sigaction action{};
    action.sa_handler = [](int) {};  // without SA_RESTART, so that calls do return
    ::sigaction(SIGALRM, &action, &action_before_);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    ::pthread_sigmask(SIG_UNBLOCK, &alarm, &mask_before_);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event._sigev_un._tid = ::gettid();
    made_ = ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
    const std::int64_t first_us = std::max<std::int64_t>(after.us, 1);
    itimerspec times{};
    times.it_value = {first_us / 1'000'000, (first_us % 1'000'000) * 1000};
    times.it_interval = {0, 10'000'000};
    armed_ = made_ && ::timer_settime(timer_, 0, &times, nullptr) == 0;
  }
  ~Interrupter() {
    if (made_) ::timer_delete(timer_);
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    ::sigaction(SIGALRM, &action_before_, nullptr);
  }
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

  // Otherwise nothing would end a wait.
  bool armed() const { return armed_; }

 private:
  struct sigaction action_before_{};
  sigset_t mask_before_{};
  timer_t timer_{};
  bool made_ = false;
  bool armed_ = false;
};

// 0, or the error; ETIMEDOUT at the deadline.
int lock_within(int fd, Duration deadline) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
  if (errno != EWOULDBLOCK) return errno;
  const std::int64_t end_us = os::monotonic_now().us + deadline.us;
  const Interrupter interrupter(deadline);
  while (interrupter.armed() && os::monotonic_now().us < end_us) {
    if (::flock(fd, LOCK_EX) == 0) return 0;
    if (errno != EINTR) return errno;
  }
  return ETIMEDOUT;
}

std::string describe_holder(const std::string& path) {
  std::string pid = read_file_at(AT_FDCWD, path.c_str(), 32).value_or(std::string());
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  if (pid.empty()) return "another process";
  return fmt::format("the agent with process id {} or what it started", pid);
}

}  // namespace

Result<StateLock> StateLock::acquire(const std::string& directory, Duration deadline) {
  MUSTER_TRY(make_directories(directory, 0700));
  const std::string path = directory + "/lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    return fail(ErrorCode::IoError, "cannot open '{}': {}", path, errno_text(errno));
  }
  if (const int error = lock_within(fd.get(), deadline); error == ETIMEDOUT) {
    return fail(ErrorCode::StoreLocked, "the state directory '{}' is in use by {}", directory,
                describe_holder(path));
  } else if (error != 0) {
    return fail(ErrorCode::IoError, "cannot lock '{}': {}", path, errno_text(error));
  }
  if (::ftruncate(fd.get(), 0) != 0 || !write_all(fd.get(), fmt::format("{}\n", ::getpid()))) {
    return fail(ErrorCode::IoError, "cannot write '{}': {}", path, errno_text(errno));
  }
  return StateLock(std::move(fd));
}

}  // namespace muster::exec
