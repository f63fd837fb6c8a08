#include "core/agent/agent_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace muster::core::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Timestamp kStart{1'000'000'000'000};

ActionId id_of(std::uint64_t n) { return Uuid::v4(n, n); }

Schedule schedule(std::uint64_t n, std::uint32_t attempt = 1) {
  return {.id = id_of(n),
          .attempt = attempt,
          .name = fmt::format("action-{}", n),
          .kind = "exec",
          .inputs = R"({"argv":["true"]})",
          .timeout = Duration::seconds(100),
          .requested_by = "alice",
          .created_at = Timestamp{77}};
}

RunEnded ended(std::uint64_t n, ExecuteResult result = ExecuteResult::Ok,
               std::uint32_t attempt = 1) {
  return {.id = id_of(n), .attempt = attempt, .result = result, .reason = "", .outputs = "{}"};
}

SignalFromController signal(std::uint64_t n, Signal what, std::uint32_t attempt = 1) {
  return {.id = id_of(n), .attempt = attempt, .signal = what, .reason = "because"};
}

std::vector<JournalEntryPtr> puts(const AgentEffects& effects) {
  std::vector<JournalEntryPtr> entries;
  for (const auto& write : effects.writes) {
    if (const auto* put = std::get_if<PutEntry>(&write)) entries.push_back(put->entry);
  }
  return entries;
}

std::vector<std::pair<ActionId, std::uint32_t>> drops(const AgentEffects& effects) {
  std::vector<std::pair<ActionId, std::uint32_t>> dropped;
  for (const auto& write : effects.writes) {
    if (const auto* drop = std::get_if<DropEntry>(&write)) {
      dropped.emplace_back(drop->id, drop->attempt);
    }
  }
  return dropped;
}

std::vector<AgentAction> reports(const AgentEffects& effects) {
  std::vector<AgentAction> actions;
  for (const auto& message : effects.messages) {
    if (const auto* report = std::get_if<SendReport>(&message)) actions.push_back(report->action);
  }
  return actions;
}

std::vector<SendSyncPage> pages(const AgentEffects& effects) {
  std::vector<SendSyncPage> found;
  for (const auto& message : effects.messages) {
    if (const auto* page = std::get_if<SendSyncPage>(&message)) found.push_back(*page);
  }
  return found;
}

std::vector<ActionId> started(const AgentEffects& effects) {
  std::vector<ActionId> ids;
  for (const auto& run : effects.runs) {
    if (const auto* start = std::get_if<StartRun>(&run)) ids.push_back(start->entry->id);
  }
  return ids;
}

std::vector<Signal> signalled(const AgentEffects& effects) {
  std::vector<Signal> signals;
  for (const auto& run : effects.runs) {
    if (const auto* one = std::get_if<SignalRun>(&run)) signals.push_back(one->signal);
  }
  return signals;
}

bool empty(const AgentEffects& effects) {
  return effects.writes.empty() && effects.messages.empty() && effects.runs.empty() &&
         effects.replies.empty();
}

class AgentCoreTest : public ::testing::Test {
 protected:
  explicit AgentCoreTest(AgentCoreOptions options = {.kinds = {"exec", "facts"}})
      : options_(std::move(options)), core_(std::make_unique<AgentCore>(options_)) {}

  AgentEffects step(const AgentInput& input) {
    auto effects = core_->step(now_, input);
    commit(effects);
    return effects;
  }

  // The next life of the agent, from what its journal has.
  AgentEffects restart() {
    core_ = std::make_unique<AgentCore>(options_);
    for (const auto& [id, entry] : journal_) core_->restore(entry);
    auto effects = core_->recover(now_);
    commit(effects);
    return effects;
  }

  // Time passes, with a tick whenever one is due.
  AgentEffects pass(Duration time) {
    const Timestamp end = now_ + time;
    AgentEffects all;
    const auto tick = [&] {
      auto effects = step(AgentTick{});
      std::ranges::move(effects.writes, std::back_inserter(all.writes));
      std::ranges::move(effects.messages, std::back_inserter(all.messages));
      std::ranges::move(effects.runs, std::back_inserter(all.runs));
    };
    for (auto due = core_->next_deadline(); due && *due < end; due = core_->next_deadline()) {
      now_ = *due;
      tick();
    }
    now_ = end;
    tick();
    return all;
  }

  void commit(const AgentEffects& effects) {
    for (const auto& write : effects.writes) {
      if (const auto* put = std::get_if<PutEntry>(&write)) {
        journal_[put->entry->id] = put->entry;
      } else {
        journal_.erase(std::get<DropEntry>(write).id);
      }
    }
  }

  // A final entry that the controller has acknowledged.
  void finish_and_ack(std::uint64_t n) {
    step(schedule(n));
    step(ended(n));
    step(Ack{id_of(n), 1});
  }

  Status status(std::uint64_t n) const { return core_->find(id_of(n))->status; }

  AgentCoreOptions options_;
  std::unique_ptr<AgentCore> core_;
  std::map<ActionId, JournalEntryPtr> journal_;
  Timestamp now_ = kStart;
};

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
  EXPECT_EQ(core_->next_deadline(), std::nullopt);
  EXPECT_TRUE(empty(pass(Duration::hours(5))));
  step(RunSuspended{id_of(1), 1, false});
  EXPECT_TRUE(empty(pass(Duration::seconds(59))));
  EXPECT_THAT(signalled(pass(Duration::seconds(1))), ElementsAre(Signal::Cancel));
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

TEST_F(AgentCoreTest, HugeTimeoutDoesNotOverflowTheDeadline) {
  auto huge = schedule(1);
  huge.timeout = Duration{std::numeric_limits<std::int64_t>::max()};
  step(huge);
  EXPECT_TRUE(empty(pass(Duration::hours(1))));
  EXPECT_TRUE(core_->next_deadline());
}

}  // namespace
}  // namespace muster::core::agent
