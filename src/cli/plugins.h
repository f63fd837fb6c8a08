#pragma once

#include <string>

#include "cli/context.h"
#include "pack/shipped.h"

// Plugins, from the folders of their packs; no controller is asked.

namespace muster::cli {

struct PluginTestOptions {
  pack::PackOptions packs;  // `extra` has the one folder that is tested
  std::uint32_t timeout_seconds = 60;
  std::uint32_t memory_mib = 2048;
};

// Runs the contract test kit and prints one line for each test.
Outcome<ExitCode> test_plugin(Context& context, const PluginTestOptions& options);
// Prints the item types as plugins are told them, for tests of a plugin.
Outcome<ExitCode> print_plugin_types(Context& context, const pack::PackOptions& options);

}  // namespace muster::cli
