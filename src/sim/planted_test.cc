#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "sim/exhaustive.h"
#include "sim/world.h"

// The proof that the checkers see something: each known bug that is put back is found within a few
// seeds, and the seed that finds it passes without the bug.

namespace muster::sim {
namespace {

constexpr std::uint64_t kSeedsMax = 200;

class PlantedBug : public testing::TestWithParam<Bug> {};

TEST_P(PlantedBug, IsFoundWithinAFewSeeds) {
  if (!kBugsCanBePlanted) GTEST_SKIP() << "this build cannot plant bugs";
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    const Outcome outcome = run_seed({.seed = seed, .bug = GetParam(), .sink = {}});
    if (!outcome.violation) continue;
    std::printf("%s: seed %llu, promise %d: %s\n", std::string(name(GetParam())).c_str(),
                static_cast<unsigned long long>(seed), outcome.violation->promise,
                outcome.violation->what.c_str());
    const Outcome healthy = run_seed({.seed = seed, .bug = Bug::None, .sink = {}});
    EXPECT_FALSE(healthy.violation) << healthy.violation->what;
    return;
  }
  FAIL() << name(GetParam()) << " was not found within " << kSeedsMax << " seeds";
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBug, testing::ValuesIn(all_bugs()),
                         [](const testing::TestParamInfo<Bug>& bug) {
                           std::string text(name(bug.param));
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace muster::sim
