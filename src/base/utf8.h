#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF.

namespace muster {

struct Character {
  char32_t value = 0;     // the byte itself where it is part of no character
  std::size_t bytes = 1;  // how many it takes
  bool valid = false;
};

// The character that `text` starts with. REQUIRES: not empty.
Character first_character(std::string_view text);

bool is_utf8(std::string_view text);

// The text itself where it is UTF-8; otherwise each byte that is part of no character becomes
// U+FFFD.
std::string to_utf8(std::string_view text);

// The longest beginning of at most `bytes_max` bytes that cuts no character in two.
std::string_view utf8_front(std::string_view text, std::size_t bytes_max);

}  // namespace muster
