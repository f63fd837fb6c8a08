#include "core/kind/base64.h"

#include <cstddef>
#include <cstdint>

namespace muster::core {
namespace {

// The six bits that a character stands for, or -1.
int bits_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  if (text.ends_with("==")) {
    padding = 2;
  } else if (text.ends_with('=')) {
    padding = 1;
  }
  text.remove_suffix(padding);

  std::string decoded;
  decoded.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t pending = 0;
  int pending_bits = 0;
  for (const char c : text) {
    const int bits = bits_of(c);
    if (bits < 0) return std::nullopt;
    pending = (pending << 6) | static_cast<std::uint32_t>(bits);
    pending_bits += 6;
    if (pending_bits >= 8) {
      pending_bits -= 8;
      decoded.push_back(static_cast<char>((pending >> pending_bits) & 0xFFU));
    }
  }
  const std::uint32_t unused = pending & ((1U << pending_bits) - 1U);
  if (unused != 0) return std::nullopt;
  return decoded;
}

}  // namespace muster::core
