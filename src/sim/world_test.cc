#include "sim/world.h"

#include <gtest/gtest.h>

namespace muster::sim {
namespace {

TEST(World, TwoRunsOfASeedAgree) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome first = run_seed({.seed = seed});
    const Outcome second = run_seed({.seed = seed});
    EXPECT_EQ(first.digest, second.digest) << "seed " << seed;
    EXPECT_EQ(first.steps, second.steps) << "seed " << seed;
  }
}

}  // namespace
}  // namespace muster::sim
