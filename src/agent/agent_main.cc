#include "agent/agent_main.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "agent/agent_loop.h"
#include "agent/journal.h"
#include "agent/link_inlet.h"
#include "agent/local_api.h"
#include "base/uuid.h"
#include "exec/facts.h"
#include "exec/process_executor.h"
#include "exec/spawner.h"
#include "exec/state_lock.h"
#include "log/log.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/notify.h"
#include "os/random.h"
#include "rpc/link_client.h"
#include "rpc/wire_codec.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_store.h"

namespace muster::agent {
namespace {

// A journal has no backups; the controller settles what a lost one had.
Error with_journal_advice(Error error) {
  const std::size_t advice = error.message.rfind(store::kRestoreAdvice);
  if (advice == std::string::npos) return error;
  error.message.replace(advice, store::kRestoreAdvice.size(),
                        "give the agent a new, empty --state-dir: what this one had been sent ends "
                        "as LOST and is never run twice");
  return error;
}

// Sleeps until a signal asks the process to end, or something went wrong for good.
class StopEvent {
 public:
  // Blocks the signals for this thread and all that it starts.
  Result<void> set_up() {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    ::sigprocmask(SIG_BLOCK, &ending, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    signals_ = os::UniqueFd(::signalfd(-1, &ending, SFD_CLOEXEC));
    fatal_ = os::UniqueFd(::eventfd(0, EFD_CLOEXEC));
    if (!signals_.valid() || !fatal_.valid()) {
      return fail(ErrorCode::IoError, "cannot listen for signals: {}", std::strerror(errno));
    }
    return {};
  }

  // Any thread.
  void raise() const {
    const std::uint64_t one = 1;
    (void)!::write(fatal_.get(), &one, sizeof one);
  }

  // True: asked to end. False: raised.
  bool wait() const {
    pollfd entries[2] = {{signals_.get(), POLLIN, 0}, {fatal_.get(), POLLIN, 0}};
    while (::poll(entries, 2, -1) < 0 && errno == EINTR) {
    }
    return entries[1].revents == 0;
  }

 private:
  os::UniqueFd signals_;
  os::UniqueFd fatal_;
};

std::string run_root(const AgentOptions& options) { return options.state_dir + "/runs"; }

// The short host name, made fit to name an agent; "agent" if nothing is left of it.
std::string host_agent_name() {
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0) return "agent";
  std::string_view host(buffer.data());
  host = host.substr(0, host.find('.')).substr(0, 63);
  while (!host.empty() && !rpc::is_agent_name(host)) host.remove_prefix(1);
  return host.empty() ? "agent" : std::string(host);
}

AgentOptions with_defaults(AgentOptions options) {
  if (options.name.empty()) options.name = host_agent_name();
  if (options.local_socket.empty()) options.local_socket = options.state_dir + "/agent.sock";
  return options;
}

// The agent's parts in the order of their making; they end in the reverse order.
class AgentProcess {
 public:
  explicit AgentProcess(const AgentOptions& options) : options_(with_defaults(options)) {}

  Result<void> start() {
    MUSTER_TRY(init_log());
    if (!rpc::is_agent_name(options_.name)) {
      return fail(ErrorCode::InvalidValue,
                  "name '{}' cannot be an agent's, it must have 1 to 63 of A-Z a-z 0-9 . _ - and "
                  "begin with a letter or digit",
                  options_.name);
    }
    MUSTER_TRY(stop_event_.set_up());
    MUSTER_TRY_ASSIGN(auto lock, exec::StateLock::acquire(options_.state_dir, options_.lock_wait));
    lock_.emplace(std::move(lock));
    // Before anything that makes a thread.
    MUSTER_TRY_ASSIGN(auto spawner, exec::Spawner::fork({.state_lock = lock_->fd(),
                                                         .run_root = run_root(options_),
                                                         .version = options_.version}));
    MUSTER_TRY(open_journal());
    make_loop();
    MUSTER_TRY(make_executor(std::move(spawner)));
    MUSTER_TRY(make_link());
    MUSTER_TRY(make_api());
    loop_->start(*executor_, link_.get());
    log::info("ready", {{"agent", options_.name},
                        {"version", options_.version},
                        {"journal", journal_->id()},
                        {"socket", options_.local_socket},
                        {"tcp_port", api_->tcp_port()},
                        {"controllers", options_.controllers.size()}});
    os::notify_supervisor("READY=1");
    return {};
  }

  // The exit code.
  int run() {
    const bool asked = stop_event_.wait();
    os::notify_supervisor("STOPPING=1");
    log::info(asked ? log::Message("stopping; running actions go on")
                    : log::Message("stopping because of an error"));
    stop();
    return asked ? 0 : 1;
  }

  void stop() {
    // The loop first: it closes the inbox, in which the link's threads may be waiting for room.
    if (loop_) loop_->stop();
    if (api_) api_->stop();
    if (link_) link_->stop();
    executor_.reset();
  }

