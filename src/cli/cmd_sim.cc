#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/sim.h"

namespace muster::cli {

void add_sim_command(CLI::App& root, Context& context) {
  CLI::App* app = add_command(root, "sim", "Run a whole fleet in simulated time and check it",
                              "  muster sim --seeds 1000\n"
                              "  muster sim --seed 42 --trace\n"
                              "  muster sim --exhaustive\n");
  auto options = std::make_shared<SimOptions>();
  auto time_max = std::make_shared<std::string>();
  app->add_option("--seeds", options->seeds, "How many seeds to run")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62).description(""));
  app->add_option("--first", options->first, "The first of them (default 1)")->type_name("SEED");
  CLI::Option* seed =
      app->add_option("--seed", options->seed, "Run this seed alone")->type_name("SEED");
  app->add_flag("--trace", options->trace, "Print every event of the seed");
  app->add_flag("--exhaustive", options->exhaustive,
                "Small scenarios, with each crash and fault at every write and message");
  app->add_flag("--pairs", options->pairs, "Also every two of them together; takes minutes");
  app->add_option("--at", options->at, "One run of --exhaustive")
      ->type_name("SCENARIO:TROUBLE:POINT[,TROUBLE:POINT]");
  app->add_option("--time", *time_max, "Start no seed after this long")->type_name("DURATION");
  app->add_option("--tally", options->tally, "Keep the tally in this file, as JSON")
      ->type_name("FILE");
  hide(app->add_option("--bug", options->bug, "Plant this bug, where the build can"));
  on_run(app, context, [&context, options, time_max, seed]() -> Outcome<ExitCode> {
    options->one_seed = seed->count() > 0;
    MUSTER_TRY(set_duration(options->time_max, *time_max, "--time"));
    return run_sim(context, *options);
  });
}

}  // namespace muster::cli
