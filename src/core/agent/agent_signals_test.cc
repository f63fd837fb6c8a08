#include <limits>

#include "core/agent/agent_core_test_util.h"

namespace muster::core::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(AgentCoreTest, CancelOfANewEntryEndsItAtOnce) {
  step(schedule(1));
  step(schedule(2));
  const auto effects = step(signal(2, Signal::Cancel));
  EXPECT_THAT(effects.runs, IsEmpty());
  EXPECT_EQ(puts(effects).at(0)->status, Status::Cancelled);
  EXPECT_EQ(puts(effects)[0]->result, ExecuteResult::Cancel);
  EXPECT_EQ(puts(effects)[0]->reason, "because");
  EXPECT_EQ(reports(effects).at(0).status, Status::Cancelled);
  EXPECT_THAT(started(step(ended(1))), IsEmpty()) << "a cancelled entry never starts";
}

TEST_F(AgentCoreTest, CancelOfARunningEntryGoesToTheRunnerAndIsJournalled) {
  step(schedule(1));
  const auto effects = step(signal(1, Signal::Cancel));
  EXPECT_THAT(signalled(effects), ElementsAre(Signal::Cancel));
  EXPECT_EQ(puts(effects).at(0)->control, Signal::Cancel);
  EXPECT_EQ(puts(effects)[0]->status, Status::Running);
  EXPECT_THAT(reports(effects), IsEmpty());

  auto end = ended(1, ExecuteResult::Cancel);
  end.reason = "ended by signal 15";
  step(end);
  EXPECT_EQ(status(1), Status::Cancelled);
  EXPECT_EQ(core_->find(id_of(1))->reason, "because; ended by signal 15");
  EXPECT_EQ(core_->find(id_of(1))->control, Signal::None);
}

TEST_F(AgentCoreTest, RunThatEndsOkInSpiteOfACancelHasSucceeded) {
  step(schedule(1));
  step(signal(1, Signal::Cancel));
  step(ended(1, ExecuteResult::Ok));
  EXPECT_EQ(status(1), Status::Succeeded);
}

TEST_F(AgentCoreTest, RepeatedCancelIsSentAgainButNotJournalledAgain) {
  step(schedule(1));
  step(signal(1, Signal::Cancel));
  const auto again = step(signal(1, Signal::Cancel));
  EXPECT_THAT(again.writes, IsEmpty());
  EXPECT_THAT(signalled(again), ElementsAre(Signal::Cancel));
}

TEST_F(AgentCoreTest, CancelCannotBeTakenBackBySuspendOrResume) {
  step(schedule(1));
  step(signal(1, Signal::Cancel));
  for (const Signal other : {Signal::Suspend, Signal::Resume}) {
    const auto effects = step(signal(1, other));
    EXPECT_THAT(effects.writes, IsEmpty());
    EXPECT_THAT(effects.runs, IsEmpty());
    EXPECT_THAT(reports(effects), SizeIs(1));
  }
}

TEST_F(AgentCoreTest, SuspendAndResumeFollowTheRunnersAnswers) {
  step(schedule(1));
  const auto asked = step(signal(1, Signal::Suspend));
  EXPECT_EQ(status(1), Status::Running) << "not suspended before the runner says so";
  EXPECT_EQ(puts(asked).at(0)->control, Signal::Suspend);
  const auto frozen = step(RunSuspended{id_of(1), 1, true});
  EXPECT_EQ(status(1), Status::Suspended);
  EXPECT_EQ(core_->find(id_of(1))->control, Signal::None);
  EXPECT_EQ(reports(frozen).at(0).status, Status::Suspended);

  EXPECT_THAT(signalled(step(signal(1, Signal::Resume))), ElementsAre(Signal::Resume));
  const auto thawed = step(RunSuspended{id_of(1), 1, false});
  EXPECT_EQ(status(1), Status::Running);
  EXPECT_EQ(reports(thawed).at(0).status, Status::Running);
  EXPECT_TRUE(empty(step(RunSuspended{id_of(1), 1, false})));
}

TEST_F(AgentCoreTest, SuspendOfANewEntryIsIgnoredWithAReport) {
  step(schedule(1));
  step(schedule(2));
  for (const Signal other : {Signal::Suspend, Signal::Resume}) {
    const auto effects = step(signal(2, other));
    EXPECT_THAT(effects.writes, IsEmpty());
    EXPECT_THAT(effects.runs, IsEmpty());
    EXPECT_EQ(reports(effects).at(0).status, Status::New);
  }
}

TEST_F(AgentCoreTest, SignalsForUnknownActionsAndOtherAttemptsAreIgnored) {
  step(schedule(1, 2));
  EXPECT_TRUE(empty(step(signal(9, Signal::Cancel))));
  EXPECT_TRUE(empty(step(signal(1, Signal::Cancel, 1))));
  EXPECT_TRUE(empty(step(signal(1, Signal::Cancel, 3))));
}

