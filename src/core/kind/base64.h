#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::core {

// Decodes standard base64 (RFC 4648 section 4). Padding is required and unused bits must be zero,
// so that every text has one meaning; no white space. Nothing: `text` is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace muster::core
