#include "bench/process.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <utility>

namespace muster::bench {
namespace {

constexpr Duration kEndGrace = Duration::seconds(15);
constexpr std::size_t kTailBytes = 600;

}  // namespace

Result<Process> Process::start(const Host& host, std::vector<std::string> arguments,
                               std::string log_file) {
  arguments.insert(arguments.end(), {"--parent-pid", std::to_string(::getpid())});
  MUSTER_TRY_ASSIGN(const pid_t pid, host.start(arguments, log_file));
  return Process(pid, std::move(log_file));
}

Process::Process(pid_t pid, std::string log_file)
    : pid_(pid),
      handle_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
      log_file_(std::move(log_file)) {}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      handle_(std::exchange(other.handle_, -1)),
      log_file_(std::move(other.log_file_)) {}

Process::~Process() {
  end();
  if (handle_ >= 0) ::close(handle_);
}

void Process::ask_to_end() const {
  if (pid_ > 0) ::kill(pid_, SIGTERM);
}

void Process::end() {
  if (pid_ <= 0) return;
  ask_to_end();
  if (wait_end(kEndGrace)) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

bool Process::wait_end(Duration deadline) {
  if (pid_ <= 0) return true;
  pollfd entry{handle_, POLLIN, 0};
  ::poll(&entry, 1, static_cast<int>(deadline.us / 1000));
  if (::waitpid(pid_, nullptr, WNOHANG) == 0) return false;
  pid_ = 0;
  return true;
}

std::string Process::log_tail() const {
  std::ifstream file(log_file_, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (text.size() > kTailBytes) text.erase(0, text.size() - kTailBytes);
  return text;
}

std::uint64_t Process::rss_kib() const {
  std::ifstream file(fmt::format("/proc/{}/status", pid_));
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("VmRSS:")) continue;
    std::uint64_t kib = 0;
    std::istringstream(line.substr(6)) >> kib;
    return kib;
  }
  return 0;
}

Duration Process::cpu_time() const {
  std::ifstream file(fmt::format("/proc/{}/stat", pid_));
  std::string text;
  std::getline(file, text);
  // The name of the program may hold anything; the numbers begin behind its last parenthesis.
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos) return {};
  std::istringstream fields(text.substr(close + 1));
  std::string skipped;
  constexpr int kFieldsBefore = 11;  // from the state to the fault counts
  for (int i = 0; i < kFieldsBefore; ++i) fields >> skipped;
  std::int64_t user = 0;
  std::int64_t system = 0;
  fields >> user >> system;
  return Duration::micros((user + system) * 1'000'000 / ::sysconf(_SC_CLK_TCK));
}

}  // namespace muster::bench
