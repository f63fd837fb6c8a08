#include "controller/metrics.h"

#include <dirent.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

#include "core/action/status.h"
#include "core/kind/catalog.h"

namespace muster::controller {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Labelled {
  std::string value;  // of the family's one label
  double number = 0;
};

MetricFamily family(std::string name, std::string help, MetricType type) {
  MetricFamily result;
  result.name = std::move(name);
  result.help = std::move(help);
  result.type = type;
  return result;
}

ClientMetric sample(MetricType type, double number) {
  ClientMetric metric;
  if (type == MetricType::Counter) {
    metric.counter.value = number;
  } else {
    metric.gauge.value = number;
  }
  return metric;
}

MetricFamily plain(std::string name, std::string help, double number,
                   MetricType type = MetricType::Gauge) {
  MetricFamily result = family(std::move(name), std::move(help), type);
  result.metric.push_back(sample(type, number));
  return result;
}

MetricFamily labelled(std::string name, std::string help, const std::string& label,
                      const std::vector<Labelled>& values) {
  MetricFamily result = family(std::move(name), std::move(help), MetricType::Gauge);
  for (const Labelled& value : values) {
    ClientMetric metric = sample(MetricType::Gauge, value.number);
    metric.label.push_back({label, value.value});
    result.metric.push_back(std::move(metric));
  }
  return result;
}

double as_double(std::uint64_t number) { return static_cast<double>(number); }

// Agents may bring kinds of their own, with any name; those share one label value.
std::string kind_label(const std::string& kind) {
  return core::KindCatalog::find(kind) != nullptr ? kind : "other";
}

std::string method_label(std::string_view method) {
  static constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                               "PATCH", "DELETE", "OPTIONS"};
  return std::string(std::ranges::find(kMethods, method) != kMethods.end() ? method : "other");
}

std::size_t open_files() {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  std::size_t count = 0;
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count >= 3 ? count - 3 : 0;  // ".", ".." and the directory itself
}

void add_process(std::vector<MetricFamily>& families, Timestamp started_at) {
  std::uint64_t pages_virtual = 0;
  std::uint64_t pages_resident = 0;
  std::ifstream("/proc/self/statm") >> pages_virtual >> pages_resident;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  families.push_back(
      plain("process_cpu_seconds_total", "User and system time spent", cpu, MetricType::Counter));
  families.push_back(
      plain("process_resident_memory_bytes", "Resident memory", as_double(pages_resident) * page));
  families.push_back(
      plain("process_virtual_memory_bytes", "Virtual memory", as_double(pages_virtual) * page));
  families.push_back(plain("process_open_fds", "Open file descriptors", as_double(open_files())));
  families.push_back(
      plain("process_max_fds", "Limit of open file descriptors", as_double(files.rlim_cur)));
  families.push_back(plain("process_start_time_seconds", "Start of the process, Unix time",
                           static_cast<double>(started_at.us) / 1e6));
}

void add_gauges(std::vector<MetricFamily>& families, const MetricsSnapshot& snapshot) {
  const core::EngineStats& engine = snapshot.engine;
  families.push_back(labelled("muster_agents", "Known agents by state", "state",
                              {{"online", as_double(engine.agents_online)},
                               {"offline", as_double(engine.agents_offline)},
                               {"unknown", as_double(engine.agents_unknown)}}));
  std::vector<Labelled> live;
  for (const auto& [status, count] : engine.live_by_status) {
    live.push_back({std::string(core::name(status)), as_double(count)});
  }
  families.push_back(
      labelled("muster_actions_live", "Actions that have not ended, by status", "status", live));
  families.push_back(plain("muster_events_seq", "Number of the newest event",
                           as_double(engine.last_event), MetricType::Counter));
  families.push_back(plain("muster_event_subscribers", "Open event streams",
                           as_double(snapshot.event_subscribers)));
  families.push_back(plain("muster_store_commits_total", "Batches committed to the store",
                           as_double(snapshot.health.commits), MetricType::Counter));
  families.push_back(
      plain("muster_store_ok", "1 if the store takes writes", snapshot.health.store_ok ? 1 : 0));
  families.push_back(
      plain("muster_store_bytes", "Size of the store", as_double(snapshot.store.bytes)));
  families.push_back(plain("muster_store_quarantined", "Records that could not be decoded",
                           as_double(snapshot.store.quarantined)));
  families.push_back(
      plain("muster_inbox", "Inputs that wait for the engine", as_double(snapshot.health.inbox)));
  families.push_back(plain("muster_uncommitted_steps", "Steps whose writes are not durable yet",
                           as_double(snapshot.health.uncommitted)));
  families.push_back(plain("muster_jobs_running", "Engine actions being executed",
                           as_double(engine.jobs_running)));
}

}  // namespace

