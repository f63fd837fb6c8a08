#include "cli/commands.h"
#include "cli/plugins.h"

namespace muster::cli {

void add_plugin_commands(CLI::App& root, Context& context) {
  CLI::App* plugins = add_command(root, "plugins", "Test plugins while they are being written",
                                  "  muster plugin test ./my-pack\n"
                                  "  muster plugin types ./my-pack > types.json\n");
  plugins->alias("plugin");
  plugins->require_subcommand(1);

  CLI::App* test = add_command(*plugins, "test",
                               "Run the contract test kit against a pack's plugin; needs no "
                               "controller",
                               "  muster plugin test ./my-pack\n"
                               "  muster plugin test ./my-pack -o json\n");
  auto options = std::make_shared<PluginTestOptions>();
  test->add_option("dir", options->packs.extra, "The folder of the pack")
      ->required()
      ->expected(1)
      ->type_name("DIR");
  test->add_option("--timeout", options->timeout_seconds,
                   "Seconds that a call may take (default 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 3600).description(""));
  test->add_option("--memory", options->memory_mib,
                   "Mebibytes that the plugin may use (default 2048)")
      ->type_name("MIB")
      ->check(CLI::Range(16, 1 << 20).description(""));
  add_pack_options(*test, options->packs);
  on_run(test, context, [&context, options] { return test_plugin(context, *options); });

  CLI::App* types =
      add_command(*plugins, "types", "Print the item types as a plugin is told them, for its tests",
                  "  muster plugin types ./my-pack > types.json\n");
  auto shown = std::make_shared<pack::PackOptions>();
  types->add_option("dir", shown->extra, "The folder of the pack")
      ->required()
      ->expected(1)
      ->type_name("DIR");
  add_pack_options(*types, *shown);
  on_run(types, context, [&context, shown] { return print_plugin_types(context, *shown); });
}

}  // namespace muster::cli
