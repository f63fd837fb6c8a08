#include "exec/process_executor.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "exec/control_message.h"
#include "exec/run_request.h"
#include "exec/run_work.h"
#include "exec/settlement.h"
#include "os/clock.h"
#include "os/process_table.h"

namespace muster::exec {
namespace {

constexpr std::uint64_t kWakeToken = 0;
constexpr std::uint64_t kSpawnerToken = 1;
constexpr std::uint64_t kIdleToken = 2;
constexpr std::uint64_t kFirstRunToken = 3;
constexpr std::int64_t kIdleUs = 10'000'000;
constexpr int kSparesMax = 16;
constexpr std::int64_t kDeathDeadlineUs = 10'000'000;
constexpr int kKillDeadlineMs = 5000;

RunResult error_result(std::string reason) {
  return {core::ExecuteResult::Error, std::move(reason), "{}"};
}

char control_of(core::Signal signal) {
  switch (signal) {
    case core::Signal::Cancel:
      return kCancel;
    case core::Signal::Suspend:
      return kSuspend;
    case core::Signal::Resume:
      return kResume;
    case core::Signal::None:
      break;
  }
  return '\0';
}

bool is_at_end(int socket) {
  pollfd entry{socket, POLLIN | POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) == 1;
}

}  // namespace

Result<std::unique_ptr<ProcessExecutor>> ProcessExecutor::create(ProcessExecutorOptions options,
                                                                 Spawner spawner,
                                                                 ExecutorListener& listener) {
  std::unique_ptr<ProcessExecutor> executor(
      new ProcessExecutor(std::move(options), std::move(spawner), listener));
  MUSTER_TRY(executor->set_up());
  // Signals to the agent are for the threads that expect them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  executor->thread_ = std::thread([raw = executor.get()] { raw->loop(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return executor;
}

ProcessExecutor::ProcessExecutor(ProcessExecutorOptions options, Spawner spawner,
                                 ExecutorListener& listener)
    : options_(std::move(options)),
      listener_(listener),
      spawner_(std::move(spawner)),
      next_id_(kFirstRunToken),
      packet_(kControlBytesMax, '\0') {}

Result<void> ProcessExecutor::set_up() {
  runs_.reset(::open(options_.run_root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!runs_.valid()) {
    return fail(ErrorCode::IoError, "cannot open '{}': {}", options_.run_root, errno_text(errno));
  }
  for (int i = 0; i < kSparesMax; ++i) {
    free_spares_.push_back(fmt::format("spare.{}", i));
    RunDirectory::remove_spare(runs_.get(), free_spares_.back());
  }
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  boot_id_ = read_boot_id();
  boot_mark_ = std::make_unique<BootMark>(runs_.get(), boot_id_);
  if (!watch(wake_.get(), kWakeToken) || !watch(spawner_.socket(), kSpawnerToken)) {
    return fail(ErrorCode::IoError, "cannot set up the executor: {}", errno_text(errno));
  }
  return {};
}

ProcessExecutor::~ProcessExecutor() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void ProcessExecutor::start(const RunSpec& spec, bool recovered) {
  {
    const std::lock_guard lock(mutex_);
    live_.insert({spec.id, spec.attempt});
  }
  post(StartCommand{spec, recovered});
}

void ProcessExecutor::signal(const core::ActionId& id, std::uint32_t attempt, core::Signal signal) {
  post(SignalCommand{{id, attempt}, signal});
}

void ProcessExecutor::forget(const core::ActionId& id, std::uint32_t attempt) {
  post(ForgetCommand{{id, attempt}});
}

std::vector<std::string> ProcessExecutor::kinds() { return executable_kinds(); }

std::vector<RunKey> ProcessExecutor::known_runs() const { return RunDirectory::list(runs_.get()); }

void ProcessExecutor::post(Command command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
  }
  ::eventfd_write(wake_.get(), 1);
}

bool ProcessExecutor::watch(int fd, std::uint64_t token) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = token;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void ProcessExecutor::loop() {
  std::array<epoll_event, 32> events{};
  for (;;) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), wait_ms());
    for (int i = 0; i < count; ++i) {
      const std::uint64_t token = events[static_cast<std::size_t>(i)].data.u64;
      if (token == kWakeToken) continue;
      if (token == kSpawnerToken) {
        on_spawner_socket();
        continue;
      }
      if (token == kIdleToken) {
        // It has nothing to say but that it is gone.
        idle_.connection.reset();
        continue;
      }
      const auto found = runs_by_id_.find(token);
      if (found == runs_by_id_.end()) continue;
      if (found->second.dying.valid()) {
        on_runner_dead(token, found->second);
      } else {
        receive(token, found->second);
      }
    }
    const std::int64_t now = os::monotonic_now().us;
    if (idle_.connection.valid() && now >= idle_.until_us) idle_.connection.reset();
    for (auto next = runs_by_id_.begin(); next != runs_by_id_.end();) {
      auto& [id, run] = *next++;
      if (run.dying.valid() && now >= run.give_up_us) on_runner_dead(id, run);
    }
    eventfd_t wakes = 0;
    ::eventfd_read(wake_.get(), &wakes);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    run_commands();
  }
}

