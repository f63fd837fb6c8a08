#pragma once

#include <string_view>

#include "base/error.h"
#include "http/server.h"

namespace muster::http {

// A problem document whose status says more than its code's usual one, for what HTTP itself
// refuses: a method (405), a late request (408), a long header (431).
Response problem_with_status(int status, std::string_view title, const Error& error,
                             const Request& request);

}  // namespace muster::http
