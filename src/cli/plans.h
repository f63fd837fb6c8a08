#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/api_client.h"
#include "cli/context.h"

// `muster plan` and `muster plans`: what it takes to make the hosts what the model says.

namespace muster::cli {

struct PlanOptions {
  std::string why;
  bool no_lock = false;
  std::vector<std::string> no_lock_clusters;  // paths
  bool initial_locks = false;
  bool detailed_exitcode = false;
  std::string graph;  // dot or svg; empty: text
};

Outcome<ExitCode> create_plan(Context& context, ApiClient& client, const PlanOptions& options);
Outcome<ExitCode> list_plans(Context& context, ApiClient& client);
// Of these two, 0 means the newest plan.
Outcome<ExitCode> show_plan(Context& context, ApiClient& client, std::uint64_t id,
                            const std::string& graph);
Outcome<ExitCode> explain_task(Context& context, ApiClient& client, std::uint64_t id,
                               const std::string& task);
Outcome<ExitCode> diff_plans(Context& context, ApiClient& client, std::uint64_t before,
                             std::uint64_t after);
Outcome<ExitCode> remove_plan(Context& context, ApiClient& client, std::uint64_t id);

}  // namespace muster::cli
