#pragma once

#include <algorithm>
#include <string_view>

// Names of headers and the like, whose case does not count. ASCII only, whatever the locale.

namespace muster::http {

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace muster::http
