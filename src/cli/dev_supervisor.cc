#include "cli/dev_supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "base/backoff.h"
#include "cli/api_client.h"
#include "cli/dev_spawn.h"
#include "cli/fields.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr Backoff kRestart = {Duration::millis(250), Duration::seconds(5)};
// A process that lived this long had started properly.
constexpr Duration kSettled = Duration::seconds(10);
constexpr std::uint32_t kQuickDeathsMax = 5;  // before the fleet was ever ready
constexpr Duration kStopDeadline = Duration::seconds(10);
constexpr Duration kReadyPoll = Duration::millis(150);
constexpr Duration kIdle = Duration::seconds(60);
constexpr Duration kCancelDeadline = Duration::seconds(10);
constexpr std::uint32_t kDevAgentsMax = 200;

class Supervisor {
 public:
  Supervisor(Context& context, std::vector<DevChild> children, std::string directory)
      : context_(context), children_(std::move(children)), directory_(std::move(directory)) {
    Endpoint endpoint;
    endpoint.unix_socket = directory_ + "/muster.sock";
    client_ = std::make_unique<ApiClient>(endpoint, "the controller");
  }

  Outcome<ExitCode> run() {
    const SignalWaiter signals;
    Outcome<ExitCode> result = loop(signals);
    if (ready_) cancel_running(signals);
    stop_all(signals);
    write_pids();
    return result;
  }

