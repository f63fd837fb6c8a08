#include "model/value_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/number.h"
#include "base/overloaded.h"
#include "model/ip_address.h"
#include "model/quoted.h"
#include "model/regex.h"

namespace muster::model {
namespace {

// Code points, so that a limit means the same in every script.
std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool is_all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view version_word(IpVersion version) {
  switch (version) {
    case IpVersion::V4:
      return "IPv4 ";
    case IpVersion::V6:
      return "IPv6 ";
    case IpVersion::Both:
      break;
  }
  return "IP ";
}

std::string_view network_example(IpVersion version) {
  return version == IpVersion::V6 ? "2001:db8::/32" : "192.0.2.0/24";
}

std::string_view address_example(IpVersion version) {
  return version == IpVersion::V6 ? "2001:db8::1" : "192.0.2.1";
}

std::string network_problem(IpVersion version, std::string_view value, const std::string& shown) {
  const std::optional<IpPrefix> network = parse_ip_prefix(value);
  if (!network || !is_version(network->address, version)) {
    return fmt::format("{} is not an {}network, as '{}' is one", shown, version_word(version),
                       network_example(version));
  }
  if (!network->length) {
    return fmt::format("{} has no prefix length; a network is written as '{}'", shown,
                       network_example(version));
  }
  if (!network->address.host_bits_are_zero(*network->length)) {
    return fmt::format("{} has bits set after the first {}; the address of a network has not",
                       shown, *network->length);
  }
  return {};
}

std::string ipv6_and_mask_problem(std::string_view value, const std::string& shown) {
  const std::optional<IpPrefix> prefix = parse_ip_prefix(value);
  const bool good = prefix && prefix->address.version == IpVersion::V6 &&
                    (!prefix->length || *prefix->length > 0);
  if (good) return {};
  return fmt::format("{} is not an IPv6 address, as '2001:db8::1' or '2001:db8::1/64' is one",
                     shown);
}

std::string not_zero_problem(std::string_view value, const std::string& shown) {
  const std::optional<IpAddress> address = parse_ip_address(value);
  if (!address || !address->is_zero()) return {};
  return fmt::format("{} is the address of no host; use another one", shown);
}

std::string length_problem(std::size_t max, std::string_view value) {
  const std::size_t count = character_count(value);
  if (count <= max) return {};
  return fmt::format("the value has {} characters; at most {} are allowed", count, max);
}

std::string range_problem(const IntegerRangeCheck& range, std::string_view value,
                          const std::string& shown) {
  const std::optional<std::int64_t> number = whole_number<std::int64_t>(value);
  if (number && *number >= range.min && *number <= range.max) return {};
  return fmt::format("{} is not a whole number from {} to {}", shown, range.min, range.max);
}

std::string restricted_problem(const std::vector<std::string>& values, std::string_view value,
                               ShowValue show) {
  if (std::find(values.begin(), values.end(), value) == values.end()) return {};
  if (show == ShowValue::No) return "the value is one of those that may not be used";
  if (values.size() == 1) return fmt::format("{} may not be used", quoted(value));
  return fmt::format("{} may not be used, as none of {} may", quoted(value), quoted_list(values));
}

std::string with_description(std::string problem, const PropertyType& type) {
  const std::string& description = type.definition.description;
  return description.empty() ? problem : fmt::format("{} ({})", problem, description);
}

std::string max_value_problem(const MaxValueCheck& check, const PropertyLookup& lookup) {
  const std::string* const value = lookup(check.property);
  const std::string* const limit = lookup(check.limit);
  if (value == nullptr || limit == nullptr) return {};
  const std::optional<std::int64_t> number = whole_number<std::int64_t>(*value);
  const std::optional<std::int64_t> most = whole_number<std::int64_t>(*limit);
  // What is no number is the business of the properties' own types.
  if (!number || !most || *number <= *most) return {};
  return fmt::format("property '{}' is {}, more than {}, which property '{}' allows",
                     check.property, *number, *most, check.limit);
}

std::string one_property_problem(const OnePropertyCheck& check, const PropertyLookup& lookup) {
  std::vector<std::string> set;
  for (const std::string& name : check.properties) {
    if (lookup(name) != nullptr) set.push_back(name);
  }
  if (set.size() == 1) return {};
  return fmt::format("exactly one of the properties {} must be set; {}",
                     quoted_list(check.properties),
                     set.empty() ? "none is" : fmt::format("{} are", quoted_list(set)));
}

}  // namespace

std::string check_problem(const ValueCheck& check, std::string_view value, ShowValue show) {
  const std::string shown = show == ShowValue::Yes ? quoted(value) : "the value";
  return std::visit(
      Overloaded{
          [&](const IntegerCheck&) {
            return whole_number<std::int64_t>(value)
                       ? std::string()
                       : fmt::format("{} is not a whole number", shown);
          },
          [&](const IntegerRangeCheck& range) { return range_problem(range, value, shown); },
          [&](const LengthCheck& length) { return length_problem(length.max, value); },
          [&](const NotEmptyCheck&) {
            const bool blank = value.find_first_not_of(" \t\n") == std::string_view::npos;
            return blank ? std::string("the value may not be empty") : std::string();
          },
          [&](const NotDigitsCheck&) {
            return is_all_digits(value)
                       ? fmt::format("{} has only digits; at least one other character is needed",
                                     shown)
                       : std::string();
          },
          [&](const NetworkCheck& network) {
            return network_problem(network.version, value, shown);
          },
          [&](const NotZeroAddressCheck&) { return not_zero_problem(value, shown); },
          [&](const IpAddressCheck& address) {
            const std::optional<IpAddress> parsed = parse_ip_address(value);
            if (parsed && is_version(*parsed, address.version)) return std::string();
            return fmt::format("{} is not an {}address, as '{}' is one", shown,
                               version_word(address.version), address_example(address.version));
          },
          [&](const Ipv6AndMaskCheck&) { return ipv6_and_mask_problem(value, shown); },
          [&](const RestrictedCheck& restricted) {
            return restricted_problem(restricted.values, value, show);
          },
          [](const PluginCheck&) { return std::string(); },
      },
      check);
}

std::string value_problem(const PropertyType& type, std::string_view value, ShowValue show) {
  if (type.regex != nullptr && !type.regex->matches(value)) {
    const std::string shown = show == ShowValue::Yes ? quoted(value) : "the value";
    const std::string& description = type.definition.description;
    if (!description.empty()) {
      return fmt::format("{} is not of type '{}': {}", shown, type.definition.id, description);
    }
    return fmt::format("{} is not of type '{}', which must match {}", shown, type.definition.id,
                       type.regex->expression());
  }
  for (const ValueCheck& check : type.definition.checks) {
    std::string problem = check_problem(check, value, show);
    if (!problem.empty()) return with_description(std::move(problem), type);
  }
  return {};
}

std::string item_problem(const ItemCheck& check, const PropertyLookup& lookup) {
  return std::visit(
      Overloaded{
          [&](const MaxValueCheck& max) { return max_value_problem(max, lookup); },
          [&](const OnePropertyCheck& one) { return one_property_problem(one, lookup); },
          [](const DirectoryCheck&) { return std::string(); },
          [](const PluginCheck&) { return std::string(); },
      },
      check);
}

}  // namespace muster::model
