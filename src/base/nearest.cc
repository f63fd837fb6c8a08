#include "base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/ascii.h"

namespace muster {
namespace {

constexpr std::size_t kWordMax = 64;
constexpr std::size_t kStartMin = 3;  // a shorter one is the start of too much

// Optimal string alignment distance. REQUIRES: both words have at most kWordMax bytes.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, kWordMax + 1>, 3> rows{};
  auto* before = &rows[0];
  auto* last = &rows[1];
  auto* current = &rows[2];
  for (std::size_t j = 0; j <= b.size(); ++j) (*last)[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    (*current)[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = to_lower(a[i - 1]) == to_lower(b[j - 1]);
      std::size_t best = (*last)[j - 1] + (same ? 0 : 1);
      best = std::min({best, (*last)[j] + 1, (*current)[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && to_lower(a[i - 1]) == to_lower(b[j - 2]) &&
                           to_lower(a[i - 2]) == to_lower(b[j - 1]);
      if (swapped) best = std::min(best, (*before)[j - 2] + 1);
      (*current)[j] = best;
    }
    std::swap(before, last);
    std::swap(last, current);
  }
  return (*last)[b.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kWordMax) return {};
  std::string_view nearest;
  // A third of the word may be wrong; more than that is another word.
  std::size_t bound = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    if (candidate.empty() || candidate.size() > kWordMax) continue;
    const bool unfinished = word.size() >= kStartMin && candidate.starts_with(word);
    const std::size_t found = unfinished ? std::min<std::size_t>(1, candidate.size() - word.size())
                                         : distance(word, candidate);
    if (found < bound && found < candidate.size()) {
      bound = found;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_word(word, known);
  return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace muster
