#include "core/agent/agent_core_test_util.h"

namespace muster::core::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(AgentCoreTest, FirstScheduleIsJournalledAsRunningAndStarts) {
  const auto effects = step(schedule(1));
  ASSERT_THAT(puts(effects), SizeIs(1));
  const auto& entry = *puts(effects)[0];
  EXPECT_EQ(entry.status, Status::Running);
  EXPECT_EQ(entry.start_time, kStart);
  EXPECT_EQ(entry.origin, Origin::Controller);
  EXPECT_EQ(entry.inputs, R"({"argv":["true"]})");
  EXPECT_THAT(started(effects), ElementsAre(id_of(1)));
  ASSERT_THAT(reports(effects), SizeIs(1));
  EXPECT_EQ(reports(effects)[0].status, Status::Running);
  EXPECT_EQ(reports(effects)[0].name, "") << "the controller knows its own action's spec";
}

TEST_F(AgentCoreTest, SecondScheduleWaitsAndStartsInTheStepThatEndsTheFirst) {
  step(schedule(1));
  const auto queued = step(schedule(2));
  EXPECT_THAT(started(queued), IsEmpty());
  EXPECT_EQ(reports(queued).at(0).status, Status::New);
  EXPECT_FALSE(puts(queued).at(0)->start_time.is_set());

  const auto next = step(ended(1));
  EXPECT_THAT(started(next), ElementsAre(id_of(2)));
  ASSERT_THAT(puts(next), SizeIs(2));
  EXPECT_EQ(puts(next)[0]->status, Status::Succeeded);
  EXPECT_EQ(puts(next)[1]->status, Status::Running);
}

TEST_F(AgentCoreTest, QueueIsInOrderOfArrival) {
  for (std::uint64_t n : {5, 3, 9, 1}) step(schedule(n));
  std::vector<ActionId> order;
  for (const auto& entry : core_->queue()) order.push_back(entry->id);
  EXPECT_THAT(order, ElementsAre(id_of(5), id_of(3), id_of(9), id_of(1)));
  EXPECT_THAT(started(step(ended(5))), ElementsAre(id_of(3)));
  EXPECT_THAT(started(step(ended(3))), ElementsAre(id_of(9)));
}

TEST_F(AgentCoreTest, DuplicateScheduleOnlyGetsAReport) {
  step(schedule(1));
  const auto running = step(schedule(1));
  EXPECT_THAT(running.writes, IsEmpty());
  EXPECT_THAT(running.runs, IsEmpty());
  EXPECT_EQ(reports(running).at(0).status, Status::Running);

  step(ended(1));
  const auto final = step(schedule(1));
  EXPECT_THAT(final.writes, IsEmpty());
  EXPECT_THAT(final.runs, IsEmpty());
  EXPECT_EQ(reports(final).at(0).status, Status::Succeeded);
}

TEST_F(AgentCoreTest, OlderAttemptIsAnsweredWithTheNewerOnesState) {
  step(schedule(1, 3));
  const auto effects = step(schedule(1, 2));
  EXPECT_THAT(effects.writes, IsEmpty());
  EXPECT_THAT(effects.runs, IsEmpty());
  EXPECT_EQ(reports(effects).at(0).attempt, 3);
}

TEST_F(AgentCoreTest, NewerAttemptReplacesAFinalEntry) {
  step(schedule(1));
  step(ended(1, ExecuteResult::Error));
  const auto effects = step(schedule(1, 2));
  EXPECT_THAT(drops(effects), ElementsAre(std::pair{id_of(1), 1U}));
  EXPECT_THAT(started(effects), ElementsAre(id_of(1)));
  ASSERT_TRUE(journal_.contains(id_of(1))) << "the drop must come before the put";
  EXPECT_EQ(journal_[id_of(1)]->attempt, 2);
  EXPECT_EQ(core_->find(id_of(1))->attempt, 2);
  EXPECT_THAT(core_->finished(10), IsEmpty());
}

TEST_F(AgentCoreTest, NewerAttemptOfAnUnfinishedEntryIsIgnored) {
  step(schedule(1));
  step(schedule(2));
  for (std::uint64_t n : {1, 2}) {
    const auto effects = step(schedule(n, 2));
    EXPECT_THAT(effects.writes, IsEmpty());
    EXPECT_THAT(effects.runs, IsEmpty());
    EXPECT_EQ(reports(effects).at(0).attempt, 1);
  }
}

