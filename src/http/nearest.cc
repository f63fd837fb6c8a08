#include "http/nearest.h"

#include <algorithm>
#include <array>

namespace muster::http {

namespace {

constexpr std::size_t kLengthMax = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Optimal string alignment: Levenshtein's distance with swapped neighbours counted as one edit,
// since that is the commonest slip of all. REQUIRES: both at most kLengthMax long.
std::size_t distance(std::string_view a, std::string_view b) {
  using Row = std::array<std::size_t, kLengthMax + 1>;
  Row two_back{};
  Row back{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) back[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]);
      const char y = lower(b[j - 1]);
      row[j] = std::min({back[j] + 1, row[j - 1] + 1, back[j - 1] + (x == y ? 0u : 1u)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y) {
        row[j] = std::min(row[j], two_back[j - 2] + 1);
      }
    }
    two_back = back;
    back = row;
  }
  return back[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kLengthMax) return {};
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLengthMax) continue;
    const std::size_t allowed = std::clamp<std::size_t>(candidate.size() / 3, 1, 3);
    const std::size_t edits = distance(word, candidate);
    // Replacing every letter of a short word turns anything into anything.
    if (edits > allowed || edits >= candidate.size()) continue;
    if (best.empty() || edits < best_distance) {
      best = candidate;
      best_distance = edits;
    }
  }
  return std::string(best);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return nearest(word, std::span<const std::string_view>(views));
}

}  // namespace muster::http