int ProcessExecutor::wait_ms() const {
  std::int64_t first = idle_.connection.valid() ? idle_.until_us : -1;
  for (const auto& [id, run] : runs_by_id_) {
    if (run.dying.valid() && (first < 0 || run.give_up_us < first)) first = run.give_up_us;
  }
  if (first < 0) return -1;
  return static_cast<int>(std::max<std::int64_t>((first - os::monotonic_now().us + 999) / 1000, 0));
}

void ProcessExecutor::run_commands() {
  std::deque<Command> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
  }
  for (const Command& command : commands) {
    std::visit([this](const auto& specific) { run_command(specific); }, command);
  }
}

void ProcessExecutor::run_command(const StartCommand& command) {
  const RunSpec& spec = command.spec;
  const RunKey key{spec.id, spec.attempt};
  // One that is running already reports its own end.
  if (ids_by_key_.contains(key)) return;
  if (spec.kind == kNoop) {
    report_end(key, {core::ExecuteResult::Ok, "", R"({"duration_ms":0})"});
    return;
  }
  if (command.recovered) {
    if (auto directory = RunDirectory::open(runs_.get(), key)) {
      recover(spec, std::move(*directory));
      return;
    }
    if (boot_mark_->restarted()) {
      report_end(key, unknown_after_restart());
      return;
    }
  }
  start_new(spec);
}

void ProcessExecutor::start_new(const RunSpec& spec) {
  const RunKey key{spec.id, spec.attempt};
  if (auto moved = boot_mark_->move_on(); !moved) {
    report_end(key, error_result(moved.error().message));
    return;
  }
  RunOrder order{.spec = spec, .spare = {}};
  if (!spares_.empty()) {
    order.spare = spares_.back();
    free_spares_.push_back(std::move(spares_.back()));
    spares_.pop_back();
  }
  const std::string request = encode_run_request(order);
  if (start_on_idle(key, request)) return;
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) {
    report_end(key, error_result("cannot make a socket: " + errno_text(errno)));
    return;
  }
  UniqueFd agent_end(pair[0]);
  UniqueFd runner_end(pair[1]);
  Result<void> sent = fail(ErrorCode::Unavailable, "the spawner is gone");
  if (!spawner_lost_) {
    sent = send_run_request(spawner_.socket(), request, std::move(runner_end));
  }
  if (sent) {
    attach(key, std::move(agent_end));
    return;
  }
  if (sent.error().code == ErrorCode::Unavailable) {
    lose_spawner(sent.error().message);
    if (options_.on_spawner_lost) return;
  }
  report_end(key, error_result(sent.error().message));
}

bool ProcessExecutor::start_on_idle(const RunKey& key, const std::string& request) {
  if (!idle_.connection.valid() || spawner_lost_) return false;
  UniqueFd connection = std::move(idle_.connection);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.get(), nullptr);
  if (!send_next(connection.get(), request, spawner_.state_lock())) return false;
  attach(key, std::move(connection));
  return true;
}

void ProcessExecutor::recover(const RunSpec& spec, RunDirectory directory) {
  const RunKey key{spec.id, spec.attempt};
  if (auto result = directory.read_result()) {
    report_end(key, std::move(*result));
    return;
  }
  if (auto connection = directory.connect()) {
    attach(key, std::move(*connection));
    return;
  }
  const RunId id = next_id_++;
  ids_by_key_[key] = id;
  Run& run = runs_by_id_[id];
  run.key = key;
  await_death(id, run, directory);
}

void ProcessExecutor::attach(const RunKey& key, UniqueFd connection) {
  const RunId id = next_id_++;
  ids_by_key_[key] = id;
  Run& run = runs_by_id_[id];
  run.key = key;
  run.connection = std::move(connection);
  if (!watch(run.connection.get(), id)) {
    // Out of memory in the kernel: the run goes on, and the next agent finds it.
    lose_spawner("cannot watch a runner: " + errno_text(errno));
  }
}

void ProcessExecutor::run_command(const SignalCommand& command) {
  const auto found = ids_by_key_.find(command.key);
  const char message = control_of(command.signal);
  if (found == ids_by_key_.end() || message == '\0') return;
  const Run& run = runs_by_id_.at(found->second);
  if (run.connection.valid()) send_control(run.connection.get(), message, {});
}

void ProcessExecutor::run_command(const ForgetCommand& command) {
  if (const auto found = ids_by_key_.find(command.key); found != ids_by_key_.end()) {
    runs_by_id_.at(found->second).forget = true;
    return;
  }
  discard(command.key);
}