TEST_F(AgentCoreTest, UnknownKindIsJournalledAsFailedAndNamesTheKnownOnes) {
  auto unknown = schedule(1);
  unknown.kind = "dance";
  const auto effects = step(unknown);
  EXPECT_THAT(effects.runs, IsEmpty());
  ASSERT_THAT(puts(effects), SizeIs(1));
  EXPECT_EQ(puts(effects)[0]->status, Status::Failed);
  EXPECT_EQ(puts(effects)[0]->result, ExecuteResult::Error);
  EXPECT_THAT(puts(effects)[0]->reason, HasSubstr("\"dance\""));
  EXPECT_THAT(puts(effects)[0]->reason, HasSubstr("exec, facts"));
  EXPECT_EQ(reports(effects).at(0).status, Status::Failed);
  EXPECT_THAT(started(step(schedule(2))), ElementsAre(id_of(2))) << "it must not hold the slot";
}

TEST_F(AgentCoreTest, MissingTimeoutGetsTheDefault) {
  auto without = schedule(1);
  without.timeout = {};
  EXPECT_EQ(puts(step(without)).at(0)->timeout, Duration::seconds(3600));
}

class FullQueueTest : public AgentCoreTest {
 protected:
  FullQueueTest() : AgentCoreTest({.kinds = {"exec"}, .queue_max = 2}) {}
};

TEST_F(FullQueueTest, ControllersScheduleIsJournalledAsFailedForAnotherTry) {
  step(schedule(1));
  step(schedule(2));
  const auto effects = step(schedule(3));
  EXPECT_EQ(puts(effects).at(0)->status, Status::Failed);
  EXPECT_EQ(puts(effects)[0]->result, ExecuteResult::Retry);
  EXPECT_EQ(puts(effects)[0]->reason, "queue is full (2)");
  EXPECT_EQ(reports(effects).at(0).status, Status::Failed);
  step(ended(1));
  step(schedule(4));
  EXPECT_EQ(status(4), Status::New) << "there is room again";
}

TEST_F(FullQueueTest, LocalScheduleIsRefusedAndLeavesNoTrace) {
  step(schedule(1));
  step(schedule(2));
  const auto effects = step(LocalSchedule{.request = 7, .action = schedule(3)});
  EXPECT_THAT(effects.writes, IsEmpty());
  EXPECT_THAT(effects.messages, IsEmpty());
  ASSERT_THAT(effects.replies, SizeIs(1));
  EXPECT_EQ(std::get<Error>(effects.replies[0].body).code, ErrorCode::Overloaded);
  EXPECT_EQ(core_->find(id_of(3)), nullptr);
}

TEST_F(AgentCoreTest, LocalScheduleIsTheAgentsOwnAndReportsItsSpec) {
  const auto effects = step(LocalSchedule{.request = 7, .action = schedule(1, 9)});
  ASSERT_THAT(effects.replies, SizeIs(1));
  EXPECT_EQ(effects.replies[0].request, 7);
  const auto& entry = std::get<JournalEntryPtr>(effects.replies[0].body);
  EXPECT_EQ(entry->origin, Origin::Agent);
  EXPECT_EQ(entry->attempt, 1);
  ASSERT_THAT(reports(effects), SizeIs(1));
  EXPECT_EQ(reports(effects)[0].origin, Origin::Agent);
  EXPECT_EQ(reports(effects)[0].name, "action-1");
  EXPECT_EQ(reports(effects)[0].kind, "exec");
  EXPECT_EQ(reports(effects)[0].created_at, Timestamp{77});
}

TEST_F(AgentCoreTest, LocalScheduleOfAKnownIdIsADuplicateAlsoWhenFinal) {
  step(schedule(1));
  for (int i = 0; i < 2; ++i) {
    const auto effects = step(LocalSchedule{.request = 1, .action = schedule(1)});
    EXPECT_EQ(std::get<Error>(effects.replies.at(0).body).code, ErrorCode::DuplicateId);
    EXPECT_THAT(effects.writes, IsEmpty());
    if (i == 0) step(ended(1));
  }
}

TEST_F(AgentCoreTest, LocalScheduleOfAnUnknownKindIsRefused) {
  auto unknown = schedule(1);
  unknown.kind = "dance";
  const auto effects = step(LocalSchedule{.request = 1, .action = unknown});
  EXPECT_EQ(std::get<Error>(effects.replies.at(0).body).code, ErrorCode::UnknownKind);
  EXPECT_THAT(effects.writes, IsEmpty());
}

