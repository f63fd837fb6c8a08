#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/api_client.h"
#include "cli/context.h"

namespace muster::cli {

struct EventOptions {
  bool follow = false;
  std::optional<std::uint64_t> after;
  std::string type;  // prefix
  std::string subject;
  std::uint32_t last = 20;  // where `after` is not given: how many of the latest
};

// `muster events`. Following goes on over lost connections, without a gap, until Ctrl-C.
Outcome<ExitCode> print_events(Context& context, ApiClient& client, const EventOptions& options);

}  // namespace muster::cli