 private:
  Result<void> init_log() {
    MUSTER_TRY_ASSIGN(const auto level, log::parse_level(options_.log_level));
    MUSTER_TRY_ASSIGN(const auto format, log::parse_format(options_.log_format));
    log::init({.level = level, .format = format});
    return {};
  }

  Result<void> open_journal() {
    auto opened = store::SqliteStore::open(
        {.path = options_.state_dir + "/journal.db", .create = true, .check = true, .readers = 1});
    if (!opened) return fail(with_journal_advice(std::move(opened.error())));
    store_ = std::move(*opened);
    MUSTER_TRY_ASSIGN(auto journal, Journal::open(*store_, os::system_now(), os::system_random));
    journal_.emplace(std::move(journal));
    const std::uint64_t random = os::system_random();
    identity_ = {.name = options_.name,
                 .journal_id = journal_->id(),
                 .instance_id = Uuid::v4(random, os::system_random()).to_string(),
                 .labels = options_.labels,
                 .kinds = exec::ProcessExecutor::kinds(),
                 .facts = {}};
    identity_.facts.version = options_.version;
    return {};
  }

  void make_loop() {
    AgentLoopOptions loop;
    loop.core.kinds = identity_.kinds;
    loop.core.queue_max = options_.queue_max;
    loop.core.keep_finished = options_.keep_finished;
    loop.core.keep_finished_for = options_.keep_finished_for;
    loop.core.default_timeout = options_.default_timeout;
    loop.standalone = options_.controllers.empty();
    loop.clock = os::system_now;
    loop.on_fatal = [this](const Error&) { stop_event_.raise(); };
    loop_ = std::make_unique<AgentLoop>(std::move(loop), *journal_);
  }

  Result<void> make_executor(exec::Spawner spawner) {
    exec::ProcessExecutorOptions options;
    options.run_root = run_root(options_);
    options.on_spawner_lost = [this](const std::string& reason) {
      log::error("the spawner is gone; the agent must be started again", {{"reason", reason}});
      stop_event_.raise();
    };
    MUSTER_TRY_ASSIGN(
        executor_, exec::ProcessExecutor::create(std::move(options), std::move(spawner), *loop_));
    forget_unknown_runs();
    return {};
  }

  // What a crash left between the journal and the run directories.
  void forget_unknown_runs() {
    std::set<exec::RunKey> journalled;
    for (const auto& entry : journal_->entries()) journalled.insert({entry->id, entry->attempt});
    for (const auto& run : executor_->known_runs()) {
      if (journalled.contains(run)) continue;
      constexpr std::uint64_t kBeyond = std::uint64_t{1} << 62;
      if (executor_->read_output(run.id, run.attempt, kBeyond, 1).end) {
        executor_->forget(run.id, run.attempt);
      } else {
        log::warn("a run that the journal does not know is still alive; it is left alone",
                  {{"action", run.id.to_string()}, {"attempt", run.attempt}});
      }
    }
  }

  Result<void> make_link() {
    if (options_.controllers.empty()) return {};
    const auto identify = [this] {
      auto identity = identity_;
      identity.facts = exec::gather_facts(options_.version);
      return identity;
    };
    inlet_ =
        std::make_unique<LinkInlet>(*loop_, journal_->controller_term(), identify, os::system_now);
    rpc::LinkClientOptions link;
    link.controllers = options_.controllers;
    link.insecure = options_.insecure;
    link.random = os::system_random;
    MUSTER_TRY_ASSIGN(link_, rpc::LinkClient::start(std::move(link), *inlet_));
    return {};
  }

  Result<void> make_api() {
    api_ = std::make_unique<LocalApi>(LocalApiInfo{.identity = identity_,
                                                   .controllers = options_.controllers,
                                                   .state_dir = options_.state_dir,
                                                   .started_at = os::system_now()},
                                      *loop_, inlet_.get(), os::system_now, os::system_random);
    return api_->start({.unix_path = options_.local_socket,
                        .unix_mode = options_.local_socket_mode,
                        .tcp_address = options_.local_tcp,
                        .insecure = options_.insecure});
  }

  const AgentOptions options_;
  StopEvent stop_event_;
  std::optional<exec::StateLock> lock_;
  std::unique_ptr<store::SqliteStore> store_;
  std::optional<Journal> journal_;
  core::AgentIdentity identity_;
  std::unique_ptr<AgentLoop> loop_;
  std::unique_ptr<exec::ProcessExecutor> executor_;
  std::unique_ptr<LinkInlet> inlet_;
  std::unique_ptr<rpc::LinkClient> link_;
  std::unique_ptr<LocalApi> api_;
};

}  // namespace

int run_agent(const AgentOptions& options) {
  AgentProcess process(options);
  if (const auto started = process.start(); !started) {
    std::fprintf(stderr, "muster agent: %s (%s)\n", started.error().message.c_str(),
                 std::string(name(started.error().code)).c_str());
    process.stop();
    return 1;
  }
  return process.run();
}

}  // namespace muster::agent
