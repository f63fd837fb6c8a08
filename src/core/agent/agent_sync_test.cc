#include "core/agent/agent_core_test_util.h"

namespace muster::core::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(AgentCoreTest, LinkUpSendsTheWholeViewWithSpecs) {
  step(schedule(1));
  step(ended(1));
  finish_and_ack(2);
  step(schedule(3));
  step(schedule(4));
  const auto view = pages(step(LinkUp{}));
  ASSERT_THAT(view, SizeIs(1));
  EXPECT_EQ(view[0].sync, 0);
  EXPECT_TRUE(view[0].last);
  std::vector<ActionId> ids;
  for (const auto& action : view[0].actions) {
    ids.push_back(action.id);
    EXPECT_EQ(action.kind, "exec");
    EXPECT_EQ(action.requested_by, "alice");
    EXPECT_EQ(action.timeout, Duration::seconds(100));
  }
  EXPECT_THAT(ids, ElementsAre(id_of(3), id_of(4), id_of(1)));
}

TEST_F(AgentCoreTest, EmptyViewIsOneLastPage) {
  const auto view = pages(step(SyncRequest{42}));
  ASSERT_THAT(view, SizeIs(1));
  EXPECT_EQ(view[0].sync, 42);
  EXPECT_TRUE(view[0].last);
  EXPECT_THAT(view[0].actions, IsEmpty());
  EXPECT_TRUE(empty(step(LinkDown{})));
}

class PagedViewTest : public AgentCoreTest {
 protected:
  PagedViewTest() : AgentCoreTest({.kinds = {"exec"}, .sync_page_max = 2}) {}
};

TEST_F(PagedViewTest, PagesAreCutByCountAndOnlyTheLastIsMarked) {
  for (std::uint64_t n = 1; n <= 5; ++n) step(schedule(n));
  const auto view = pages(step(SyncRequest{1}));
  ASSERT_THAT(view, SizeIs(3));
  EXPECT_EQ(view[0].actions.size() + view[1].actions.size() + view[2].actions.size(), 5);
  EXPECT_FALSE(view[0].last);
  EXPECT_FALSE(view[1].last);
  EXPECT_TRUE(view[2].last);
}

TEST_F(AgentCoreTest, PagesAreCutByBytes) {
  for (std::uint64_t n = 1; n <= 3; ++n) {
    auto large = schedule(n);
    large.inputs = "{\"x\":\"" + std::string(700'000, 'x') + "\"}";
    step(large);
  }
  EXPECT_THAT(pages(step(LinkUp{})), SizeIs(3));
}

TEST_F(AgentCoreTest, AckIsJournalledOnceAndOnlyForTheFinalAttempt) {
  step(schedule(1, 2));
  EXPECT_TRUE(empty(step(Ack{id_of(1), 2}))) << "it has not ended";
  step(ended(1, ExecuteResult::Ok, 2));
  EXPECT_TRUE(empty(step(Ack{id_of(1), 1})));
  EXPECT_TRUE(empty(step(Ack{id_of(9), 1})));
  const auto effects = step(Ack{id_of(1), 2});
  ASSERT_THAT(puts(effects), SizeIs(1));
  EXPECT_TRUE(puts(effects)[0]->acked);
  EXPECT_TRUE(empty(step(Ack{id_of(1), 2})));
  EXPECT_THAT(pages(step(LinkUp{})).at(0).actions, IsEmpty());
}

class RetentionTest : public AgentCoreTest {
 protected:
  RetentionTest() : AgentCoreTest({.kinds = {"exec"}, .keep_finished = 2}) {}
};

TEST_F(RetentionTest, OldestAcknowledgedGoFirstByCount) {
  finish_and_ack(1);
  now_ = now_ + Duration::seconds(1);
  finish_and_ack(2);
  step(schedule(3));
  step(ended(3));
  EXPECT_THAT(core_->finished(10), SizeIs(3));
  now_ = now_ + Duration::seconds(1);
  EXPECT_THAT(drops(step(Ack{id_of(3), 1})), ElementsAre(std::pair{id_of(1), 1U}));
  std::vector<ActionId> left;
  for (const auto& entry : core_->finished(10)) left.push_back(entry->id);
  EXPECT_THAT(left, ElementsAre(id_of(3), id_of(2))) << "newest first";
  EXPECT_THAT(core_->finished(1), SizeIs(1));
}

TEST_F(RetentionTest, UnacknowledgedOnesStayWhateverTheirNumberAndAge) {
  for (std::uint64_t n = 1; n <= 5; ++n) {
    step(schedule(n));
    step(ended(n));
  }
  now_ = now_ + Duration::days(100);
  EXPECT_TRUE(empty(step(AgentTick{})));
  EXPECT_THAT(core_->finished(10), SizeIs(5));
  EXPECT_EQ(core_->next_deadline(), std::nullopt);
}

TEST_F(RetentionTest, AcknowledgedOnesGoByAge) {
  finish_and_ack(1);
  EXPECT_EQ(core_->next_deadline(), kStart + Duration::days(14));
  now_ = kStart + Duration::days(14) - Duration::micros(1);
  EXPECT_TRUE(empty(step(AgentTick{})));
  now_ = kStart + Duration::days(14);
  EXPECT_THAT(drops(step(AgentTick{})), ElementsAre(std::pair{id_of(1), 1U}));
}

TEST_F(AgentCoreTest, ClockThatGoesBackwardsBreaksNothing) {
  step(schedule(1));
  step(RunSuspended{id_of(1), 1, true});
  now_ = kStart - Duration::hours(1);
  step(RunSuspended{id_of(1), 1, false});
  step(schedule(2));
  EXPECT_TRUE(empty(step(AgentTick{})));
  const auto effects = step(ended(1));
  EXPECT_GE(puts(effects).at(0)->stop_time, puts(effects)[0]->start_time);
  EXPECT_THAT(started(effects), ElementsAre(id_of(2)));
  step(Ack{id_of(1), 1});
  EXPECT_TRUE(empty(step(AgentTick{})));
  ASSERT_TRUE(core_->next_deadline());
  EXPECT_GT(*core_->next_deadline(), now_);
}

}  // namespace
}  // namespace muster::core::agent
