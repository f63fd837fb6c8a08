#include "sim/exhaustive.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

namespace muster::sim {
namespace {

TEST(Exhaustive, EveryScenarioEndsWhereNobodyDies) {
  for (const Scenario& scenario : scenarios()) {
    const auto outcome =
        run_scenario({std::string(scenario.name), Victim::Controller, 0}, Bug::None, {});
    EXPECT_FALSE(outcome.violation) << scenario.name << ": " << outcome.violation->what;
    EXPECT_GT(outcome.points, 20U) << scenario.name;
  }
}

TEST(Exhaustive, EveryPromiseHoldsWhoeverDiesAtWhicheverPoint) {
  std::map<std::string, std::uint64_t> points;
  const auto result = run_exhaustive(
      {.bug = Bug::None, .progress = [&](std::string_view scenario, Victim, std::uint64_t count) {
         points[std::string(scenario)] += count;
       }});
  ASSERT_FALSE(result.failure) << result.failure->at.scenario << ":"
                               << name(result.failure->at.victim) << ":" << result.failure->at.point
                               << ": " << result.failure->violation.what;
  EXPECT_EQ(points.size(), scenarios().size());
  for (const auto& [scenario, count] : points) {
    std::printf("%s: %llu points\n", scenario.c_str(), static_cast<unsigned long long>(count));
  }
}

TEST(Exhaustive, ADeathAtTheWrongMomentShowsWhatWasSentTooEarly) {
  if (!kBugsCanBePlanted) GTEST_SKIP() << "this build cannot plant bugs";
  EXPECT_TRUE(run_exhaustive({.bug = Bug::SendBeforeCommit, .progress = {}}).failure);
  EXPECT_TRUE(run_exhaustive({.bug = Bug::DoubleStartAfterRestart, .progress = {}}).failure);
}

}  // namespace
}  // namespace muster::sim
