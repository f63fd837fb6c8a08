#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <vector>

#include "bench/benchmarks.h"
#include "bench/controller_process.h"
#include "bench/event_watch.h"
#include "bench/process.h"
#include "bench/samples.h"
#include "bench/scratch.h"
#include "bench/stopwatch.h"

namespace muster::bench {
namespace {

constexpr Duration kConnectWithin = Duration::seconds(60);
constexpr Duration kRunsWithin = Duration::minutes(10);
constexpr Duration kRunsLook = Duration::millis(10);
constexpr double kTicksMs = 1000.0;

std::string agent_name(std::size_t index) { return fmt::format("a{}", index + 1); }

// Real agents; asked to end together, because each takes a moment.
class Agents {
 public:
  ~Agents() {
    for (const Process& agent : agents_) agent.ask_to_end();
  }

  Result<void> start(const Host& host, const std::string& directory, std::size_t count,
                     const std::string& controller) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::string state = fmt::format("{}/{}", directory, agent_name(i));
      MUSTER_TRY_ASSIGN(Process agent,
                        Process::start(host,
                                       {"agent", "--name", agent_name(i), "--state-dir", state,
                                        "--controller", controller, "--log-level", "warn"},
                                       state + ".log"));
      agents_.push_back(std::move(agent));
    }
    return {};
  }

  Result<void> check() {
    for (Process& agent : agents_) {
      if (agent.is_alive()) continue;
      return fail(ErrorCode::Internal, "an agent ended by itself: {}", agent.log_tail());
    }
    return {};
  }

  std::uint64_t rss_kib() const {
    std::uint64_t most = 0;
    for (const Process& agent : agents_) most = std::max(most, agent.rss_kib());
    return most;
  }

 private:
  std::vector<Process> agents_;
};

Result<void> wait_online(ControllerProcess& controller, Agents& agents, std::size_t count,
                         const Host& host) {
  const Stopwatch watch;
  while (true) {
    MUSTER_TRY_ASSIGN(const double online, controller.metric(R"(muster_agents{state="online"})"));
    if (online >= static_cast<double>(count)) return {};
    if (host.interrupted()) return fail(interrupted_error());
    MUSTER_TRY(agents.check());
    if (watch.elapsed() > kConnectWithin) {
      return fail(ErrorCode::Timeout, "{} of {} agents were connected within {}", online, count,
                  format_duration(kConnectWithin));
    }
    if (controller.process().wait_end(kRunsLook)) {
      return fail(ErrorCode::Internal, "the controller ended: {}", controller.process().log_tail());
    }
  }
}

std::string execs_body(std::size_t first, std::size_t count, std::size_t agents) {
  std::string body = R"({"actions":[)";
  for (std::size_t i = 0; i < count; ++i) {
    fmt::format_to(std::back_inserter(body),
                   R"({}{{"action":"exec","target":"{}","inputs":{{"argv":["/bin/true"]}}}})",
                   i == 0 ? "" : ",", agent_name((first + i) % agents));
  }
  return body + "]}";
}

}  // namespace

Result<Json> run_exec(const ExecOptions& options, const Host& host) {
  MUSTER_TRY_ASSIGN(const Scratch scratch, Scratch::make(options.place, host));
  MUSTER_TRY_ASSIGN(ControllerProcess controller, ControllerProcess::start(host, scratch.path()));
  Agents agents;
  MUSTER_TRY(agents.start(host, scratch.path(), options.agents, controller.agent_address()));
  host.say(fmt::format("starting {} agents\n", options.agents));
  MUSTER_TRY(wait_online(controller, agents, options.agents, host));
  MUSTER_TRY_ASSIGN(const auto events, EventWatch::start(controller, host));

  host.say(fmt::format("{} times /bin/true\n", options.count));
  const Stopwatch watch;
  for (std::size_t first = 0; first < options.count; first += options.batch) {
    const std::size_t size = std::min(options.batch, options.count - first);
    MUSTER_TRY(controller.submit(execs_body(first, size, options.agents)));
  }
  if (auto ended = events->wait_ended(options.count, kRunsWithin); !ended) {
    MUSTER_TRY(agents.check());
    return fail(ended.error());
  }
  const double seconds = watch.seconds();
  const double rate = static_cast<double>(options.count) / seconds;
  return Json{{"bench", "exec"},
              {"count", options.count},
              {"agents", options.agents},
              {"seconds", rounded(seconds, 3)},
              {"rate_per_s", rounded(rate, 1)},
              {"per_agent_ms", rounded(kTicksMs * static_cast<double>(options.agents) / rate, 3)},
              {"failed", events->not_succeeded()},
              {"agent_rss_kib", agents.rss_kib()},
              {"rss_kib", controller.process().rss_kib()}};
}

}  // namespace muster::bench
