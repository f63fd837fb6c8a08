#include <malloc.h>

#include <fstream>
#include <sstream>
#include <string>

#include "bench/benchmarks.h"
#include "bench/plan_site.h"
#include "bench/samples.h"
#include "bench/stopwatch.h"

namespace muster::bench {
namespace {

std::size_t memory_kib(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + ":")) continue;
    std::size_t kib = 0;
    std::istringstream(line.substr(key.size() + 1)) >> kib;
    return kib;
  }
  return 0;
}

// Without what was freed and is only kept for the next one who asks.
std::size_t memory_in_use_kib() {
  ::malloc_trim(0);
  return memory_kib("VmRSS");
}

// From now on the most that is in use counts anew.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace

Result<Json> run_plan(const PlanOptions& options, const Host& host) {
  host.say("making the model");
  MUSTER_TRY_ASSIGN(const PlanSite site, PlanSite::make(options.nodes));
  const std::size_t model_kib = memory_in_use_kib();
  std::vector<plan::Task> tasks = site.tasks(options.tasks_per_node);
  const std::size_t given = tasks.size();
  const std::vector<plan::RememberedTask> remembered;
  const plan::PlanRequest request{.model = site.model(),
                                  .schema = *site.packs().schema,
                                  .ruleset = *site.packs().ruleset,
                                  .remembered = remembered};
  if (host.interrupted()) return fail(interrupted_error());
  host.say("asking which nodes to lock");
  const Stopwatch lock_watch;
  const std::vector<model::Path> to_lock = plan::nodes_to_lock(request, tasks);
  const double lock_seconds = lock_watch.seconds();
  std::vector<plan::LockPair> locks = site.lock(to_lock);
  if (host.interrupted()) return fail(interrupted_error());
  host.say("planning");
  const std::size_t before_kib = memory_in_use_kib();
  forget_peak();
  const Stopwatch watch;
  const plan::PlanOutcome outcome = plan::make_plan(request, std::move(tasks), std::move(locks));
  const double plan_seconds = watch.seconds();
  const std::size_t peak_kib = memory_kib("VmHWM");
  const std::size_t after_kib = memory_in_use_kib();
  const auto* made = std::get_if<plan::Plan>(&outcome);
  if (made == nullptr) {
    const auto* errors = std::get_if<plan::PlanErrors>(&outcome);
    return fail(ErrorCode::Internal, "there is no plan: {}",
                errors == nullptr ? "nothing to do" : errors->errors.front().message);
  }
  if (made->planned != given + 2 * to_lock.size()) {
    return fail(ErrorCode::Internal, "{} of {} tasks are in the plan", made->planned, given);
  }
  const double seconds = lock_seconds + plan_seconds;
  const auto per_task = [&](std::size_t kib) {
    return rounded(static_cast<double>(kib) / static_cast<double>(made->planned), 3);
  };
  return Json{{"bench", "plan"},
              {"count", made->planned},
              {"nodes", options.nodes},
              {"items", site.model().size()},
              {"locked_nodes", to_lock.size()},
              {"phases", made->phases.size()},
              {"edges", made->order.edge_count()},
              {"seconds", rounded(seconds, 3)},
              {"rate_per_s", rounded(static_cast<double>(made->planned) / seconds, 1)},
              {"lock_question_seconds", rounded(lock_seconds, 3)},
              {"model_kib", model_kib},
              {"rss_kib", peak_kib},
              {"given_kib_per_task", per_task(before_kib - model_kib)},
              {"kib_per_task", per_task(after_kib - model_kib)},
              {"peak_kib_per_task", per_task(peak_kib - model_kib)}};
}

}  // namespace muster::bench
