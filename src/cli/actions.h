#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/api_client.h"
#include "cli/context.h"

// The commands on actions other than submit and wait.

namespace muster::cli {

struct ListOptions {
  std::vector<std::string> status;
  std::vector<std::string> target;
  std::vector<std::string> name;
  std::vector<std::string> kind;
  std::uint32_t limit = 50;
  std::string sort = "created_at:desc";
  std::string marker;
  bool all_pages = false;
};

struct SignalOptions {
  std::string ref;
  std::string signal;
  std::string reason;
  bool force = false;
  std::string if_match;  // a revision
};

struct DecideOptions {
  std::string ref;
  bool approve = true;
  std::string reason;
  std::string if_match;
};

struct LogOptions {
  std::string ref;
  bool follow = false;
  std::optional<std::uint32_t> attempt;
  std::uint64_t offset = 0;
};

Outcome<ExitCode> list_actions(Context& context, ApiClient& client, const ListOptions& options);
Outcome<ExitCode> show_action(Context& context, ApiClient& client, const std::string& ref);
Outcome<ExitCode> signal_action(Context& context, ApiClient& client, const SignalOptions& options);
Outcome<ExitCode> decide_action(Context& context, ApiClient& client, const DecideOptions& options);
Outcome<ExitCode> explain_action(Context& context, ApiClient& client, const std::string& ref);

// Writes the output of an action to stdout as it is. When following, a lost connection is made
// again from the byte where it broke.
Outcome<ExitCode> print_logs(Context& context, ApiClient& client, const LogOptions& options);

}  // namespace muster::cli
