#include "bench/benchmarks.h"
#include "bench/controller_process.h"
#include "bench/disk_floor.h"
#include "bench/emulated_fleet.h"
#include "bench/event_watch.h"
#include "bench/samples.h"
#include "bench/scratch.h"
#include "bench/stopwatch.h"
#include "bench/submission.h"

namespace muster::bench {
namespace {

constexpr Duration kAnswerWithin = Duration::seconds(30);

}  // namespace

Result<Json> run_latency(const LatencyOptions& options, const Host& host) {
  MUSTER_TRY_ASSIGN(const Scratch scratch, Scratch::make(options.place, host));
  MUSTER_TRY_ASSIGN(ControllerProcess controller, ControllerProcess::start(host, scratch.path()));
  MUSTER_TRY_ASSIGN(const auto fleet, EmulatedFleet::connect(1, controller.agent_address(), host));
  MUSTER_TRY_ASSIGN(const auto events, EventWatch::start(controller, host));
  MUSTER_TRY_ASSIGN(Samples syncs_before, measure_syncs(scratch.path()));
  const std::string body = noops_body(0, 1, 1);
  Samples samples;
  Samples accepted;
  host.say(fmt::format("{} no-ops, one at a time\n", options.count));
  Stopwatch whole;
  for (std::size_t i = 0; i < options.warmup + options.count; ++i) {
    if (i == options.warmup) whole = Stopwatch();
    const Stopwatch watch;
    MUSTER_TRY(controller.submit(body));
    const Duration answered = watch.elapsed();
    MUSTER_TRY_ASSIGN(const auto ended, events->wait_ended(i + 1, kAnswerWithin));
    if (i < options.warmup) continue;
    accepted.add(answered);
    samples.add(watch.elapsed_at(ended));
  }
  const double seconds = whole.seconds();
  MUSTER_TRY_ASSIGN(Samples syncs_after, measure_syncs(scratch.path()));
  return Json{{"bench", "latency"},
              {"count", options.count},
              {"seconds", rounded(seconds, 3)},
              {"rate_per_s", rounded(static_cast<double>(options.count) / seconds, 1)},
              {"p50_ms", rounded(samples.percentile_ms(0.5), 3)},
              {"p99_ms", rounded(samples.percentile_ms(0.99), 3)},
              {"max_ms", rounded(samples.percentile_ms(1.0), 3)},
              {"accepted_p50_ms", rounded(accepted.percentile_ms(0.5), 3)},
              {"accepted_p99_ms", rounded(accepted.percentile_ms(0.99), 3)},
              {"sync_before_p50_ms", rounded(syncs_before.percentile_ms(0.5), 3)},
              {"sync_after_p50_ms", rounded(syncs_after.percentile_ms(0.5), 3)},
              {"failed", events->not_succeeded()},
              {"rss_kib", controller.process().rss_kib()}};
}

}  // namespace muster::bench
