#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "bench/benchmarks.h"
#include "bench/controller_process.h"
#include "bench/history.h"
#include "bench/samples.h"
#include "bench/scratch.h"
#include "bench/stopwatch.h"

namespace muster::bench {
namespace {

constexpr std::array<const char*, 8> kSortKeys = {"name",       "target",     "action",    "status",
                                                  "created_at", "updated_at", "stop_time", "id"};

// What the controller takes when it has nothing.
Result<std::uint64_t> rss_without_history(const std::string& directory, const Host& host) {
  std::filesystem::create_directory(directory);
  MUSTER_TRY_ASSIGN(ControllerProcess controller, ControllerProcess::start(host, directory));
  return controller.process().rss_kib();
}

struct Pages {
  Samples all;
  std::map<std::string, double> slowest_ms;  // by order
};

Result<Pages> read_pages(const ControllerProcess& controller, const RestartOptions& options,
                         const Host& host) {
  Pages pages;
  for (const char* key : kSortKeys) {
    for (const char* direction : {"asc", "desc"}) {
      Samples of_order;
      for (std::size_t i = 0; i < options.pages; ++i) {
        if (host.interrupted()) return fail(interrupted_error());
        // The first page, then pages after actions from all over the history.
        std::string path = fmt::format("/v1/actions?limit=100&sort={}:{}", key, direction);
        if (i > 0) {
          const std::size_t after = options.actions / options.pages * i;
          path += fmt::format("&marker={}", history_id(after).to_string());
        }
        const Stopwatch watch;
        MUSTER_TRY(controller.get(path));
        of_order.add(watch.elapsed());
        pages.all.add(watch.elapsed());
      }
      pages.slowest_ms[fmt::format("{}:{}", key, direction)] =
          rounded(of_order.percentile_ms(1.0), 3);
    }
  }
  return pages;
}

}  // namespace

Result<Json> run_restart(const RestartOptions& options, const Host& host) {
  MUSTER_TRY_ASSIGN(const Scratch scratch, Scratch::make(options.place, host));
  MUSTER_TRY_ASSIGN(const std::uint64_t rss_empty,
                    rss_without_history(scratch.path() + "/empty", host));
  host.say(fmt::format("writing {} finished actions\n", options.actions));
  const std::string path = scratch.path() + "/muster.db";
  const Stopwatch filling;
  MUSTER_TRY(write_history(path, options.actions, wall_now(), host.interrupted));
  const double fill_seconds = filling.seconds();
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);

  host.say("starting the controller over them\n");
  MUSTER_TRY_ASSIGN(ControllerProcess controller, ControllerProcess::start(host, scratch.path()));
  const double seconds = controller.start_time().as_seconds();
  const std::uint64_t rss_started = controller.process().rss_kib();
  MUSTER_TRY_ASSIGN(Pages pages, read_pages(controller, options, host));
  const std::uint64_t rss = controller.process().rss_kib();
  const double growth = static_cast<double>(rss) - static_cast<double>(rss_empty);
  return Json{{"bench", "restart"},
              {"count", options.actions},
              {"seconds", rounded(seconds, 3)},
              {"p50_ms", rounded(pages.all.percentile_ms(0.5), 3)},
              {"p99_ms", rounded(pages.all.percentile_ms(0.99), 3)},
              {"page_max_ms", rounded(pages.all.percentile_ms(1.0), 3)},
              {"pages", pages.all.count()},
              {"page_max_ms_by_order", pages.slowest_ms},
              {"fill_seconds", rounded(fill_seconds, 3)},
              {"store_mib", rounded(static_cast<double>(bytes) / (1 << 20), 1)},
              {"rss_kib", rss},
              {"rss_started_kib", rss_started},
              {"rss_empty_kib", rss_empty},
              {"rss_kib_per_action", rounded(growth / static_cast<double>(options.actions), 4)}};
}

}  // namespace muster::bench
