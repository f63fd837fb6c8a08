#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace muster {

// All of the text as a number of this type: no sign but '-', no space, nothing behind it.
template <typename Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number, base);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace muster
