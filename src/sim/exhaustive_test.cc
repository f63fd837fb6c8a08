#include "sim/exhaustive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "sim/scenario.h"

namespace muster::sim {
namespace {

TEST(Exhaustive, EveryScenarioEndsWhereNothingGoesWrong) {
  for (const Scenario& scenario : scenarios()) {
    const auto outcome = run_course({std::string(scenario.name), {}}, Bug::None, {});
    EXPECT_FALSE(outcome.violation) << scenario.name << ": " << outcome.violation->what;
    EXPECT_GT(outcome.points.crash, 20U) << scenario.name;
  }
}

TEST(Exhaustive, EveryPromiseHoldsWhateverGoesWrongAtWhicheverPoint) {
  std::map<std::string, std::uint64_t> of_scenario;
  std::map<std::string, std::uint64_t> of_trouble;
  const auto result = run_exhaustive(
      {.bug = Bug::None,
       .pairs = false,
       .progress = [&](std::string_view scenario, const Trouble& trouble, std::uint64_t count) {
         of_scenario[std::string(scenario)] += count;
         of_trouble[name(trouble)] += count;
       }});
  ASSERT_FALSE(result.failure) << to_text(result.failure->course) << ": "
                               << result.failure->violation.what;
  EXPECT_EQ(of_scenario.size(), scenarios().size());
  EXPECT_EQ(of_trouble.size(), troubles().size());
  for (const auto& [trouble, count] : of_trouble) {
    EXPECT_GT(count, 0U) << trouble << " was never tried";
    std::printf("%s: %llu points\n", trouble.c_str(), static_cast<unsigned long long>(count));
  }
}

TEST(Exhaustive, TwoTroublesBothHappen) {
  const Course course{"one", {{Victim::Controller, 12}, {Fault::JournalRefuses, 4}}};
  std::string trace;
  const auto outcome = run_course(
      course, Bug::None, [&](std::string_view line) { trace.append(line).push_back('\n'); });
  EXPECT_FALSE(outcome.violation) << outcome.violation->what;
  EXPECT_NE(trace.find("crash"), std::string::npos) << trace;
  EXPECT_NE(trace.find("refuse"), std::string::npos) << trace;
}

TEST(Course, IsReadAsItIsWritten) {
  const Course course{"chain", {{Victim::Host, 7}, {Fault::MessageLost, 12}}};
  EXPECT_EQ(to_text(course), "chain:host:7,message-lost:12");
  for (const char* text : {"chain:host:7,message-lost:12", "one:store-refuses:1", "local"}) {
    const auto parsed = parse_course(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(to_text(*parsed), text);
  }
}

TEST(Course, WhatIsNotOneIsRefused) {
  const auto refusal = [](std::string_view text) {
    const auto parsed = parse_course(text);
    return parsed ? std::string("accepted") : parsed.error().message;
  };
  EXPECT_THAT(refusal("two:host:1"), testing::HasSubstr("no scenario is called 'two'"));
  EXPECT_THAT(refusal("one:ghost:1"), testing::HasSubstr("'ghost' is no trouble that is tried"));
  for (const char* text : {"one:host", "one:host:", "one:host:0", "one:host:x", "one:host:1:2"}) {
    EXPECT_THAT(refusal(text), testing::HasSubstr("the point of host is")) << text;
  }
  EXPECT_THAT(refusal("one:host:1,,"), testing::HasSubstr("'' is no trouble"));
}

TEST(Exhaustive, ADeathAtTheWrongMomentShowsWhatWasSentTooEarly) {
  if (!kBugsCanBePlanted) GTEST_SKIP() << "this build cannot plant bugs";
  EXPECT_TRUE(
      run_exhaustive({.bug = Bug::SendBeforeCommit, .pairs = false, .progress = {}}).failure);
  EXPECT_TRUE(run_exhaustive({.bug = Bug::DoubleStartAfterRestart, .pairs = false, .progress = {}})
                  .failure);
}

}  // namespace
}  // namespace muster::sim
