#pragma once

#include <algorithm>
#include <string>
#include <string_view>

// Upper and lower case of ASCII, whatever the locale.

namespace muster {

inline char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), to_lower);
  return text;
}

inline bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

}  // namespace muster
