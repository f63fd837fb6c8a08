#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/api_client.h"
#include "cli/context.h"

// `muster actions submit`: from flags or a file to a request, and what follows.

namespace muster::cli {

struct SubmitOptions {
  std::string kind;
  std::string file;  // "-": stdin; excludes everything that describes one action
  std::string target;
  std::vector<std::string> inputs;  // key=value
  std::string inputs_json;
  std::string name;
  std::string id;
  std::vector<std::string> depends_on;
  std::vector<std::string> depended_by;
  std::string timeout;
  std::string queue_timeout;
  std::string interval;
  std::string misfire;
  std::string start_time;
  std::string stop_time;
  std::optional<std::uint32_t> retries;
  std::string backoff;
  std::string max_backoff;
  bool approval = false;
  std::optional<std::uint32_t> approvers;
  std::string approval_expires;
  bool allow_requester = false;
  bool hold = false;
  std::string context_json;
  std::string idempotency_key;
  bool detach = false;
  std::string wait_timeout;
};

// One action from the flags. `argv` is what stood after "--" and makes the argv of an exec.
Outcome<Json> action_from_flags(const SubmitOptions& options,
                                const std::optional<std::vector<std::string>>& argv, Timestamp now);

// The request body from a JSON or YAML text: {action: {...}}, {actions: [...]}, one bare action, or
// a list of them.
Outcome<Json> body_from_text(std::string_view text);

// An RFC 3339 time, or "+DURATION" from now. Answers with RFC 3339.
Result<std::string> read_time(std::string_view text, Timestamp now, std::string_view option);

Outcome<ExitCode> submit(Context& context, ApiClient& client, const SubmitOptions& options);

}  // namespace muster::cli
