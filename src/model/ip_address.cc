#include "model/ip_address.h"

#include "base/number.h"

#include <algorithm>

namespace muster::model {
namespace {

// A number without sign, leading zero or anything else around it.
std::optional<unsigned> parse_plain_number(std::string_view text, unsigned max) {
  if (text.empty() || text.size() > 3 || (text.size() > 1 && text.front() == '0')) return {};
  const std::optional<unsigned> number = whole_number<unsigned>(text);
  return number && *number <= max ? number : std::nullopt;
}

bool parse_v4(std::string_view text, std::uint8_t* bytes) {
  for (int i = 0; i < 4; ++i) {
    const std::size_t dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return false;
    const std::optional<unsigned> octet = parse_plain_number(text.substr(0, dot), 255);
    if (!octet) return false;
    bytes[i] = static_cast<std::uint8_t>(*octet);
    text.remove_prefix(i < 3 ? dot + 1 : dot);
  }
  return true;
}

std::optional<std::uint16_t> parse_group(std::string_view text) {
  if (text.empty() || text.size() > 4) return {};
  return whole_number<std::uint16_t>(text, 16);
}

// Groups with ':' between them, the last perhaps an IPv4 address, into `bytes`; how many bytes, or
// nothing if they are wrong or more than 16.
std::optional<std::size_t> parse_groups(std::string_view text, std::uint8_t* bytes) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    if (colon == std::string_view::npos && part.find('.') != std::string_view::npos) {
      if (count > 12 || !parse_v4(part, bytes + count)) return {};
      return count + 4;
    }
    const std::optional<std::uint16_t> group = parse_group(part);
    if (!group || count > 14) return {};
    bytes[count++] = static_cast<std::uint8_t>(*group >> 8);
    bytes[count++] = static_cast<std::uint8_t>(*group & 0xFF);
    if (colon == std::string_view::npos) return count;
    text.remove_prefix(colon + 1);
    if (text.empty()) return {};  // a colon with nothing after it
  }
  return count;
}

bool parse_v6(std::string_view text, std::array<std::uint8_t, 16>& bytes) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) {
    return !text.empty() && parse_groups(text, bytes.data()) == std::size_t{16};
  }
  std::array<std::uint8_t, 16> head{};
  std::array<std::uint8_t, 16> tail{};
  const std::string_view before = text.substr(0, gap);
  if (before.find('.') != std::string_view::npos) return false;
  const std::optional<std::size_t> front = parse_groups(before, head.data());
  const std::optional<std::size_t> back = parse_groups(text.substr(gap + 2), tail.data());
  // "::" stands for at least one group.
  if (!front || !back || *front + *back > 14) return false;
  std::copy_n(head.begin(), *front, bytes.begin());
  std::copy_n(tail.begin(), *back, bytes.end() - static_cast<std::ptrdiff_t>(*back));
  return true;
}

}  // namespace

bool IpAddress::is_zero() const {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

bool IpAddress::host_bits_are_zero(unsigned prefix) const {
  for (unsigned bit = prefix; bit < bits(); ++bit) {
    if ((bytes[bit / 8] & (0x80U >> (bit % 8))) != 0) return false;
  }
  return true;
}

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  IpAddress address;
  if (parse_v4(text, address.bytes.data())) return address;
  address = {.version = IpVersion::V6};
  if (parse_v6(text, address.bytes)) return address;
  return std::nullopt;
}

std::optional<IpPrefix> parse_ip_prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<IpAddress> address = parse_ip_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return IpPrefix{*address, std::nullopt};
  const std::optional<unsigned> length =
      parse_plain_number(text.substr(slash + 1), address->bits());
  if (!length) return std::nullopt;
  return IpPrefix{*address, length};
}

bool is_version(const IpAddress& address, IpVersion wanted) {
  return wanted == IpVersion::Both || address.version == wanted;
}

}  // namespace muster::model
