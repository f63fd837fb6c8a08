#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "bench/benchmarks.h"
#include "bench/controller_process.h"
#include "bench/emulated_fleet.h"
#include "bench/samples.h"
#include "bench/scratch.h"
#include "bench/stopwatch.h"
#include "bench/submission.h"

namespace muster::bench {
namespace {

constexpr Duration kStallMax = Duration::minutes(2);
constexpr Duration kActionsWithin = Duration::minutes(10);

// Several clients that submit until the count is reached, holding back while too much is under way.
class Submitters {
 public:
  Submitters(const ActionsOptions& options, const ControllerProcess& controller,
             EmulatedFleet& fleet)
      : options_(options), controller_(controller), fleet_(fleet) {}

  Result<void> run() {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < options_.clients; ++i) {
      threads.emplace_back([this] {
        if (auto done = submit_all(); !done) {
          const std::lock_guard lock(mutex_);
          if (!problem_) problem_ = done.error();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (problem_) return fail(*problem_);
    return {};
  }

 private:
  bool has_failed() {
    const std::lock_guard lock(mutex_);
    return problem_.has_value();
  }

  Result<void> submit_all() {
    while (!has_failed()) {
      const std::size_t first = next_.fetch_add(options_.batch);
      if (first >= options_.count) break;
      const std::size_t size = std::min(options_.batch, options_.count - first);
      const std::size_t after = first + size;
      if (after > options_.in_flight) {
        MUSTER_TRY(fleet_.wait_room(after - options_.in_flight, kStallMax));
      }
      MUSTER_TRY(controller_.submit(noops_body(first, size, options_.agents)));
    }
    return {};
  }

  const ActionsOptions& options_;
  const ControllerProcess& controller_;
  EmulatedFleet& fleet_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::optional<Error> problem_;  // protected by mutex_
};

double per(double total, std::size_t count) {
  return rounded(total / static_cast<double>(std::max<std::size_t>(count, 1)), 3);
}

}  // namespace

Result<Json> run_actions(const ActionsOptions& options, const Host& host) {
  MUSTER_TRY_ASSIGN(const Scratch scratch, Scratch::make(options.place, host));
  MUSTER_TRY_ASSIGN(ControllerProcess controller, ControllerProcess::start(host, scratch.path()));
  host.say(fmt::format("connecting {} emulated agents\n", options.agents));
  MUSTER_TRY_ASSIGN(const auto fleet,
                    EmulatedFleet::connect(options.agents, controller.agent_address(), host));
  const std::uint64_t rss_before = controller.process().rss_kib();
  const Duration cpu_before = controller.process().cpu_time();
  const rpc::LinkStats link_before = fleet->stats();
  MUSTER_TRY_ASSIGN(const double commits_before, controller.metric("muster_store_commits_total"));

  host.say(fmt::format("{} no-ops in batches of {}\n", options.count, options.batch));
  const Stopwatch watch;
  MUSTER_TRY(Submitters(options, controller, *fleet).run());
  MUSTER_TRY(controller.wait_finished(options.count, kActionsWithin, host));
  const double seconds = watch.seconds();
  MUSTER_TRY(fleet->wait_acked(options.count, kActionsWithin));

  const Duration cpu = controller.process().cpu_time() - cpu_before;
  const std::uint64_t rss = controller.process().rss_kib();
  const rpc::LinkStats link = fleet->stats();
  MUSTER_TRY_ASSIGN(const double commits, controller.metric("muster_store_commits_total"));
  Samples latencies = fleet->latencies();
  const auto frames = static_cast<double>(link.frames_received - link_before.frames_received +
                                          link.frames_sent - link_before.frames_sent);
  const auto messages = static_cast<double>(link.messages_received - link_before.messages_received +
                                            link.messages_sent - link_before.messages_sent);
  return Json{
      {"bench", "actions"},
      {"count", options.count},
      {"agents", options.agents},
      {"batch", options.batch},
      {"seconds", rounded(seconds, 3)},
      {"rate_per_s", rounded(static_cast<double>(options.count) / seconds, 1)},
      {"p50_ms", rounded(latencies.percentile_ms(0.5), 3)},
      {"p99_ms", rounded(latencies.percentile_ms(0.99), 3)},
      {"rss_kib", rss},
      {"rss_growth_kib", static_cast<std::int64_t>(rss) - static_cast<std::int64_t>(rss_before)},
      {"failed", fleet->failed()},
      {"controller_cpu_us_per_action", per(static_cast<double>(cpu.us), options.count)},
      {"frames_per_action", per(frames, options.count)},
      {"messages_per_action", per(messages, options.count)},
      {"commits", static_cast<std::uint64_t>(commits - commits_before)}};
}

}  // namespace muster::bench
