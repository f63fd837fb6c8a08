#pragma once

#include "cli/api_client.h"
#include "cli/context.h"

// Commands about the controller as a whole.

namespace muster::cli {

inline constexpr std::string_view kVersion = MUSTER_VERSION;

Outcome<ExitCode> show_status(Context& context, ApiClient& client);
Outcome<ExitCode> list_kinds(Context& context, ApiClient& client);
// Records that cannot be read and were set aside.
Outcome<ExitCode> list_quarantine(Context& context, ApiClient& client);
// Of this program, and of the controller where one answers.
Outcome<ExitCode> show_version(Context& context);

}  // namespace muster::cli
