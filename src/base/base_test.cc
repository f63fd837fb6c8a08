#include <gtest/gtest.h>

#include "base/backoff.h"
#include "base/json.h"
#include "base/time.h"
#include "base/uuid.h"

namespace muster {
namespace {

TEST(Time, Rfc3339SurvivesARoundTrip) {
  for (const char* text : {"1970-01-01T00:00:01Z", "2024-02-29T23:59:59.000001Z",
                           "2026-11-15T19:26:00.25Z", "9999-12-31T23:59:59Z"}) {
    const auto parsed = parse_rfc3339(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(format_rfc3339(*parsed), text);
  }
}

TEST(Time, Rfc3339WithMicrosHasOneLength) {
  EXPECT_EQ(format_rfc3339_micros(*parse_rfc3339("2026-11-15T19:26:00Z")),
            "2026-11-15T19:26:00.000000Z");
  EXPECT_EQ(format_rfc3339_micros(*parse_rfc3339("2026-11-15T19:26:00.25Z")),
            "2026-11-15T19:26:00.250000Z");
  EXPECT_EQ(format_rfc3339_micros({}), "");
}

TEST(Time, Rfc3339TakesOffsetsAndRefusesNonsense) {
  EXPECT_EQ(*parse_rfc3339("2026-11-15T21:26:00+02:00"), *parse_rfc3339("2026-11-15T19:26:00Z"));
  for (const char* text : {"", "yesterday", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
                           "2026-11-15", "2026-11-15T19:26:00", "2026-11-15T19:26:00Zx"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

TEST(Time, Rfc3339RefusesWhatAnOffsetMovesOutOfTheYears) {
  EXPECT_FALSE(parse_rfc3339("9999-12-31T23:59:59-00:01"));
  EXPECT_FALSE(parse_rfc3339("1970-01-01T00:00:00+00:01"));
  EXPECT_TRUE(parse_rfc3339("9999-12-31T23:59:59Z"));
}

TEST(Time, DurationsSurviveARoundTrip) {
  for (const char* text : {"0s", "250ms", "17us", "90.5s", "1h30m", "26h", "2m3.25s"}) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parse_duration(format_duration(*parsed)), *parsed) << text;
  }
  EXPECT_EQ(format_duration(*parse_duration("90")), "1m30s");
  EXPECT_EQ(format_duration(*parse_duration("1.5")), "1.5s");
}

TEST(Time, DurationsRefuseWhatIsNotOne) {
  for (const char* text : {"", "-5s", "s", "5 s", "5x", "1..5s", "99999999999999999999s", "1e3"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Time, AgesUseAtMostTwoUnits) {
  EXPECT_EQ(format_age(Duration::seconds(59)), "59s");
  EXPECT_EQ(format_age(Duration::seconds(185)), "3m5s");
  EXPECT_EQ(format_age(Duration::minutes(125)), "2h5m");
  EXPECT_EQ(format_age(Duration::days(11)), "11d");
}

TEST(UuidTest, SurvivesARoundTrip) {
  const Uuid id = Uuid::v4(~0ULL, ~0ULL);
  EXPECT_EQ(*Uuid::parse(id.to_string()), id);
  EXPECT_EQ(Uuid::from_bytes(id.bytes()), id);
  EXPECT_EQ(id.to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(id.short_id(), "ffffffff");
  EXPECT_FALSE(Uuid::parse("not-a-uuid"));
  EXPECT_FALSE(Uuid::parse(std::string(36, '-')));
}

TEST(JsonTest, RefusesAKeyTwiceHoweverManyThereAre) {
  for (const int count : {2, 24, 25, 26, 200}) {
    std::string keys;
    for (int i = 0; i < count; ++i) keys += fmt::format("\"k{}\": {{\"k0\": 1}}, ", i);
    EXPECT_TRUE(parse_json("{" + keys + "\"last\": 1}")) << count;
    EXPECT_FALSE(parse_json("{" + keys + "\"k0\": 1}")) << count;
    EXPECT_FALSE(parse_json(fmt::format("{{{}\"k{}\": 1}}", keys, count - 1))) << count;
  }
}

TEST(JsonTest, RefusesWhatReadersDisagreeOn) {
  EXPECT_TRUE(parse_json(R"({"a":[1,2,{"b":null}]})"));
  EXPECT_EQ(parse_json(R"({"a":1,"a":2})").error().code, ErrorCode::InvalidJson);
  EXPECT_EQ(parse_json("{").error().code, ErrorCode::InvalidJson);
  EXPECT_EQ(parse_json("").error().code, ErrorCode::InvalidJson);
  EXPECT_EQ(parse_json("{} {}").error().code, ErrorCode::InvalidJson);
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  const auto refused = parse_json(deep);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::JsonTooDeep);
  EXPECT_NE(refused.error().message.find("64 levels"), std::string::npos);
  EXPECT_TRUE(parse_json(std::string(64, '[') + std::string(64, ']')));
  const auto large = parse_json("[1e400]");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::InvalidJson);
  EXPECT_NE(large.error().message.find("1e400"), std::string::npos) << large.error().message;
  EXPECT_EQ(parse_json("[1]", {.bytes_max = 2}).error().code, ErrorCode::BodyTooLarge);
}

TEST(BackoffTest, DoublesUpToItsBound) {
  const Backoff backoff{.initial = Duration::seconds(1), .max = Duration::seconds(5)};
  EXPECT_EQ(backoff.delay(1), Duration::seconds(1));
  EXPECT_EQ(backoff.delay(3), Duration::seconds(4));
  EXPECT_EQ(backoff.delay(4), Duration::seconds(5));
  EXPECT_EQ(backoff.delay(1'000'000'000), Duration::seconds(5));
  EXPECT_LE(backoff.jittered(9, ~0ULL), Duration::seconds(5));
}

}  // namespace
}  // namespace muster
