#include "base/utf8.h"

#include <cstdint>

namespace muster {

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const Character invalid{lead, 1, false};
  std::size_t size = 0;
  if (lead >= 0xC2 && lead <= 0xDF) size = 2;
  if (lead >= 0xE0 && lead <= 0xEF) size = 3;
  if (lead >= 0xF0 && lead <= 0xF4) size = 4;
  if (size == 0 || text.size() < size) return invalid;
  // The second byte has narrower bounds after some lead bytes: that shuts out overlong forms,
  // surrogates and what lies beyond U+10FFFF.
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (byte(1) < low || byte(1) > high) return invalid;
  char32_t value = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return invalid;
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  return {value, size, true};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.valid) return false;
    text.remove_prefix(character.bytes);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string result;
  result.reserve(text.size() + 16);
  while (!text.empty()) {
    const Character character = first_character(text);
    result += character.valid ? text.substr(0, character.bytes) : "\xEF\xBF\xBD";
    text.remove_prefix(character.bytes);
  }
  return result;
}

std::string_view utf8_front(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

}  // namespace muster