namespace {

const prometheus::Histogram::BucketBoundaries kShortTimes = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
const prometheus::Histogram::BucketBoundaries kLongTimes = {
    0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 14'400, 86'400};

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& actions =
      prometheus::BuildCounter()
          .Name("muster_actions_total")
          .Help("Ended actions and runs of repeated actions, by kind and outcome")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& requests = prometheus::BuildCounter()
                                                          .Name("muster_http_requests_total")
                                                          .Help("HTTP requests answered")
                                                          .Register(registry);
  prometheus::Family<prometheus::Histogram>& seconds =
      prometheus::BuildHistogram()
          .Name("muster_http_request_seconds")
          .Help("Time from a request to the head of its answer")
          .Register(registry);
  prometheus::Family<prometheus::Histogram>& executions =
      prometheus::BuildHistogram()
          .Name("muster_action_duration_seconds")
          .Help("Time that one execution of an action took, by kind and result")
          .Register(registry);
  prometheus::Family<prometheus::Histogram>& waits =
      prometheus::BuildHistogram()
          .Name("muster_action_wait_seconds")
          .Help("Time from when an action could be dispatched to its start, by kind")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& retries =
      prometheus::BuildCounter()
          .Name("muster_action_retries_total")
          .Help("Executions that are followed by another try, by kind")
          .Register(registry);
  prometheus::Histogram& commits = prometheus::BuildHistogram()
                                       .Name("muster_store_commit_seconds")
                                       .Help("Time that the store took for one batch")
                                       .Register(registry)
                                       .Add({}, kShortTimes);
  std::string version;
  Timestamp started_at;
};

Metrics::Metrics(std::string_view version, Timestamp started_at)
    : families_(std::make_unique<Families>()) {
  families_->version = version;
  families_->started_at = started_at;
}

Metrics::~Metrics() = default;

void Metrics::on_event(const core::Event& event) {
  const auto status = core::parse_status(event.status);
  const bool ended = event.type == "action.status" && status && core::is_final(*status);
  const bool run_ended = event.type == "action.run";
  if (!ended && !run_ended) return;
  const std::string outcome = ended ? std::string(core::name(*status)) : "RUN";
  families_->actions.Add({{"kind", kind_label(event.kind)}, {"outcome", outcome}}).Increment();
}

void Metrics::on_measured(const core::Measurement& measurement) {
  const std::string kind = kind_label(measurement.kind);
  switch (measurement.what) {
    case core::Measurement::What::Wait:
      families_->waits.Add({{"kind", kind}}, kLongTimes).Observe(measurement.duration.as_seconds());
      return;
    case core::Measurement::What::Execution:
      families_->executions
          .Add({{"kind", kind}, {"result", std::string(core::name(measurement.result))}},
               kLongTimes)
          .Observe(measurement.duration.as_seconds());
      return;
    case core::Measurement::What::Retry:
      families_->retries.Add({{"kind", kind}}).Increment();
      return;
  }
}

void Metrics::on_commit(Duration duration) { families_->commits.Observe(duration.as_seconds()); }

void Metrics::on_http(std::string_view route, std::string_view method, int code, double seconds) {
  static const prometheus::Histogram::BucketBoundaries kBounds = {
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  const std::string label(route.empty() ? "unmatched" : route);
  families_->requests
      .Add({{"route", label}, {"method", method_label(method)}, {"code", std::to_string(code)}})
      .Increment();
  families_->seconds.Add({{"route", label}}, kBounds).Observe(seconds);
}

std::string Metrics::expose(const MetricsSnapshot& snapshot) {
  std::vector<MetricFamily> families = families_->registry.Collect();
  families.push_back(
      labelled("muster_build_info", "The version that runs", "version", {{families_->version, 1}}));
  add_gauges(families, snapshot);
  add_process(families, families_->started_at);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace muster::controller
