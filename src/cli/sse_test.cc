#include "cli/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<SseEvent> parse(const std::vector<std::string>& chunks) {
  SseParser parser;
  std::vector<SseEvent> events;
  for (const std::string& chunk : chunks) {
    const Result<bool> fed = parser.feed(chunk, [&](const SseEvent& event) {
      events.push_back(event);
      return true;
    });
    EXPECT_TRUE(fed.has_value());
  }
  return events;
}

constexpr const char* kStream =
    "\xEF\xBB\xBF: connected\n\n"
    "id: 1\nevent: action.status\ndata: {\"a\":1}\n\n"
    ": heartbeat\n\n"
    "id:2\r\ndata: one\r\ndata:  two\r\n\r\n"
    "data\r\r"
    "id: 4\nevent: x\n\n"
    "unknown: y\nretry: 5\ndata: last\n\n"
    "data: incomplete";

std::vector<SseEvent> expected_events() {
  return {{"1", "action.status", "{\"a\":1}"},
          {"2", "message", "one\n two"},
          {"2", "message", ""},
          {"4", "message", "last"}};
}

TEST(SseParser, ReadsEveryFormOfTheFormat) { EXPECT_EQ(parse({kStream}), expected_events()); }

TEST(SseParser, DropsAnEventWhoseEndNeverCame) {
  EXPECT_THAT(parse({"id: 1\ndata: x\n"}), IsEmpty());
}

RC_GTEST_PROP(SseParser, DoesNotCareWhereTheBytesAreCut, ()) {
  const std::string stream = kStream;
  const auto cuts = *rc::gen::container<std::vector<std::size_t>>(
      rc::gen::inRange<std::size_t>(0, stream.size()));
  std::vector<std::size_t> sorted = cuts;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> chunks;
  std::size_t from = 0;
  for (const std::size_t cut : sorted) {
    chunks.push_back(stream.substr(from, cut - from));
    from = cut;
  }
  chunks.push_back(stream.substr(from));
  RC_ASSERT(parse(chunks) == expected_events());
}

TEST(SseParser, StopsWhenAsked) {
  SseParser parser;
  int count = 0;
  const Result<bool> fed = parser.feed("data: 1\n\ndata: 2\n\n", [&](const SseEvent&) {
    ++count;
    return false;
  });
  ASSERT_TRUE(fed.has_value());
  EXPECT_FALSE(*fed);
  EXPECT_EQ(count, 1);
}

TEST(SseParser, RefusesAnEventBeyondTheLimit) {
  SseParser parser(64);
  const auto ignore = [](const SseEvent&) { return true; };
  ASSERT_TRUE(parser.feed("data: " + std::string(50, 'x') + "\n\n", ignore).has_value());
  const Result<bool> one_line = parser.feed("data: " + std::string(80, 'x'), ignore);
  ASSERT_FALSE(one_line.has_value());
  EXPECT_EQ(one_line.error().code, ErrorCode::BodyTooLarge);
  SseParser other(64);
  std::string many_lines;
  for (int i = 0; i < 40; ++i) many_lines += "data: xx\n";
  EXPECT_FALSE(other.feed(many_lines, ignore).has_value());
}

}  // namespace
}  // namespace muster::cli
