#include <algorithm>

#include "bench/benchmarks.h"
#include "bench/controller_process.h"
#include "bench/emulated_fleet.h"
#include "bench/samples.h"
#include "bench/scratch.h"
#include "bench/stopwatch.h"
#include "bench/submission.h"

namespace muster::bench {
namespace {

constexpr Duration kFanOutWithin = Duration::minutes(2);
constexpr Duration kFanOutLook = Duration::millis(100);

struct Idle {
  double cpu_percent = 0;
  double messages_per_s = 0;
};

Result<Idle> watch_idle(const AgentsOptions& options, ControllerProcess& controller,
                        const EmulatedFleet& fleet, const Host& host) {
  const Duration cpu = controller.process().cpu_time();
  const rpc::LinkStats link = fleet.stats();
  const Stopwatch watch;
  while (watch.elapsed() < Duration::seconds(static_cast<std::int64_t>(options.idle_seconds))) {
    if (host.interrupted()) return fail(interrupted_error());
    if (controller.process().wait_end(kFanOutLook)) {
      return fail(ErrorCode::Internal, "the controller ended: {}", controller.process().log_tail());
    }
  }
  const double seconds = watch.seconds();
  const rpc::LinkStats after = fleet.stats();
  const auto messages = static_cast<double>(after.messages_sent - link.messages_sent +
                                            after.messages_received - link.messages_received);
  return Idle{100 * (controller.process().cpu_time() - cpu).as_seconds() / seconds,
              messages / seconds};
}

}  // namespace

Result<Json> run_agents(const AgentsOptions& options, const Host& host) {
  MUSTER_TRY_ASSIGN(const Scratch scratch, Scratch::make(options.place, host));
  MUSTER_TRY_ASSIGN(ControllerProcess controller, ControllerProcess::start(host, scratch.path()));
  const std::uint64_t rss_empty = controller.process().rss_kib();
  host.say(fmt::format("connecting {} emulated agents\n", options.agents));
  const Stopwatch connecting;
  MUSTER_TRY_ASSIGN(const auto fleet,
                    EmulatedFleet::connect(options.agents, controller.agent_address(), host));
  const double connect_seconds = connecting.seconds();
  host.say(
      fmt::format("connected in {:.1f} s; idle for {} s\n", connect_seconds, options.idle_seconds));
  MUSTER_TRY_ASSIGN(const Idle idle, watch_idle(options, controller, *fleet, host));
  const std::uint64_t rss = controller.process().rss_kib();

  host.say("one action to each\n");
  Samples rounds;
  const std::string body = noops_body(0, options.agents, options.agents);
  for (std::size_t i = 0; i < options.rounds; ++i) {
    const Stopwatch watch;
    MUSTER_TRY(controller.submit(body));
    MUSTER_TRY(controller.wait_finished((i + 1) * options.agents, kFanOutWithin, host));
    rounds.add(watch.elapsed());
    MUSTER_TRY(fleet->wait_acked((i + 1) * options.agents, kFanOutWithin));
  }
  const double slowest = rounds.percentile_ms(1.0) / 1000;
  Samples latencies = fleet->latencies();
  const double growth = static_cast<double>(rss) - static_cast<double>(rss_empty);
  const auto agents = static_cast<double>(options.agents);
  return Json{{"bench", "agents"},
              {"count", options.agents},
              {"rounds", options.rounds},
              {"seconds", rounded(slowest, 3)},
              {"seconds_p50", rounded(rounds.percentile_ms(0.5) / 1000, 3)},
              {"rate_per_s", rounded(agents / slowest, 1)},
              {"p50_ms", rounded(latencies.percentile_ms(0.5), 3)},
              {"p99_ms", rounded(latencies.percentile_ms(0.99), 3)},
              {"failed", fleet->failed()},
              {"connect_seconds", rounded(connect_seconds, 3)},
              {"idle_cpu_percent", rounded(idle.cpu_percent, 2)},
              {"idle_messages_per_s", rounded(idle.messages_per_s, 1)},
              {"rss_kib", rss},
              {"rss_kib_per_agent", rounded(growth / agents, 2)}};
}

}  // namespace muster::bench
