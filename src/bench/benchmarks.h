#pragma once

#include <cstddef>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "bench/host.h"

// The benchmarks. Each runs by itself in a directory of its own, measures this program from the
// outside (but for `core`, `model` and `plan`), ends what it started, and answers with one JSON
// object:
// `bench`, `count`, `seconds`, `rate_per_s`, `p50_ms`, `p99_ms` and `rss_kib` (of the controller)
// as far as they apply, and keys of its own. Failure: the error says what went wrong; nothing is
// left behind in any case, unless the directory was asked to be kept.

namespace muster::bench {

struct PlaceOptions {
  std::string parent;  // where the directory is made; empty: the system's for temporary files
  bool keep = false;   // leave the directory, with stores and logs
};

// No-op actions in batches over HTTP, to emulated agents over real streams, until every result is
// durable.
struct ActionsOptions {
  std::size_t agents = 100;
  std::size_t count = 200'000;
  std::size_t batch = 500;         // actions of one request
  std::size_t clients = 2;         // connections that submit
  std::size_t in_flight = 20'000;  // submitted and not yet ended, at most
  PlaceOptions place;
};
Result<Json> run_actions(const ActionsOptions& options, const Host& host);

// One no-op at a time, from the request until the event of its durable result has arrived.
struct LatencyOptions {
  std::size_t count = 2'000;
  std::size_t warmup = 200;
  PlaceOptions place;
};
Result<Json> run_latency(const LatencyOptions& options, const Host& host);

// /bin/true through real agents with journals and runners.
struct ExecOptions {
  std::size_t agents = 10;
  std::size_t count = 2'000;
  std::size_t batch = 500;
  PlaceOptions place;
};
Result<Json> run_exec(const ExecOptions& options, const Host& host);

// The engine alone, in memory: no store, no network.
struct CoreOptions {
  std::size_t agents = 100;
  std::size_t count = 300'000;  // actions; each takes several steps
};
Result<Json> run_core(const CoreOptions& options, const Host& host);

// A controller that starts over a store full of history, and lists it.
struct RestartOptions {
  std::size_t actions = 1'000'000;
  std::size_t pages = 5;  // of each order
  PlaceOptions place;
};
Result<Json> run_restart(const RestartOptions& options, const Host& host);

// Many agents that do nothing, then one action to each at once.
struct AgentsOptions {
  std::size_t agents = 5'000;
  std::size_t idle_seconds = 10;
  std::size_t rounds = 3;  // fan-outs; the slowest counts
  PlaceOptions place;
};
Result<Json> run_agents(const AgentsOptions& options, const Host& host);

// A model: loaded from its store, edited in memory, and compared with a file that changes nothing.
struct ModelOptions {
  std::size_t items = 1'000'000;
  std::size_t edits = 500;
  std::size_t file_items = 100'000;
  PlaceOptions place;
};
Result<Json> run_model(const ModelOptions& options, const Host& host);

// A Python plugin that makes a task for each item of a model: from the model to tasks, with the
// start of the process.
struct PluginOptions {
  std::size_t items = 100'000;
  std::string sdk;  // folder of the Python SDK
  PlaceOptions place;
};
Result<Json> run_plugin(const PluginOptions& options, const Host& host);

// The planner alone, in memory: a model and tasks in, a plan out.
struct PlanOptions {
  std::size_t nodes = 10'000;
  std::size_t tasks_per_node = 10;
};
Result<Json> run_plan(const PlanOptions& options, const Host& host);

}  // namespace muster::bench
