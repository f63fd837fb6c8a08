#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace muster::cli {
namespace {

struct Codepoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Codepoint decode(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  std::size_t bytes = 0;
  char32_t value = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    bytes = 2;
    value = first & 0x1FU;
  } else if (first >= 0xE0 && first <= 0xEF) {
    bytes = 3;
    value = first & 0x0FU;
  } else if (first >= 0xF0 && first <= 0xF4) {
    bytes = 4;
    value = first & 0x07U;
  }
  if (bytes == 0 || text.size() < bytes) return {first, 1, false};
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {first, 1, false};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {first, 1, false};
  return {value, bytes, true};
}

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array<Range, 5> kZeroWidth = {
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}}};
constexpr std::array<Range, 9> kDoubleWidth = {{{0x1100, 0x115F},
                                                {0x2E80, 0xA4CF},
                                                {0xAC00, 0xD7A3},
                                                {0xF900, 0xFAFF},
                                                {0xFE30, 0xFE6F},
                                                {0xFF00, 0xFF60},
                                                {0xFFE0, 0xFFE6},
                                                {0x1F300, 0x1FAFF},
                                                {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t value) {
  return std::any_of(ranges.begin(), ranges.end(), [value](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

std::size_t width_of(const Codepoint& codepoint) {
  if (!codepoint.valid || codepoint.value < 0x300) return 1;
  if (is_in(kZeroWidth, codepoint.value)) return 0;
  return is_in(kDoubleWidth, codepoint.value) ? 2 : 1;
}

// The longest front of `text` that takes at most `width` columns.
std::string_view front_columns(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Codepoint codepoint = decode(text.substr(at));
    const std::size_t columns = width_of(codepoint);
    if (used + columns > width) break;
    used += columns;
    at += codepoint.bytes;
  }
  return text.substr(0, at);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Codepoint codepoint = decode(text);
    width += width_of(codepoint);
    text.remove_prefix(codepoint.bytes);
  }
  return width;
}

std::string fit(std::string_view text, std::size_t width, bool utf8) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view ellipsis = utf8 ? "…" : "...";
  const std::size_t ellipsis_width = utf8 ? 1 : 3;
  if (width <= ellipsis_width) return std::string(front_columns(text, width));
  return std::string(front_columns(text, width - ellipsis_width)) + std::string(ellipsis);
}

std::string pad(std::string_view text, std::size_t width) {
  std::string padded(text);
  const std::size_t used = display_width(text);
  if (used < width) padded.append(width - used, ' ');
  return padded;
}

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Codepoint codepoint = decode(text);
    if (!codepoint.valid) {
      safe += '?';
    } else if (codepoint.value == '\n' || codepoint.value == '\r' || codepoint.value == '\t') {
      safe += ' ';
    } else if (codepoint.value < 0x20 || (codepoint.value >= 0x7F && codepoint.value < 0xA0)) {
      safe += '?';
    } else {
      safe += text.substr(0, codepoint.bytes);
    }
    text.remove_prefix(codepoint.bytes);
  }
  return safe;
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  constexpr std::size_t kWordMax = 64;  // longer ones are no slip of the finger
  if (word.empty() || word.size() > kWordMax) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const bool is_start = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t distance = is_start ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::vector<std::string> tail_lines(std::string_view text, std::size_t lines, std::size_t columns) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::vector<std::string> found;
  while (!text.empty() && found.size() < lines) {
    const std::size_t newline = text.rfind('\n');
    std::string_view line = newline == std::string_view::npos ? text : text.substr(newline + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    found.push_back(std::string(front_columns(printable(line), columns)));
    text = newline == std::string_view::npos ? std::string_view() : text.substr(0, newline);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::string format_elapsed(Duration duration) {
  if (duration.us < 0) duration.us = 0;
  if (duration < Duration::seconds(10)) return fmt::format("{:.1f}s", duration.as_seconds());
  return format_age(duration);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace muster::cli
