#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "base/field_errors.h"
#include "base/hex.h"
#include "base/nearest.h"
#include "base/utf8.h"

namespace muster {
namespace {

TEST(Hex, DigitsAndBytes) {
  EXPECT_EQ(hex_value('0'), 0);
  EXPECT_EQ(hex_value('f'), 15);
  EXPECT_EQ(hex_value('A'), 10);
  EXPECT_EQ(hex_value('g'), -1);
  EXPECT_EQ(hex_value('\xff'), -1);
  EXPECT_EQ(to_hex(std::string_view("\x00\x7f\xff", 3)), "007fff");
}

TEST(Utf8, KnowsEachCharacter) {
  EXPECT_EQ(first_character("a").value, U'a');
  EXPECT_EQ(first_character("é!").value, U'é');
  EXPECT_EQ(first_character("漢").value, U'漢');
  EXPECT_EQ(first_character("🙂").value, U'🙂');
  EXPECT_EQ(first_character("🙂").bytes, 4U);
  EXPECT_EQ(first_character("\xF4\x8F\xBF\xBF").value, U'\x10FFFF');
}

TEST(Utf8, RefusesWhatIsNone) {
  // A lone continuation, a cut character, overlong forms, a surrogate, beyond U+10FFFF.
  for (const std::string_view bad :
       {"\x80", "\xC3", "\xE6\xBC", "\xC0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80", "\xED\xA0\x80",
        "\xF4\x90\x80\x80", "\xFF", "\xE6\x28\xA1", "\xE6\xBC\x28"}) {
    EXPECT_FALSE(first_character(bad).valid) << to_hex(bad);
    EXPECT_EQ(first_character(bad).bytes, 1U) << to_hex(bad);
    EXPECT_FALSE(is_utf8(bad)) << to_hex(bad);
  }
  EXPECT_EQ(to_utf8("a\xFF"
                    "b"),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(Utf8, CutsNoCharacterInTwo) {
  EXPECT_EQ(utf8_front("aé", 3), "aé");
  EXPECT_EQ(utf8_front("aé", 2), "a");
  EXPECT_EQ(utf8_front("🙂", 3), "");
}

RC_GTEST_PROP(Utf8, ARepairedTextIsUtf8AndStaysAsItIs, (const std::string& bytes)) {
  const std::string repaired = to_utf8(bytes);
  RC_ASSERT(is_utf8(repaired));
  RC_ASSERT(to_utf8(repaired) == repaired);
  const auto cut = *rc::gen::inRange<std::size_t>(0, repaired.size() + 2);
  const std::string_view front = utf8_front(repaired, cut);
  RC_ASSERT(is_utf8(front));
  RC_ASSERT(front.size() <= cut && front.size() + 4 > std::min(cut, repaired.size()));
}

TEST(Nearest, FindsASlipAndNothingElse) {
  constexpr std::array<std::string_view, 5> kNames = {"actions", "nodes", "events", "status", "no"};
  EXPECT_EQ(nearest_word("actoins", kNames), "actions");
  EXPECT_EQ(nearest_word("NODE", kNames), "nodes");
  EXPECT_EQ(nearest_word("stat", kNames), "status");
  EXPECT_EQ(nearest_word("st", kNames), "");
  EXPECT_EQ(nearest_word("nodes", kNames), "nodes");
  EXPECT_EQ(nearest_word("zebra", kNames), "");
  EXPECT_EQ(nearest_word("", kNames), "");
  EXPECT_EQ(nearest_word(std::string(65, 'a'), kNames), "");
  EXPECT_EQ(did_you_mean("evnets", kNames), "; did you mean 'events'?");
  EXPECT_EQ(did_you_mean("zebra", kNames), "");
}

TEST(FieldErrors, OneErrorKeepsACommonCodeAndCountsWhatItDoesNotName) {
  const FieldError missing{"/a", ErrorCode::MissingField, "a is required"};
  const FieldError invalid{"/b", ErrorCode::InvalidValue, "b must be a list, not null"};
  EXPECT_EQ(gather({missing}).code, ErrorCode::MissingField);
  EXPECT_EQ(gather({missing}).message, "a is required");
  EXPECT_EQ(gather({missing, invalid}).code, ErrorCode::InvalidRequest);
  EXPECT_EQ(gather({missing, invalid}, 3).message, "5 fields are wrong, the first: a is required");
}

TEST(FieldErrors, WordsOfMessages) {
  EXPECT_EQ(in_quotes("abc"), "'abc'");
  EXPECT_EQ(in_quotes(std::string(63, 'x') + "é"), "'" + std::string(63, 'x') + "...'");
  EXPECT_EQ(pointer_to_field("/inputs", "a/b~c"), "/inputs/a~1b~0c");
  EXPECT_EQ(type_of(Json::array()), "a list");
  EXPECT_EQ(type_of(Json(1.5)), "a number");
}

}  // namespace
}  // namespace muster
