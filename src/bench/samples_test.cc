#include "bench/samples.h"

#include <gtest/gtest.h>

#include "bench/history.h"
#include "bench/submission.h"

namespace muster::bench {
namespace {

TEST(Samples, PercentileIsTheSmallestSampleThatTheShareDoesNotExceed) {
  Samples samples;
  EXPECT_EQ(samples.percentile_ms(0.5), 0);
  for (int i = 100; i >= 1; --i) samples.add(Duration::millis(i));
  EXPECT_EQ(samples.percentile_ms(0.5), 50);
  EXPECT_EQ(samples.percentile_ms(0.99), 99);
  EXPECT_EQ(samples.percentile_ms(1.0), 100);
  EXPECT_EQ(samples.percentile_ms(0.0), 1);
  samples.add_all({1'000'000});
  EXPECT_EQ(samples.percentile_ms(1.0), 1000);
}

TEST(Samples, RoundsToDigits) { EXPECT_EQ(rounded(1.23456, 2), 1.23); }

TEST(Submission, SpreadsActionsOverAgents) {
  EXPECT_EQ(noops_body(1, 2, 2), R"({"actions":[{"action":"noop","target":"bench-2"},)"
                                 R"({"action":"noop","target":"bench-1"}]})");
}

TEST(History, IdsDiffer) { EXPECT_NE(history_id(0), history_id(1)); }

}  // namespace
}  // namespace muster::bench
