#include "model/value_check.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "model/ip_address.h"
#include "model/regex.h"
#include "model/version.h"

namespace muster::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  ValueCheck check;
  std::vector<std::string> right;
  std::vector<std::string> wrong;
};

TEST(ValueCheck, HoldsForWhatIsRightAndNamesWhatIsWrong) {
  const std::vector<Case> cases = {
      {IntegerCheck{},
       {"0", "-1", "007", "9223372036854775807"},
       {"", "1.5", "+1", " 1", "1 ", "0x1", "one", "9223372036854775808"}},
      {IntegerRangeCheck{-2, 10}, {"-2", "0", "10", "010"}, {"-3", "11", "", "ten"}},
      {NotEmptyCheck{}, {"a", " a"}, {"", "  ", "\t\n"}},
      {NotDigitsCheck{}, {"", "a1", "1a", "-1"}, {"0", "123"}},
      {NetworkCheck{IpVersion::V4},
       {"10.0.0.0/8", "0.0.0.0/0", "192.0.2.1/32"},
       {"10.0.0.0", "10.0.0.1/8", "2001:db8::/32", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/08"}},
      {NetworkCheck{IpVersion::V6},
       {"2001:db8::/32", "::/0"},
       {"2001:db8::1/32", "10.0.0.0/8", "2001:db8::/129", "2001:db8::"}},
      {NetworkCheck{IpVersion::Both}, {"2001:db8::/32", "10.0.0.0/8"}, {"x", "/8"}},
      {NotZeroAddressCheck{}, {"10.0.0.1", "::1", "not an address"}, {"0.0.0.0", "::", "0::0"}},
      {IpAddressCheck{IpVersion::V4}, {"10.0.0.1"}, {"::1", "10.0.0", "10.0.0.01", "10.0.0.1/8"}},
      {IpAddressCheck{IpVersion::V6},
       {"::1", "::ffff:10.0.0.1"},
       {"10.0.0.1", "::1%eth0", "1::2::3"}},
      {IpAddressCheck{IpVersion::Both}, {"::1", "10.0.0.1"}, {"", "host"}},
      {Ipv6AndMaskCheck{},
       {"fe80::1", "fe80::1/64", "::1/128"},
       {"fe80::1/0", "fe80::1/129", "10.0.0.1/8", "fe80::1/"}},
      {RestrictedCheck{{"root", "muster"}}, {"Root", ""}, {"root", "muster"}},
  };
  for (const Case& c : cases) {
    for (const std::string& value : c.right) {
      EXPECT_EQ(check_problem(c.check, value), "") << c.check.index();
    }
    for (const std::string& value : c.wrong) {
      EXPECT_NE(check_problem(c.check, value), "") << c.check.index() << " " << value;
      EXPECT_THAT(check_problem(c.check, value, ShowValue::No), Not(HasSubstr("'" + value + "'")));
    }
  }
}

TEST(ValueCheck, CountsCharactersNotBytes) {
  EXPECT_EQ(check_problem(LengthCheck{3}, "äöü"), "");
  EXPECT_EQ(check_problem(LengthCheck{3}, "äöüß"),
            "the value has 4 characters; at most 3 are allowed");
}

PropertyType type_of(PropertyTypeDefinition definition) {
  std::shared_ptr<const Regex> regex;
  if (definition.regex) regex = *Regex::compile(*definition.regex);
  return {std::move(definition), "core", regex};
}

TEST(ValueProblem, TriesTheRegexFirstAndStopsAtTheFirstFailure) {
  PropertyTypeDefinition definition;
  definition.id = "port";
  definition.regex = "[0-9]+";
  definition.description = "a port is a number from 1 to 65535";
  definition.checks = {IntegerRangeCheck{1, 65535}, RestrictedCheck{{"22", "70000"}}};
  const PropertyType type = type_of(definition);
  EXPECT_EQ(value_problem(type, "80"), "");
  EXPECT_EQ(value_problem(type, "x80"),
            "'x80' is not of type 'port': a port is a number from 1 to 65535");
  EXPECT_EQ(value_problem(type, "70000"),
            "'70000' is not a whole number from 1 to 65535 (a port is a number from 1 to 65535)");
  EXPECT_THAT(value_problem(type, "22"), HasSubstr("'22' may not be used"));
}

TEST(ValueProblem, TheRegexMatchesTheWholeValue) {
  PropertyTypeDefinition definition;
  definition.id = "word";
  definition.regex = "a|ab";
  const PropertyType type = type_of(definition);
  EXPECT_EQ(value_problem(type, "ab"), "");
  EXPECT_EQ(value_problem(type, "abc"), "'abc' is not of type 'word', which must match a|ab");
  EXPECT_NE(value_problem(type, "a\n"), "");
}

TEST(ValueProblem, KeepsASecretAndCutsALongValue) {
  PropertyTypeDefinition definition;
  definition.id = "pin";
  definition.regex = "[0-9]{4}";
  const PropertyType type = type_of(definition);
  EXPECT_THAT(value_problem(type, "hunter2", ShowValue::No), Not(HasSubstr("hunter2")));
  const std::string problem = value_problem(type, std::string(100'000, 'x') + "\n");
  EXPECT_LT(problem.size(), 200U);
  EXPECT_EQ(value_problem(type, "a\nb").find('\n'), std::string::npos);
}

TEST(ValueProblem, AnExpressionThatBacktrackersFearTakesNoTime) {
  const auto regex = Regex::compile("(a*)*b");
  ASSERT_TRUE(regex);
  EXPECT_FALSE((*regex)->matches(std::string(100'000, 'a')));
}

TEST(ItemProblem, ComparesPropertiesOfAnItem) {
  std::map<std::string, std::string, std::less<>> properties = {{"used", "7"}, {"size", "5"}};
  const PropertyLookup lookup = [&](std::string_view name) -> const std::string* {
    const auto found = properties.find(name);
    return found == properties.end() ? nullptr : &found->second;
  };
  EXPECT_EQ(item_problem(MaxValueCheck{"used", "size"}, lookup),
            "property 'used' is 7, more than 5, which property 'size' allows");
  EXPECT_EQ(item_problem(MaxValueCheck{"size", "used"}, lookup), "");
  EXPECT_EQ(item_problem(MaxValueCheck{"used", "none"}, lookup), "");
  EXPECT_EQ(item_problem(OnePropertyCheck{{"used", "none"}}, lookup), "");
  EXPECT_EQ(item_problem(OnePropertyCheck{{"used", "size"}}, lookup),
            "exactly one of the properties 'used' and 'size' must be set; 'used' and 'size' are");
  EXPECT_EQ(item_problem(OnePropertyCheck{{"none", "nil"}}, lookup),
            "exactly one of the properties 'none' and 'nil' must be set; none is");
}

TEST(Version, ComparesNumberByNumber) {
  EXPECT_EQ(compare_versions("1.2", "1.2.0"), 0);
  EXPECT_EQ(compare_versions("1.10", "1.9"), 1);
  EXPECT_EQ(compare_versions("0.9.9", "1"), -1);
  EXPECT_EQ(compare_versions("", "0"), 0);
  for (const char* good : {"1", "1.2", "1.2.3.4", "0.0"}) EXPECT_EQ(version_problem(good), "");
  for (const char* bad :
       {"", ".", "1.", ".1", "1..2", "1.2.3.4.5", "v1", "1.2-rc1", "-1", "9999999999"}) {
    EXPECT_NE(version_problem(bad), "") << bad;
  }
}

// --- Properties: the system's own reader of addresses is the oracle. ---

bool system_reads(int family, const std::string& text, std::array<std::uint8_t, 16>& bytes) {
  bytes = {};
  return inet_pton(family, text.c_str(), bytes.data()) == 1;
}

void agrees_with_system(const std::string& text) {
  std::array<std::uint8_t, 16> v4{};
  std::array<std::uint8_t, 16> v6{};
  const bool is_v4 = system_reads(AF_INET, text, v4);
  const bool is_v6 = system_reads(AF_INET6, text, v6);
  const std::optional<IpAddress> ours = parse_ip_address(text);
  RC_TAG(is_v4 ? "v4" : is_v6 ? "v6" : "neither");
  RC_ASSERT(ours.has_value() == (is_v4 || is_v6));
  if (!ours) return;
  RC_ASSERT(ours->version == (is_v4 ? IpVersion::V4 : IpVersion::V6));
  RC_ASSERT(ours->bytes == (is_v4 ? v4 : v6));
}

// Text that is nearly an address: pieces of addresses in any order.
rc::Gen<std::string> nearly_an_address() {
  const auto piece = rc::gen::element<std::string>(
      "1", "255", "256", "0", "01", ".", ":", "::", "a", "FFFF", "12345", "10.0.0.1", "g", "/");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& part : pieces) text += part;
                        return text;
                      });
}

RC_GTEST_PROP(IpAddressProp, AgreesWithTheSystemOnNearlyAddresses, ()) {
  agrees_with_system(*nearly_an_address());
}

RC_GTEST_PROP(IpAddressProp, AgreesWithTheSystemOnGroups, ()) {
  const auto groups = *rc::gen::container<std::vector<std::uint16_t>>(
      *rc::gen::inRange(6, 10), rc::gen::arbitrary<std::uint16_t>());
  const int gap = *rc::gen::inRange(-1, 10);
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (static_cast<int>(i) == gap) {
      text += text.empty() ? "::" : ":";
    }
    text += fmt::format("{:x}{}", groups[i], i + 1 < groups.size() ? ":" : "");
  }
  agrees_with_system(text);
}

RC_GTEST_PROP(IpAddressProp, ReadsWhatTheSystemWrites,
              (const std::array<std::uint8_t, 16>& bytes, bool v6)) {
  char text[INET6_ADDRSTRLEN] = {};
  ASSERT_NE(inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text), nullptr);
  agrees_with_system(text);
}

// A network is right exactly if it is its own address masked, computed here on a whole number.
RC_GTEST_PROP(NetworkProp, HostBitsAreZero, (std::uint32_t address)) {
  const auto prefix = *rc::gen::inRange<std::uint32_t>(0, 34);
  const bool mask_first = *rc::gen::arbitrary<bool>();
  const std::uint32_t mask = prefix == 0 ? 0 : prefix >= 32 ? ~0U : ~0U << (32 - prefix);
  if (mask_first) address &= mask;
  const std::string text = fmt::format("{}.{}.{}.{}/{}", address >> 24, (address >> 16) & 255,
                                       (address >> 8) & 255, address & 255, prefix);
  const bool right = prefix <= 32 && (address & ~mask) == 0;
  RC_TAG(right);
  RC_ASSERT(check_problem(NetworkCheck{IpVersion::V4}, text).empty() == right);
}

RC_GTEST_PROP(NetworkProp, HostBitsOfVersion6AreZero, (std::array<std::uint8_t, 16> bytes)) {
  const auto prefix = *rc::gen::inRange<unsigned>(0, 130);
  if (*rc::gen::arbitrary<bool>()) {
    for (unsigned bit = prefix; bit < 128; ++bit) {
      bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] & ~(0x80U >> (bit % 8)));
    }
  }
  bool zero = true;
  for (unsigned bit = prefix; bit < 128; ++bit) {
    zero = zero && (bytes[bit / 8] >> (7 - bit % 8) & 1) == 0;
  }
  char text[INET6_ADDRSTRLEN] = {};
  ASSERT_NE(inet_ntop(AF_INET6, bytes.data(), text, sizeof text), nullptr);
  const std::string network = fmt::format("{}/{}", text, prefix);
  RC_ASSERT(check_problem(NetworkCheck{IpVersion::V6}, network).empty() == (zero && prefix <= 128));
}

RC_GTEST_PROP(IntegerProp, RangeIsThatOfNumbers,
              (std::int32_t value, std::int32_t a, std::int32_t b)) {
  const IntegerRangeCheck range{std::min(a, b), std::max(a, b)};
  RC_ASSERT(check_problem(range, std::to_string(value)).empty() ==
            (value >= range.min && value <= range.max));
}

}  // namespace
}  // namespace muster::model
