#pragma once

#include <string>
#include <string_view>

// Protobuf refuses a message with a `string` field that is not UTF-8, and the peer would end the
// stream over it. Text that comes from a process (a reason, an output) is therefore repaired before
// it is sent.

namespace muster::rpc {

bool is_utf8(std::string_view text);

// The text itself where it is UTF-8; otherwise each byte that is part of no character becomes
// U+FFFD.
std::string to_utf8(std::string_view text);

}  // namespace muster::rpc