void ProcessExecutor::discard(const RunKey& key) {
  if (!free_spares_.empty() && RunDirectory::retire(runs_.get(), key, free_spares_.back())) {
    spares_.push_back(std::move(free_spares_.back()));
    free_spares_.pop_back();
    return;
  }
  RunDirectory::remove(runs_.get(), key);
}

void ProcessExecutor::receive(RunId id, Run& run) {
  std::optional<std::string> idle;
  bool output = false;
  std::optional<bool> suspended;
  bool ended = false;
  for (;;) {
    const ssize_t n = ::recv(run.connection.get(), packet_.data(), packet_.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) {
      ended = true;
      break;
    }
    const std::string_view text(packet_.data() + 1, static_cast<std::size_t>(n) - 1);
    if (packet_[0] == kOutputGrew) output = true;
    if (packet_[0] == kSuspended) suspended = true;
    if (packet_[0] == kResumed) suspended = false;
    if (packet_[0] == kRefused) run.told = error_result(std::string(text));
    if (packet_[0] == kEnded) run.told = decode_result(text);
    if (packet_[0] == kIdle) idle = text;
  }
  const RunKey key = run.key;
  if (suspended) listener_.on_suspended(key.id, key.attempt, *suspended);
  if (output && !ended) listener_.on_output(key.id, key.attempt);
  if (ended) {
    on_disconnected(id, run);
  } else if (idle) {
    on_idle(id, run, *idle);
  }
}

void ProcessExecutor::on_idle(RunId id, Run& run, std::string_view text) {
  auto result = decode_result(text);
  if (!result) {
    // Longer than a packet. Without its connection the runner exits, and the file says the same.
    on_disconnected(id, run);
    return;
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kIdleToken;
  if (!idle_.connection.valid() &&
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, run.connection.get(), &event) == 0) {
    idle_ = {std::move(run.connection), os::monotonic_now().us + kIdleUs};
  }
  end_run(id, std::move(*result));
}

void ProcessExecutor::on_disconnected(RunId id, Run& run) {
  run.connection.reset();
  const auto directory = RunDirectory::open(runs_.get(), run.key);
  // A refused run must not take over the result of the run that was there before it.
  if (run.told) {
    end_run(id, std::move(*run.told));
    return;
  }
  if (!directory) {
    if (!spawner_lost_ && is_at_end(spawner_.socket())) on_spawner_socket();
    if (spawner_lost_ && options_.on_spawner_lost) return;
    end_run(id, lost_before_start("runner was killed before the action started"));
    return;
  }
  if (auto result = directory->read_result()) {
    end_run(id, std::move(*result));
    return;
  }
  await_death(id, run, *directory);
}

void ProcessExecutor::await_death(RunId id, Run& run, const RunDirectory& directory) {
  const auto runner = directory.runner();
  if (runner && runner->boot_id == boot_id_) {
    run.dying = os::open_process(runner->pid, runner->start_time);
    run.give_up_us = os::monotonic_now().us + kDeathDeadlineUs;
  }
  // Its end is readable at once if it is dead already.
  if (run.dying.valid() && watch(run.dying.get(), id)) return;
  on_runner_dead(id, run);
}

void ProcessExecutor::on_runner_dead(RunId id, Run& run) {
  if (run.dying.valid() && !is_at_end(run.dying.get())) {
    // It neither talks nor exits. A result that is reported must be true, so it has to go.
    os::signal_process(run.dying, SIGKILL);
    pollfd entry{run.dying.get(), POLLIN, 0};
    ::poll(&entry, 1, kKillDeadlineMs);
  }
  run.dying.reset();
  const auto directory = RunDirectory::open(runs_.get(), run.key);
  if (!directory) {
    end_run(id, lost_before_start("the run directory was removed while the action ran"));
    return;
  }
  if (auto result = directory->read_result()) {
    end_run(id, std::move(*result));
    return;
  }
  end_run(id, settle_lost_run(*directory, run.key, boot_id_));
}

void ProcessExecutor::on_spawner_socket() { lose_spawner("the spawner has exited"); }

void ProcessExecutor::lose_spawner(const std::string& reason) {
  if (spawner_lost_) return;
  spawner_lost_ = true;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, spawner_.socket(), nullptr);
  if (options_.on_spawner_lost) options_.on_spawner_lost(reason);
}

void ProcessExecutor::end_run(RunId id, RunResult result) {
  const auto found = runs_by_id_.extract(id);
  const Run& run = found.mapped();
  ids_by_key_.erase(run.key);
  report_end(run.key, std::move(result));
  if (run.forget) discard(run.key);
}

void ProcessExecutor::report_end(const RunKey& key, RunResult result) {
  {
    const std::lock_guard lock(mutex_);
    live_.erase(key);
  }
  listener_.on_ended(key.id, key.attempt, std::move(result));
  listener_.on_output(key.id, key.attempt);
}

}  // namespace muster::exec
