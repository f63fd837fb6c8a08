#include "model/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "model/quoted.h"

namespace muster::model {
namespace {

constexpr std::size_t kNumbersMax = 4;
constexpr std::size_t kDigitsMax = 9;

// Takes the number up to the next dot off the front.
std::uint32_t take_number(std::string_view& rest) {
  const std::size_t dot = std::min(rest.find('.'), rest.size());
  std::uint32_t number = 0;
  std::from_chars(rest.data(), rest.data() + dot, number);
  rest.remove_prefix(std::min(dot + 1, rest.size()));
  return number;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kDigitsMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string version_problem(std::string_view version) {
  std::size_t numbers = 0;
  bool good = !version.empty() && version.back() != '.';
  for (std::string_view rest = version; good && !rest.empty();) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    good = is_number(rest.substr(0, dot)) && ++numbers <= kNumbersMax;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  if (good) return {};
  return fmt::format("{} is not a version; one to {} numbers with dots are, as in '1.4.0'",
                     quoted(version), kNumbersMax);
}

int compare_versions(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::uint32_t mine = take_number(a);
    const std::uint32_t theirs = take_number(b);
    if (mine != theirs) return mine < theirs ? -1 : 1;
  }
  return 0;
}

}  // namespace muster::model
