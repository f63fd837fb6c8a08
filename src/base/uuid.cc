#include "base/uuid.h"

#include "base/check.h"
#include "base/hex.h"

namespace muster {
namespace {

bool is_dash_position(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

}  // namespace

Uuid Uuid::v4(std::uint64_t random_high, std::uint64_t random_low) {
  Uuid id;
  for (std::size_t i = 0; i < 8; ++i) {
    id.bytes_[i] = static_cast<std::uint8_t>(random_high >> (8 * (7 - i)));
    id.bytes_[8 + i] = static_cast<std::uint8_t>(random_low >> (8 * (7 - i)));
  }
  id.bytes_[6] = static_cast<std::uint8_t>(0x40 | (id.bytes_[6] & 0x0f));
  id.bytes_[8] = static_cast<std::uint8_t>(0x80 | (id.bytes_[8] & 0x3f));
  return id;
}

Result<Uuid> Uuid::parse(std::string_view text) {
  const auto invalid = [&] {
    return fail(ErrorCode::InvalidValue, "'{}' is not a UUID", text.substr(0, 64));
  };
  if (text.size() != 36) return invalid();
  Uuid id;
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_position(i)) {
      if (text[i] != '-') return invalid();
      continue;
    }
    const int value = hex_value(text[i]);
    if (value < 0) return invalid();
    auto& byte = id.bytes_[nibble / 2];
    byte = static_cast<std::uint8_t>((byte << 4) | value);
    ++nibble;
  }
  return id;
}

Uuid Uuid::from_bytes(std::string_view bytes) {
  MUSTER_CHECK(bytes.size() == kSize, "a UUID has {} bytes, not {}", kSize, bytes.size());
  Uuid id;
  std::memcpy(id.bytes_.data(), bytes.data(), kSize);
  return id;
}

std::string Uuid::to_string() const {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(36, '-');
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_position(i)) continue;
    const std::uint8_t byte = bytes_[nibble / 2];
    text[i] = kDigits[nibble % 2 == 0 ? byte >> 4 : byte & 0x0f];
    ++nibble;
  }
  return text;
}

std::string Uuid::short_id() const { return to_string().substr(0, 8); }

}  // namespace muster