TEST_F(AgentCoreTest, SignalForAFinalEntryOnlyGetsAReport) {
  step(schedule(1));
  step(ended(1));
  const auto effects = step(signal(1, Signal::Cancel));
  EXPECT_THAT(effects.writes, IsEmpty());
  EXPECT_THAT(effects.runs, IsEmpty());
  EXPECT_EQ(reports(effects).at(0).status, Status::Succeeded);
}

TEST_F(AgentCoreTest, LocalSignalsAreAnswered) {
  step(schedule(1));
  step(schedule(2));
  const auto code = [&](std::uint64_t n, Signal what) {
    const auto effects = step(LocalSignal{3, id_of(n), what, "bob", "no need"});
    EXPECT_THAT(effects.replies, SizeIs(1));
    const auto* error = std::get_if<Error>(&effects.replies.at(0).body);
    return error ? std::optional(error->code) : std::nullopt;
  };
  EXPECT_EQ(code(9, Signal::Cancel), ErrorCode::NotFound);
  EXPECT_EQ(code(2, Signal::Suspend), ErrorCode::Conflict);
  EXPECT_EQ(code(1, Signal::None), ErrorCode::InvalidValue);
  EXPECT_EQ(code(1, Signal::Resume), std::nullopt) << "it runs already";
  EXPECT_EQ(code(2, Signal::Cancel), std::nullopt);
  EXPECT_EQ(core_->find(id_of(2))->reason, "cancelled by bob: no need");
  EXPECT_EQ(code(2, Signal::Cancel), ErrorCode::ActionFinal);
  EXPECT_EQ(code(1, Signal::Cancel), std::nullopt);
  EXPECT_EQ(code(1, Signal::Suspend), ErrorCode::Conflict);
}

TEST_F(AgentCoreTest, RecoverAttachesToTheRunningEntryAndRepeatsItsPendingSignal) {
  step(schedule(1));
  step(schedule(2));
  step(signal(1, Signal::Cancel));
  const auto effects = restart();
  ASSERT_THAT(effects.runs, SizeIs(2));
  const auto& start = std::get<StartRun>(effects.runs[0]);
  EXPECT_EQ(start.entry->id, id_of(1));
  EXPECT_TRUE(start.recovered);
  EXPECT_EQ(std::get<SignalRun>(effects.runs[1]).signal, Signal::Cancel);
  EXPECT_THAT(effects.writes, IsEmpty());
  EXPECT_THAT(started(step(ended(1, ExecuteResult::Cancel))), ElementsAre(id_of(2)));
}

TEST_F(AgentCoreTest, OverrunIsCancelledThenFailedAndBlocksTheQueueUntilTheRunEnds) {
  step(schedule(1));
  step(schedule(2));
  EXPECT_TRUE(empty(pass(Duration::seconds(159))));
  EXPECT_EQ(core_->next_deadline(), kStart + Duration::seconds(160));

  const auto cancelled = pass(Duration::seconds(1));
  EXPECT_THAT(signalled(cancelled), ElementsAre(Signal::Cancel));
  EXPECT_THAT(cancelled.writes, IsEmpty());

  const auto failed = pass(Duration::seconds(60));
  EXPECT_EQ(status(1), Status::Failed);
  EXPECT_EQ(core_->find(id_of(1))->result, ExecuteResult::Timeout);
  EXPECT_EQ(reports(failed).at(0).status, Status::Failed);
  EXPECT_THAT(started(failed), IsEmpty()) << "the first run may still be alive";
  EXPECT_EQ(core_->queue().at(0)->id, id_of(2));

  const auto late = step(ended(1, ExecuteResult::Ok));
  EXPECT_EQ(status(1), Status::Failed) << "a final entry never changes";
  EXPECT_EQ(reports(late).size(), 1);
  EXPECT_THAT(started(late), ElementsAre(id_of(2)));
}

TEST_F(AgentCoreTest, OverrunThatObeysTheCancelIsATimeout) {
  step(schedule(1));
  pass(Duration::seconds(160));
  step(ended(1, ExecuteResult::Cancel));
  EXPECT_EQ(status(1), Status::Failed);
  EXPECT_EQ(core_->find(id_of(1))->result, ExecuteResult::Timeout);
}

TEST_F(AgentCoreTest, SuspendedTimeDoesNotCountTowardsAnOverrun) {
  step(schedule(1));
  pass(Duration::seconds(100));
  step(RunSuspended{id_of(1), 1, true});
  EXPECT_TRUE(empty(pass(Duration::hours(5))));
  step(RunSuspended{id_of(1), 1, false});
  EXPECT_TRUE(empty(pass(Duration::seconds(59))));
  EXPECT_THAT(signalled(pass(Duration::seconds(1))), ElementsAre(Signal::Cancel));
}

