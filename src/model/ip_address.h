#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/definition.h"

// IP addresses and networks as people write them. A zone ("%eth0") is not part of an address, and
// an octet with a leading zero is refused, because readers disagree on whether it is octal.

namespace muster::model {

struct IpAddress {
  IpVersion version = IpVersion::V4;     // V4 or V6
  std::array<std::uint8_t, 16> bytes{};  // of V4 the first four

  unsigned bits() const { return version == IpVersion::V4 ? 32 : 128; }
  bool is_zero() const;
  // All bits after the first `prefix` are zero.
  bool host_bits_are_zero(unsigned prefix) const;

  bool operator==(const IpAddress&) const = default;
};

std::optional<IpAddress> parse_ip_address(std::string_view text);

struct IpPrefix {
  IpAddress address;
  std::optional<unsigned> length;  // nothing: there was no "/"
};

// "10.0.0.0/8" or "10.0.0.0"; the length fits the version.
std::optional<IpPrefix> parse_ip_prefix(std::string_view text);

bool is_version(const IpAddress& address, IpVersion wanted);

}  // namespace muster::model