 private:
  Outcome<ExitCode> loop(const SignalWaiter& signals) {
    while (true) {
      MUSTER_TRY(reap());
      MUSTER_TRY(start_due());
      if (!ready_) check_ready();
      const int signal = signals.wait(next_wait());
      if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) return ExitCode::Ok;
    }
  }

  Duration next_wait() const {
    Duration wait = ready_ ? kIdle : kReadyPoll;
    const Timestamp now = context_.environment.now();
    for (const DevChild& child : children_) {
      if (child.pid == 0) wait = std::min(wait, std::max(child.start_due - now, Duration{1}));
    }
    return wait;
  }

  Outcome<void> reap() {
    for (DevChild& child : children_) {
      int status = 0;
      if (child.pid == 0 || waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
      const Timestamp now = context_.environment.now();
      const pid_t pid = std::exchange(child.pid, 0);
      child.quick_deaths = now - child.started_at < kSettled ? child.quick_deaths + 1 : 1;
      const Duration base = kRestart.delay(child.quick_deaths);
      const Duration delay = Duration::micros(
          base.us / 2 + static_cast<std::int64_t>(context_.environment.random() %
                                                  static_cast<std::uint64_t>(base.us / 2 + 1)));
      child.start_due = now + delay;
      write_pids();
      if (!ready_ && child.quick_deaths >= kQuickDeathsMax) {
        return fail(Failure(
            Error{ErrorCode::Internal, fmt::format("{} does not start ({}); see '{}'", child.name,
                                                   end_text(status), child.log_file)}));
      }
      context_.console.warn(fmt::format("{} (pid {}) {}; starting it again in {}\n", child.name,
                                        pid, end_text(status),
                                        format_duration(Duration::millis(delay.us / 1000))));
    }
    return {};
  }

  Outcome<void> start_due() {
    const Timestamp now = context_.environment.now();
    bool started = false;
    for (DevChild& child : children_) {
      if (child.pid != 0 || child.start_due > now) continue;
      MUSTER_TRY_ASSIGN(child.pid, spawn_self(child.arguments, child.log_file));
      child.started_at = now;
      started = true;
      context_.console.say(fmt::format("{:<8} pid {}\n", child.name, child.pid));
    }
    if (started) write_pids();
    return {};
  }

  // Asked only until the whole fleet has been up once; after that the supervisor sleeps until a
  // process ends.
  void check_ready() {
    if (!client_->get("/readyz", {}, Duration::seconds(1))) return;
    const Outcome<Json> answer = client_->get("/v1/agents", {}, Duration::seconds(1));
    if (!answer) return;
    std::size_t online = 0;
    for (const Json& agent : json_at(*answer, "agents")) {
      const bool ours = std::any_of(children_.begin() + 1, children_.end(), [&](const auto& child) {
        return child.name == json_text(agent, "name");
      });
      if (ours && json_text(agent, "state") == "online") ++online;
    }
    if (online + 1 < children_.size()) return;
    ready_ = true;
    context_.console.out(
        fmt::format("ready: controller and {} agent{}\n", online, online == 1 ? "" : "s"));
    context_.console.say(
        fmt::format("\n  export MUSTER_ADDR=unix:{0}/muster.sock\n  {2} nodes list\n"
                    "  {2} actions submit exec --target {1} -- /bin/echo hello\n\n"
                    "logs: {0}/logs   process ids: {0}/pids   Ctrl-C stops everything\n",
                    directory_, children_.size() > 1 ? children_[1].name : "AGENT",
                    command_name(context_.environment.env("PATH").value_or(""))));
  }

  // An agent that stops leaves its processes alone, as it should on a real host; here they would
  // outlive the play.
  void cancel_running(const SignalWaiter& signals) {
    const Timestamp deadline = context_.environment.now() + kCancelDeadline;
    std::set<std::string> asked;
    while (true) {
      const Outcome<Json> answer = client_->get(
          "/v1/actions", {{"status", "RUNNING"}, {"status", "SUSPENDED"}, {"limit", "500"}},
          Duration::seconds(1));
      const Json& running = answer ? json_at(*answer, "actions") : Json();
      if (running.empty()) return;
      if (asked.empty()) context_.console.say("cancelling what runs\n");
      for (const Json& action : running) {
        const std::string id = json_text(action, "id");
        if (!asked.insert(id).second) continue;
        (void)client_->post(action_path(id, "/signals"),
                            {{"signal", "CANCEL"}, {"reason", "muster dev is stopping"}});
      }
      const int signal = signals.wait(kReadyPoll);
      const bool hurried = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
      if (hurried || context_.environment.now() > deadline) {
        context_.console.warn(
            fmt::format("{} action(s) still run; the next muster dev here goes on with them\n",
                        running.size()));
        return;
      }
    }
  }

  void stop_all(const SignalWaiter& signals) {
    for (const DevChild& child : children_) {
      if (child.pid != 0) kill(child.pid, SIGTERM);
    }
    context_.console.say("stopping\n");
    const Timestamp deadline = context_.environment.now() + kStopDeadline;
    bool killed = false;
    while (true) {
      bool running = false;
      for (DevChild& child : children_) {
        if (child.pid != 0 && waitpid(child.pid, nullptr, WNOHANG) == child.pid) child.pid = 0;
        running = running || child.pid != 0;
      }
      if (!running) return;
      const Duration left = deadline - context_.environment.now();
      if (left.us <= 0 && !killed) {
        killed = true;
        for (const DevChild& child : children_) {
          if (child.pid == 0) continue;
          context_.console.warn(fmt::format("{} (pid {}) did not stop in {}; killing it\n",
                                            child.name, child.pid, format_duration(kStopDeadline)));
          kill(child.pid, SIGKILL);
        }
      }
      signals.wait(std::clamp(left, Duration::millis(50), Duration::seconds(1)));
    }
  }

  void write_pids() {
    const Result<void> written = write_file_atomically(directory_ + "/pids", pids_text(children_));
    if (!written) context_.console.warn(written.error().message + "\n");
  }

  static std::string end_text(int status) {
    if (WIFSIGNALED(status)) {
      const char* name = sigabbrev_np(WTERMSIG(status));
      return fmt::format("was killed by SIG{}", name == nullptr ? "?" : name);
    }
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  }

  Context& context_;
  std::vector<DevChild> children_;
  std::string directory_;
  std::unique_ptr<ApiClient> client_;
  bool ready_ = false;
};