TEST_F(AgentCoreTest, ASuspensionHasALimit) {
  step(schedule(1));
  step(schedule(2));
  step(signal(1, Signal::Suspend));
  step(RunSuspended{id_of(1), 1, true});
  // Told again, it does not begin anew.
  pass(AgentCoreOptions{}.suspend_max - Duration::minutes(1));
  step(RunSuspended{id_of(1), 1, true});
  EXPECT_EQ(core_->find(id_of(1))->control, Signal::None);
  EXPECT_THAT(signalled(pass(Duration::minutes(1))), ElementsAre(Signal::Cancel));
  EXPECT_EQ(core_->find(id_of(1))->control_reason, "suspended for 48h");
  step(ended(1, ExecuteResult::Cancel));
  EXPECT_EQ(status(1), Status::Cancelled);
  EXPECT_EQ(status(2), Status::Running);
}

TEST_F(AgentCoreTest, EachSuspensionHasItsOwnTime) {
  step(schedule(1));
  for (int i = 0; i < 3; ++i) {
    step(RunSuspended{id_of(1), 1, true});
    EXPECT_TRUE(empty(pass(AgentCoreOptions{}.suspend_max - Duration::minutes(1))));
    step(RunSuspended{id_of(1), 1, false});
  }
}

TEST_F(AgentCoreTest, CancelOfASuspendedRunIsBoundedInTime) {
  step(schedule(1));
  step(RunSuspended{id_of(1), 1, true});
  step(signal(1, Signal::Cancel));
  pass(Duration::seconds(220));
  EXPECT_EQ(status(1), Status::Failed);
}

TEST_F(AgentCoreTest, ClockThatJumpsForwardDoesNotEndARun) {
  step(schedule(1));
  now_ = kStart + Duration::days(365);
  EXPECT_TRUE(empty(step(AgentTick{})));
  EXPECT_TRUE(empty(pass(Duration::seconds(99)))) << "the jump counts as a minute";
  EXPECT_THAT(signalled(pass(Duration::seconds(1))), ElementsAre(Signal::Cancel));
}

class AbandonedRunTest : public AgentCoreTest {
 protected:
  void SetUp() override {
    step(schedule(1));
    step(schedule(2));
    pass(Duration::seconds(220));
  }
};

TEST_F(AbandonedRunTest, NewerAttemptIsNotTakenBeforeTheOldRunEnded) {
  const auto early = step(schedule(1, 2));
  EXPECT_THAT(early.writes, IsEmpty());
  EXPECT_EQ(reports(early).at(0).attempt, 1);
  step(ended(1, ExecuteResult::Cancel));
  const auto taken = step(schedule(1, 2));
  EXPECT_THAT(drops(taken), ElementsAre(std::pair{id_of(1), 1U}));
}

TEST_F(AbandonedRunTest, RestartStillWaitsForTheRunToEnd) {
  const auto effects = restart();
  ASSERT_THAT(effects.runs, SizeIs(2));
  const auto& start = std::get<StartRun>(effects.runs[0]);
  EXPECT_EQ(start.entry->id, id_of(1));
  EXPECT_TRUE(start.recovered);
  EXPECT_TRUE(start.entry->is_final());
  EXPECT_EQ(std::get<SignalRun>(effects.runs[1]).signal, Signal::Cancel);
  EXPECT_THAT(started(step(ended(1))), ElementsAre(id_of(2)));
  EXPECT_EQ(status(1), Status::Failed);
  EXPECT_EQ(std::get<StartRun>(restart().runs.at(0)).entry->id, id_of(2));
}

TEST_F(AbandonedRunTest, AcknowledgedEntryIsNotDroppedAndNotSyncedWhileItsRunMayLive) {
  step(Ack{id_of(1), 1});
  now_ = kStart + Duration::days(30);
  EXPECT_THAT(drops(step(AgentTick{})), IsEmpty());
  const auto view = pages(step(LinkUp{}));
  ASSERT_THAT(view, SizeIs(1));
  ASSERT_THAT(view[0].actions, SizeIs(1));
  EXPECT_EQ(view[0].actions[0].id, id_of(2));
  step(ended(1));
  EXPECT_THAT(drops(step(AgentTick{})), ElementsAre(std::pair{id_of(1), 1U}));
}

TEST_F(AbandonedRunTest, CancelIsRepeated) {
  EXPECT_THAT(signalled(pass(Duration::seconds(60))), ElementsAre(Signal::Cancel));
}

TEST_F(AgentCoreTest, HugeTimeoutDoesNotOverflowTheDeadline) {
  auto huge = schedule(1);
  huge.timeout = Duration{std::numeric_limits<std::int64_t>::max()};
  step(huge);
  EXPECT_TRUE(empty(pass(Duration::hours(1))));
  EXPECT_TRUE(core_->next_deadline());
}

}  // namespace
}  // namespace muster::core::agent
