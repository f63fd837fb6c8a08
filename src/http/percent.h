#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::http {

// Strict percent-decoding: every '%' must be followed by two hex digits, or there is no result.
// In a query '+' stands for a space; in a path it stands for itself.
enum class PlusIs { Plus, Space };
std::optional<std::string> percent_decode(std::string_view text, PlusIs plus);

}  // namespace muster::http
