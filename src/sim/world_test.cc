#include "sim/world.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

TEST(World, TwoRunsOfASeedAgree) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome first = run_seed({.seed = seed, .bug = Bug::None, .sink = {}});
    const Outcome second = run_seed({.seed = seed, .bug = Bug::None, .sink = {}});
    EXPECT_EQ(first.digest, second.digest) << "seed " << seed;
    EXPECT_EQ(first.steps, second.steps) << "seed " << seed;
  }
}

TEST(World, TheTraceChangesNothing) {
  std::uint64_t lines = 0;
  const Outcome quiet = run_seed({.seed = 7, .bug = Bug::None, .sink = {}});
  const Outcome traced =
      run_seed({.seed = 7, .bug = Bug::None, .sink = [&](std::string_view) { ++lines; }});
  EXPECT_EQ(quiet.digest, traced.digest);
  EXPECT_GT(lines, 100U);
}

TEST(World, OtherSeedsAreOtherWorlds) {
  EXPECT_NE(run_seed({.seed = 1, .bug = Bug::None, .sink = {}}).digest,
            run_seed({.seed = 2, .bug = Bug::None, .sink = {}}).digest);
}

TEST(World, FaultsOfEveryKindHappen) {
  FaultTally faults;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Outcome outcome = run_seed({.seed = seed, .bug = Bug::None, .sink = {}});
    ASSERT_FALSE(outcome.violation) << "seed " << seed << ": " << outcome.violation->what;
    faults.merge(outcome.faults);
  }
  for (std::size_t i = 0; i < kFaults; ++i) {
    EXPECT_GT(faults.of(static_cast<Fault>(i)), 0U) << name(static_cast<Fault>(i));
  }
}

}  // namespace
}  // namespace muster::sim
