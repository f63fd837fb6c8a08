#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cli/api_client.h"
#include "cli/context.h"
#include "pack/shipped.h"

// The command line. Only the files that include this one know CLI11; each adds the commands of one
// noun, and the work is done elsewhere by plain functions over plain options.

namespace muster::cli {

// A command whose help leads with its examples (lines with two spaces in front).
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& examples);

// An option that may be given several times, one value each.
CLI::Option* add_repeated(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                          const std::string& help);

// A flag that scripts and completion do not show.
CLI::Option* hide(CLI::Option* option);

// The command takes the words after "--".
void take_trailing(CLI::App* app, Context& context);

// Makes `run` what the command does once the whole line is read.
void on_run(CLI::App* app, Context& context, std::function<Outcome<ExitCode>()> run);
// As on_run(), with a client of the controller that the global options name.
void on_controller(CLI::App* app, Context& context,
                   std::function<Outcome<ExitCode>(ApiClient&)> run);

void add_action_commands(CLI::App& root, Context& context);
void add_submit_command(CLI::App& actions, Context& context);
void add_wait_command(CLI::App& parent, Context& context);
void add_logs_command(CLI::App& parent, Context& context);
void add_explain_command(CLI::App& parent, Context& context);
void add_node_commands(CLI::App& root, Context& context);
void add_system_commands(CLI::App& root, Context& context);
void add_agent_commands(CLI::App& root, Context& context);
void add_server_commands(CLI::App& root, Context& context);
void add_bench_commands(CLI::App& root, Context& context);
void add_pack_commands(CLI::App& root, Context& context);
void add_plugin_commands(CLI::App& root, Context& context);
void add_type_commands(CLI::App& root, Context& context);
// --packs and --core-pack.
void add_pack_options(CLI::App& app, pack::PackOptions& options);
struct EditOptions;
// --why, --dry-run, --if-match and --idempotency-key.
void add_edit_options(CLI::App& app, EditOptions& options);
void add_plan_commands(CLI::App& root, Context& context);
void add_model_commands(CLI::App& root, Context& context);
void add_sim_command(CLI::App& root, Context& context);
void add_completion_commands(CLI::App& root, Context& context);

}  // namespace muster::cli
