#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/failure.h"

// Flags whose text becomes a value; an empty text leaves the value as it is.

namespace muster::cli {

Outcome<void> set_duration(Duration& value, const std::string& text, std::string_view option);
// Octal permissions, "0660".
Outcome<void> set_mode(unsigned& value, const std::string& text, std::string_view option);

}  // namespace muster::cli
