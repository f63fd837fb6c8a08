#pragma once

#include <string>
#include <string_view>

namespace muster {

// Of a hexadecimal digit in either case; -1 of anything else.
int hex_value(char digit);

// Two lower-case digits a byte.
std::string to_hex(std::string_view bytes);

}  // namespace muster
