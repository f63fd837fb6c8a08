#pragma once

#include <string>
#include <vector>

#include "cli/api_client.h"
#include "cli/context.h"
#include "cli/waiter.h"
#include "cli/watch_set.h"

// `muster actions wait`, and what submit does once the actions exist.

namespace muster::cli {

struct WaitCommandOptions {
  std::vector<std::string> refs;
  std::string timeout;
  bool no_wait_approval = false;
};

Outcome<ExitCode> wait(Context& context, ApiClient& client, const WaitCommandOptions& options);

// Waits for the actions of `set` with live progress and reports how each ended.
Outcome<ExitCode> wait_and_report(Context& context, ApiClient& client, WatchSet& set,
                                  const WaitOptions& options);

// "muster actions wait ID..."
std::string wait_command_for(const std::vector<std::string>& ids);

}  // namespace muster::cli
