#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace muster::cli {
namespace {

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

std::size_t width_of(const Character& character) {
  if (!character.valid || character.value < 0x300) return 1;
  if (is_in(kZeroWidth, character.value)) return 0;
  return is_in(kDoubleWidth, character.value) ? 2 : 1;
}

// The longest front of `text` that takes at most `width` columns.
std::string_view front_columns(std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Character character = first_character(text.substr(at));
    const std::size_t columns = width_of(character);
    if (used + columns > width) break;
    used += columns;
    at += character.bytes;
  }
  return text.substr(0, at);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += width_of(character);
    text.remove_prefix(character.bytes);
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
    const Character character = first_character(text);
    if (!character.valid) {
      safe += '?';
    } else if (character.value == '\n' || character.value == '\r' || character.value == '\t') {
      safe += ' ';
    } else if (character.value < 0x20 || (character.value >= 0x7F && character.value < 0xA0)) {
      safe += '?';
    } else {
      safe += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return safe;
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

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace muster::cli
