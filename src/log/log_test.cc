#include "log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"

namespace muster::log {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Lines written while it lives, instead of to stderr.
class Capture {
 public:
  Capture(Level level, Format format) : file_(std::tmpfile()) {
    init({.level = level, .format = format, .stream = file_});
  }
  ~Capture() {
    init({});
    std::fclose(file_);
  }
  std::vector<std::string> lines() {
    std::fflush(file_);
    std::rewind(file_);
    std::string all;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all += static_cast<char>(c);
    std::vector<std::string> out;
    std::istringstream in(all);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }

 private:
  std::FILE* file_;
};

TEST(Log, TextLineHasTimeLevelMessageAndPairs) {
  Capture capture(Level::Info, Format::Text);
  info("agent connected", {{"agent", "n1"}, {"sessions", 3}, {"new", true}, {"load", 0.5}});
  const auto lines = capture.lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0],
              MatchesRegex("[0-9-]+T[0-9:]+\\.[0-9]+Z info +agent connected agent=n1 sessions=3 "
                           "new=true load=0.5"));
}

TEST(Log, TextValuesAreQuotedOnlyWhenNeeded) {
  Capture capture(Level::Info, Format::Text);
  const std::string path = "/a b";
  info("m", {{"plain", "a-b:c/d"}, {"path", path}, {"empty", ""}, {"eq", "a=b"}});
  info("m", {{"odd", std::string_view("a\"b\\c\n\t\x1b[0m")}});
  const auto lines = capture.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], EndsWith(R"(m plain=a-b:c/d path="/a b" empty="" eq="a=b")"));
  EXPECT_THAT(lines[1], EndsWith(R"(m odd="a\"b\\c\n\t\x1b[0m")"));
}

TEST(Log, JsonLineIsOneObject) {
  Capture capture(Level::Debug, Format::Json);
  warn("it's %v {} \"odd\"", {{"n", -5},
                              {"u", std::uint64_t{18446744073709551615u}},
                              {"text", "line\nbreak"},
                              {"bad", "\xff"},
                              {"ok", false}});
  const auto lines = capture.lines();
  ASSERT_EQ(lines.size(), 1u);
  const auto parsed = parse_json(lines[0]);
  ASSERT_TRUE(parsed) << lines[0];
  EXPECT_EQ((*parsed)["level"], "warn");
  EXPECT_EQ((*parsed)["message"], "it's %v {} \"odd\"");
  EXPECT_EQ((*parsed)["n"], -5);
  EXPECT_EQ((*parsed)["u"], 18446744073709551615u);
  EXPECT_EQ((*parsed)["text"], "line\nbreak");
  EXPECT_EQ((*parsed)["ok"], false);
  EXPECT_THAT((*parsed)["time"].get<std::string>(), EndsWith("Z"));
}

TEST(Log, LinesBelowTheLevelAreNotWritten) {
  Capture capture(Level::Warn, Format::Text);
  debug("d");
  info("i");
  warn("w");
  error("e");
  EXPECT_FALSE(enabled(Level::Info));
  EXPECT_TRUE(enabled(Level::Warn));
  const auto lines = capture.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], EndsWith("w"));
  EXPECT_THAT(lines[1], EndsWith("e"));
}

TEST(Log, LinesOfSeveralThreadsDoNotMix) {
  Capture capture(Level::Info, Format::Json);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) info("tick", {{"thread", t}, {"i", i}});
    });
  }
  for (auto& thread : threads) thread.join();
  const auto lines = capture.lines();
  EXPECT_EQ(lines.size(), 800u);
  for (const auto& line : lines) EXPECT_TRUE(parse_json(line)) << line;
}

TEST(Log, NamesOfLevelsAndFormatsAreParsed) {
  EXPECT_EQ(parse_level("debug").value(), Level::Debug);
  EXPECT_EQ(parse_level("error").value(), Level::Error);
  EXPECT_EQ(parse_format("json").value(), Format::Json);
  EXPECT_THAT(parse_level("loud").error().message, HasSubstr("\"loud\" is not one of debug"));
  EXPECT_EQ(parse_format("xml").error().code, ErrorCode::InvalidValue);
}

}  // namespace
}  // namespace muster::log
