#include <limits>

#include "base/json.h"
#include "bench/benchmarks.h"
#include "cli/commands.h"
#include "cli/dev_spawn.h"
#include "cli/dev_supervisor.h"
#include "cli/interrupt.h"
#include "pack/shipped.h"

// The measurements of this program itself.

namespace muster::cli {
namespace {

bench::Host make_host(Context& context) {
  return {.start = spawn_self,
          .free_address = [] { return free_address("127.0.0.1:0"); },
          .interrupted = interrupted,
          .say = [&context](std::string_view words) { context.console.say(words); }};
}

template <typename Options>
using Run = Result<Json> (*)(const Options&, const bench::Host&);

template <typename Options>
void on_bench(CLI::App* app, Context& context, std::shared_ptr<Options> options, Run<Options> run) {
  on_run(app, context, [&context, options, run]() -> Outcome<ExitCode> {
    catch_interrupts();
    ignore_broken_pipes();
    MUSTER_TRY_ASSIGN(const Json line, run(*options, make_host(context)));
    context.console.out(dump_json(line) + "\n");
    return ExitCode::Ok;
  });
}

void add_number(CLI::App* app, const std::string& name, std::size_t& value, std::size_t least,
                std::size_t most, const std::string& help) {
  app->add_option(name, value, fmt::format("{} (default {})", help, value))
      ->type_name("N")
      ->check(CLI::Range(least, most).description(""));
}

void add_place(CLI::App* app, bench::PlaceOptions& place) {
  app->add_option("--dir", place.parent,
                  "Where its directory is made; on the disk that is to be measured (default: where "
                  "temporary files go)")
      ->type_name("DIR");
  app->add_flag("--keep", place.keep, "Leave its directory, with stores and logs");
}

constexpr std::size_t kCountMax = 100'000'000;
constexpr std::size_t kBatchMax = 10'000;
constexpr std::size_t kAgentsMax = 20'000;
constexpr std::size_t kProcessesMax = 500;

void add_actions(CLI::App& bench, Context& context) {
  auto options = std::make_shared<bench::ActionsOptions>();
  CLI::App* app = add_command(bench, "actions", "No-ops in batches, to emulated agents",
                              "  muster bench actions --agents 100 --count 200000\n");
  add_number(app, "--agents", options->agents, 1, kAgentsMax, "Emulated agents");
  add_number(app, "--count", options->count, 1, kCountMax, "Actions");
  add_number(app, "--batch", options->batch, 1, kBatchMax, "Actions of one request");
  add_number(app, "--clients", options->clients, 1, 64, "Connections that submit");
  add_number(app, "--in-flight", options->in_flight, 1, 1'000'000,
             "Actions under way at a time, at most");
  add_place(app, options->place);
  on_bench(app, context, options, &bench::run_actions);
}

void add_latency(CLI::App& bench, Context& context) {
  auto options = std::make_shared<bench::LatencyOptions>();
  CLI::App* app = add_command(bench, "latency", "No-ops one at a time, until the result is durable",
                              "  muster bench latency --count 5000\n");
  add_number(app, "--count", options->count, 1, kCountMax, "Actions");
  add_number(app, "--warmup", options->warmup, 0, kCountMax, "Actions before those that count");
  add_place(app, options->place);
  on_bench(app, context, options, &bench::run_latency);
}

void add_exec(CLI::App& bench, Context& context) {
  auto options = std::make_shared<bench::ExecOptions>();
  CLI::App* app = add_command(bench, "exec", "/bin/true through real agents",
                              "  muster bench exec --agents 10 --count 2000\n");
  add_number(app, "--agents", options->agents, 1, kProcessesMax, "Agent processes");
  add_number(app, "--count", options->count, 1, kCountMax, "Actions");
  add_number(app, "--batch", options->batch, 1, kBatchMax, "Actions of one request");
  add_place(app, options->place);
  on_bench(app, context, options, &bench::run_exec);
}

void add_core(CLI::App& bench, Context& context) {
  auto options = std::make_shared<bench::CoreOptions>();
  CLI::App* app = add_command(bench, "core", "Steps of the engine, in memory",
                              "  muster bench core --count 300000\n");
  add_number(app, "--agents", options->agents, 1, kAgentsMax, "Agents that it knows");
  add_number(app, "--count", options->count, 1, kCountMax, "Actions, of four steps each");
  on_bench(app, context, options, &bench::run_core);
}

void add_restart(CLI::App& bench, Context& context) {
  auto options = std::make_shared<bench::RestartOptions>();
  CLI::App* app = add_command(bench, "restart", "Start over a long history, and page through it",
                              "  muster bench restart --actions 1000000\n");
  add_number(app, "--actions", options->actions, 100, kCountMax, "Finished actions");
  add_number(app, "--pages", options->pages, 1, 1'000, "Pages of each order");
  add_place(app, options->place);
  on_bench(app, context, options, &bench::run_restart);
}

void add_agents(CLI::App& bench, Context& context) {
  auto options = std::make_shared<bench::AgentsOptions>();
  CLI::App* app = add_command(bench, "agents", "Many idle agents, then one action to each",
                              "  muster bench agents --agents 5000\n");
  add_number(app, "--agents", options->agents, 1, kBatchMax, "Emulated agents");
  add_number(app, "--idle", options->idle_seconds, 1, 3'600, "Seconds of idling that are measured");
  add_number(app, "--rounds", options->rounds, 1, 1'000, "Times that each agent gets an action");
  add_place(app, options->place);
  on_bench(app, context, options, &bench::run_agents);
}

void add_model(CLI::App& bench, Context& context) {
  auto options = std::make_shared<bench::ModelOptions>();
  CLI::App* app = add_command(bench, "model", "A model: load, edits, an unchanged file",
                              "  muster bench model --items 1000000\n");
  add_number(app, "--items", options->items, 1, 20'000'000, "Items of the model, about");
  add_number(app, "--edits", options->edits, 5, 1'000'000, "Edits, one after the other");
  add_number(app, "--file-items", options->file_items, 1, 1'000'000,
             "Items of the file that changes nothing, about");
  add_place(app, options->place);
  on_bench(app, context, options, &bench::run_model);
}

void add_plugin(CLI::App& bench, Context& context) {
  auto options = std::make_shared<bench::PluginOptions>();
  options->sdk = pack::python_sdk_folder().value_or("");
  CLI::App* app = add_command(bench, "plugin", "A Python plugin that makes a task for each item",
                              "  muster bench plugin --items 100000\n");
  add_number(app, "--items", options->items, 1, 10'000'000, "Items of the model");
  add_place(app, options->place);
  on_bench(app, context, options, &bench::run_plugin);
}

void add_plan(CLI::App& bench, Context& context) {
  auto options = std::make_shared<bench::PlanOptions>();
  CLI::App* app = add_command(bench, "plan", "A plan for many nodes, in memory",
                              "  muster bench plan --nodes 100000 --tasks-per-node 10\n");
  add_number(app, "--nodes", options->nodes, 1, 1'000'000, "Nodes, 1000 in a cluster");
  add_number(app, "--tasks-per-node", options->tasks_per_node, 3, 24, "Tasks of each node");
  on_bench(app, context, options, &bench::run_plan);
}

}  // namespace

void add_bench_commands(CLI::App& root, Context& context) {
  CLI::App* bench = add_command(root, "bench", "Measure this program on this machine",
                                "  muster bench actions\n"
                                "  muster bench latency --dir /var/lib/muster\n");
  bench->require_subcommand(1);
  add_actions(*bench, context);
  add_latency(*bench, context);
  add_exec(*bench, context);
  add_core(*bench, context);
  add_restart(*bench, context);
  add_agents(*bench, context);
  add_model(*bench, context);
  add_plugin(*bench, context);
  add_plan(*bench, context);
}

}  // namespace muster::cli
