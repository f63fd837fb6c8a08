#include "rpc/utf8.h"

#include <cstddef>
#include <cstdint>

namespace muster::rpc {
namespace {

// Bytes of the character that `text` starts with; 0 where there is none. The first continuation
// byte has narrower bounds after some lead bytes: that shuts out overlong forms, surrogates and
// what lies beyond U+10FFFF.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t size = 0;
  if (lead >= 0xC2 && lead <= 0xDF) size = 2;
  if (lead >= 0xE0 && lead <= 0xEF) size = 3;
  if (lead >= 0xF0 && lead <= 0xF4) size = 4;
  if (size == 0 || text.size() < size) return 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return size;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string result;
  result.reserve(text.size() + 16);
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) {
      result += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      result += text.substr(0, size);
      text.remove_prefix(size);
    }
  }
  return result;
}

}  // namespace muster::rpc