TEST_F(AgentCoreTest, ResultsMapToStatuses) {
  const std::vector<std::pair<ExecuteResult, Status>> expected = {
      {ExecuteResult::Ok, Status::Succeeded},     {ExecuteResult::Error, Status::Failed},
      {ExecuteResult::Retry, Status::Failed},     {ExecuteResult::Timeout, Status::Failed},
      {ExecuteResult::Cancel, Status::Cancelled},
  };
  std::uint64_t n = 0;
  for (const auto& [result, final] : expected) {
    step(schedule(++n));
    const auto effects = step(ended(n, result));
    EXPECT_EQ(status(n), final);
    EXPECT_EQ(core_->find(id_of(n))->result, result) << "the controller decides on a retry by it";
    EXPECT_EQ(reports(effects).at(0).result, result);
  }
}

TEST_F(AgentCoreTest, EndOfAnotherRunOrAttemptIsIgnored) {
  step(schedule(1, 2));
  step(schedule(2));
  EXPECT_TRUE(empty(step(ended(1))));
  EXPECT_TRUE(empty(step(ended(2))));
  EXPECT_TRUE(empty(step(ended(3))));
  step(ended(1, ExecuteResult::Ok, 2));
  EXPECT_TRUE(empty(step(ended(1, ExecuteResult::Error, 2)))) << "final entries never change";
}

TEST_F(AgentCoreTest, RecoverWithoutARunStartsTheHeadOfTheQueue) {
  step(schedule(1));
  step(schedule(2));
  // The end of 1 is in the journal, the start of 2 is not: a batch that was cut there.
  auto done = std::make_shared<JournalEntry>(*journal_[id_of(1)]);
  done->status = Status::Succeeded;
  journal_[id_of(1)] = done;
  const auto effects = restart();
  ASSERT_THAT(effects.runs, SizeIs(1));
  EXPECT_EQ(std::get<StartRun>(effects.runs[0]).entry->id, id_of(2));
  EXPECT_FALSE(std::get<StartRun>(effects.runs[0]).recovered);
  EXPECT_EQ(puts(effects).at(0)->status, Status::Running);
}

TEST_F(AgentCoreTest, RestartKeepsTheOrderOfArrival) {
  for (std::uint64_t n : {5, 3, 9}) step(schedule(n));
  restart();
  step(schedule(1));
  std::vector<ActionId> order;
  for (const auto& entry : core_->queue()) order.push_back(entry->id);
  EXPECT_THAT(order, ElementsAre(id_of(5), id_of(3), id_of(9), id_of(1)));
}

Schedule schedule_within(std::uint64_t n, Duration start_within) {
  Schedule made = schedule(n);
  made.start_within = start_within;
  return made;
}

TEST_F(AgentCoreTest, WhatWaitedForTooLongDoesNotStart) {
  step(schedule(1));
  step(schedule_within(2, Duration::seconds(30)));
  step(schedule_within(3, Duration::seconds(31)));
  step(schedule_within(4, Duration::seconds(30)));
  now_ = now_ + Duration::seconds(30);
  const auto effects = step(ended(1));
  EXPECT_EQ(status(2), Status::Failed);
  EXPECT_EQ(core_->find(id_of(2))->result, ExecuteResult::Timeout);
  EXPECT_THAT(started(effects), ElementsAre(id_of(3)));
  EXPECT_THAT(reports(effects), SizeIs(3)) << "1 has ended, 2 was late, 3 runs";
  step(ended(3));
  EXPECT_EQ(status(4), Status::Failed);
}

TEST_F(AgentCoreTest, AnAgentThatWasDownForTooLongDoesNotStartWhatItHad) {
  step(schedule(1));
  step(schedule_within(2, Duration::seconds(30)));
  step(schedule(3));
  step(ended(1));
  step(ended(2));
  step(schedule_within(4, Duration::seconds(30)));
  step(schedule(5));
  now_ = now_ + Duration::minutes(5);
  restart();
  const auto effects = step(ended(3));
  EXPECT_EQ(status(2), Status::Succeeded);
  EXPECT_EQ(status(4), Status::Failed);
  EXPECT_THAT(started(effects), ElementsAre(id_of(5)));
}

}  // namespace
}  // namespace muster::core::agent
