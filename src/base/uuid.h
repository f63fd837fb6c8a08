#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

// A 128-bit UUID. New ones are version 4: random from the first digit, so that a short prefix
// already tells two apart, which is what people type. Randomness is an input.
class Uuid {
 public:
  static constexpr std::size_t kSize = 16;

  constexpr Uuid() = default;
  static Uuid v4(std::uint64_t random_high, std::uint64_t random_low);
  // From the 36-character form, any case.
  static Result<Uuid> parse(std::string_view text);
  // REQUIRES: bytes.size() == kSize
  static Uuid from_bytes(std::string_view bytes);

  std::string to_string() const;
  // The first 8 hex digits.
  std::string short_id() const;
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  bool is_nil() const { return *this == Uuid(); }

  auto operator<=>(const Uuid&) const = default;

 private:
  std::array<std::uint8_t, kSize> bytes_{};
};

}  // namespace muster

template <>
struct std::hash<muster::Uuid> {
  std::size_t operator()(const muster::Uuid& id) const noexcept {
    // Callers may choose their ids, so both halves count: ids that differ only in their first or
    // only in their last digits must not collide.
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::memcpy(&high, id.bytes().data(), sizeof high);
    std::memcpy(&low, id.bytes().data() + 8, sizeof low);
    std::uint64_t mixed = high * 0x9e3779b97f4a7c15ULL ^ low;
    mixed ^= mixed >> 29;
    return mixed * 0xbf58476d1ce4e5b9ULL;
  }
};