Result<void> make_directories(const std::string& directory, const DevOptions& options) {
  std::error_code error;
  std::vector<std::string> wanted = {directory, directory + "/logs"};
  for (std::uint32_t i = 1; i <= options.agents; ++i) {
    wanted.push_back(fmt::format("{}/agents/{}{}", directory, options.agent_prefix, i));
  }
  for (const std::string& path : wanted) {
    const bool fresh = std::filesystem::create_directories(path, error);
    // Journals and output are nobody else's business.
    if (fresh) {
      std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
    }
    if (error) {
      return fail(ErrorCode::IoError, "cannot create '{}': {}", path, error.message());
    }
  }
  return {};
}

}  // namespace

std::vector<DevChild> dev_children(const DevOptions& options, const std::string& directory,
                                   const std::string& listen, const std::string& agent_listen,
                                   pid_t supervisor) {
  const std::string parent = std::to_string(supervisor);
  std::vector<DevChild> children;
  DevChild server;
  server.name = "server";
  server.arguments = {"server",
                      "--data-dir",
                      directory,
                      "--socket",
                      directory + "/muster.sock",
                      "--listen",
                      listen,
                      "--agent-listen",
                      agent_listen,
                      "--log-level",
                      options.log_level,
                      "--parent-pid",
                      parent};
  server.log_file = directory + "/logs/server.log";
  children.push_back(std::move(server));
  for (std::uint32_t i = 1; i <= options.agents; ++i) {
    DevChild agent;
    agent.name = fmt::format("{}{}", options.agent_prefix, i);
    const std::string state = directory + "/agents/" + agent.name;
    agent.arguments = {"agent",
                       "--name",
                       agent.name,
                       "--state-dir",
                       state,
                       "--socket",
                       state + "/agent.sock",
                       "--controller",
                       agent_listen,
                       "--log-level",
                       options.log_level,
                       "--parent-pid",
                       parent};
    agent.log_file = fmt::format("{}/logs/{}.log", directory, agent.name);
    children.push_back(std::move(agent));
  }
  return children;
}

std::string pids_text(const std::vector<DevChild>& children) {
  std::string text;
  for (const DevChild& child : children) {
    if (child.pid != 0) text += fmt::format("{} {}\n", child.name, child.pid);
  }
  return text;
}

Outcome<ExitCode> run_dev(Context& context, const DevOptions& options) {
  if (options.agents > kDevAgentsMax) {
    return usage("--agents {} is more than {}", options.agents, kDevAgentsMax);
  }
  std::error_code error;
  const std::string directory =
      std::filesystem::absolute(options.data_dir, error).lexically_normal().string();
  if (error) return usage("--data-dir '{}': {}", options.data_dir, error.message());
  constexpr std::size_t kSocketPathMax = 107;  // of sockaddr_un
  const std::string longest =
      fmt::format("{}/agents/{}{}/agent.sock", directory, options.agent_prefix, options.agents);
  if (longest.size() > kSocketPathMax) {
    return usage("the socket path '{}' is longer than {} bytes; choose a shorter --data-dir",
                 longest, kSocketPathMax);
  }
  MUSTER_TRY(make_directories(directory, options));
  MUSTER_TRY_ASSIGN(const DirectoryLock lock, DirectoryLock::take(directory + "/dev.lock"));
  MUSTER_TRY_ASSIGN(const std::string listen,
                    free_address(options.listen.empty() ? "127.0.0.1:8440" : options.listen));
  MUSTER_TRY_ASSIGN(
      const std::string agent_listen,
      free_address(options.agent_listen.empty() ? "127.0.0.1:8441" : options.agent_listen));
  context.console.say(
      fmt::format("fleet in {}: API on http://{} and unix:{}/muster.sock, agents "
                  "on {}\n",
                  directory, listen, directory, agent_listen));
  Supervisor supervisor(context, dev_children(options, directory, listen, agent_listen, getpid()),
                        directory);
  return supervisor.run();
}

}  // namespace muster::cli
