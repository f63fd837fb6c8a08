#include "sim/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/record_codec.h"

// Every checker can fail: each test breaks one promise by hand and sees it noticed.

namespace muster::sim {
namespace {

using core::Status;
using testing::HasSubstr;

core::ActionId id_of(std::uint64_t number) { return Uuid::v4(number, number); }

core::Action action(std::uint64_t number, Status status, const std::string& target = "a1") {
  auto spec = std::make_shared<core::ActionSpec>();
  spec->id = id_of(number);
  spec->seq = number;
  spec->name = fmt::format("n{}", number);
  spec->kind = "exec";
  spec->target = target;
  spec->side = target.empty() ? core::Side::Engine : core::Side::Agent;
  spec->inputs = fmt::format(R"({{"number":{}}})", number);
  core::Action action;
  action.spec = std::move(spec);
  action.status = status;
  return action;
}

template <typename Change>
core::Action with_spec(core::Action action, Change change) {
  core::ActionSpec spec = *action.spec;
  change(spec);
  action.spec = std::make_shared<const core::ActionSpec>(std::move(spec));
  return action;
}

core::JournalEntry entry(std::uint64_t number, Status status) {
  core::JournalEntry entry;
  entry.id = id_of(number);
  entry.kind = "exec";
  entry.status = status;
  entry.inputs = fmt::format(R"({{"number":{}}})", number);
  return entry;
}

exec::RunSpec run(std::uint64_t number, std::uint32_t attempt = 1) {
  exec::RunSpec spec;
  spec.id = id_of(number);
  spec.attempt = attempt;
  spec.kind = "exec";
  spec.inputs = fmt::format(R"({{"number":{}}})", number);
  return spec;
}

class ChecksTest : public testing::Test {
 protected:
  ChecksTest() { checks_.set_agents(2); }

  void store(const core::Action& action, store::Term term = 1, store::Term highest = 1) {
    store::Batch batch;
    batch.term = term;
    store::append(batch, core::PutAction{std::make_shared<const core::Action>(action)});
    checks_.on_batch(batch, highest);
  }
  void journal(std::size_t agent, const core::JournalEntry& entry) {
    store::Batch batch;
    store::append(batch, core::agent::JournalWrite(core::agent::PutEntry{
                             std::make_shared<const core::JournalEntry>(entry)}));
    checks_.on_journal(agent, batch);
  }
  void expect_broken(int promise, const std::string& what) {
    ASSERT_TRUE(checks_.violation());
    EXPECT_EQ(checks_.violation()->promise, promise);
    EXPECT_THAT(checks_.violation()->what, HasSubstr(what));
  }
  void expect_kept() { EXPECT_FALSE(checks_.violation()) << checks_.violation()->what; }

  Checks checks_;
};

TEST_F(ChecksTest, AnAcknowledgementNeedsItsRecord) {
  core::Reply reply;
  reply.body =
      core::SubmitReply{{std::make_shared<const core::Action>(action(1, Status::Ready))}, {}};
  checks_.on_reply(reply);
  expect_broken(1, "before the action was stored");
}

TEST_F(ChecksTest, AnAcknowledgementOfALaterRevisionIsTooEarly) {
  store(action(1, Status::Ready));
  auto later = action(1, Status::Ready);
  later.revision = 2;
  core::Reply reply;
  reply.body = core::ActionReply{std::make_shared<const core::Action>(later)};
  checks_.on_reply(reply);
  expect_broken(1, "at revision 2, the store has 1");
}

TEST_F(ChecksTest, AnEndIsAcknowledgedOnlyOnceItIsStored) {
  store(action(1, Status::Running));
  checks_.on_send("a1", {1, core::SendAck{id_of(1), 1}});
  expect_broken(1, "was acknowledged, the store has RUNNING");
}

TEST_F(ChecksTest, AnEventIsPublishedOnlyOnceItIsStored) {
  core::Event event;
  event.seq = 3;
  checks_.on_event(event);
  expect_broken(1, "event 3 was published");
}

TEST_F(ChecksTest, AnAcknowledgedActionStays) {
  store(action(1, Status::Ready));
  checks_.on_submitted("key", {id_of(1)});
  store::Batch batch;
  batch.term = 1;
  batch.records.push_back(
      {store::Space::Action, std::string(id_of(1).bytes()), std::nullopt, std::nullopt});
  checks_.on_batch(batch, 1);
  expect_broken(1, "is deleted");
}

TEST_F(ChecksTest, AKeyGivesTheSameActionsEachTime) {
  checks_.on_submitted("key", {id_of(1)});
  checks_.on_submitted("key", {id_of(1)});
  expect_kept();
  checks_.on_submitted("key", {id_of(2)});
  expect_broken(1, "with key 'key'");
}

TEST_F(ChecksTest, ACancelThatWasAcknowledgedEndsTheAttempts) {
  store(action(1, Status::Running));
  checks_.on_cancelled(action(1, Status::Running));
  auto second = entry(1, Status::Running);
  second.attempt = 2;
  journal(0, second);
  checks_.on_run_start(0, run(1, 2));
  expect_broken(1, "CANCEL of action");
}

TEST_F(ChecksTest, AnAgentsOwnActionReachesTheController) {
  journal(0, entry(1, Status::Succeeded));
  checks_.on_local_acknowledged(0, id_of(1));
  checks_.at_end({0});
  expect_kept();
  checks_.at_end({});
  expect_broken(1, "never reached the controller");
}

TEST_F(ChecksTest, AReportNeedsItsJournalEntry) {
  core::AgentAction told;
  told.id = id_of(1);
  told.status = Status::New;
  checks_.on_message(0, core::agent::SendReport{told});
  expect_broken(1, "the journal does not have it");
}

TEST_F(ChecksTest, AStartNeedsItsJournalledIntent) {
  journal(0, entry(1, Status::New));
  checks_.on_run_start(0, run(1));
  expect_broken(2, "started, the journal has NEW");
}

TEST_F(ChecksTest, AnAttemptStartsOnce) {
  journal(0, entry(1, Status::Running));
  checks_.on_run_start(0, run(1));
  expect_kept();
  checks_.on_run_repeated(0, run(1));
  expect_broken(2, "starts a second time");
}

TEST_F(ChecksTest, ALostJournalDoesNotExcuseASecondStartForTheController) {
  journal(0, entry(1, Status::Running));
  checks_.on_run_start(0, run(1));
  checks_.on_journal_lost(0);
  journal(0, entry(1, Status::Running));
  checks_.on_run_start(0, run(1));
  expect_broken(2, "starts a second time");
}

TEST_F(ChecksTest, AJobStartsOnceWhicheverControllerStartsIt) {
  const auto job = std::make_shared<const core::Action>(action(1, Status::Running, ""));
  store(*job);
  checks_.on_job({job});
  expect_kept();
  checks_.on_job({job});
  expect_broken(2, "a second time on the controller");
}

TEST_F(ChecksTest, AnAgentRunsOneActionAtATime) {
  journal(0, entry(1, Status::Running));
  journal(0, entry(2, Status::Running));
  journal(1, entry(3, Status::Running));
  checks_.on_run_start(0, run(1));
  checks_.on_run_start(1, run(3));
  expect_kept();
  checks_.on_run_start(0, run(2));
  expect_broken(3, "while action");
}

TEST_F(ChecksTest, ADependencyMustHaveSucceeded) {
  store(action(1, Status::Failed));
  store(with_spec(action(2, Status::Running),
                  [](core::ActionSpec& spec) { spec.depends_on = {id_of(1)}; }));
  journal(0, entry(2, Status::Running));
  checks_.on_run_start(0, run(2));
  expect_broken(4, "which it depends on, is FAILED");
}

TEST_F(ChecksTest, ADependencyThatCameLaterIsNotAskedOfWhatWasGivenUp) {
  store(action(1, Status::New));
  core::Action next = with_spec(action(2, Status::Waiting),
                                [](core::ActionSpec& spec) { spec.depends_on = {id_of(1)}; });
  next.attempt = 2;
  store(next);
  journal(0, entry(2, Status::Running));
  checks_.on_run_start(0, run(2));
  expect_kept();
}

TEST_F(ChecksTest, AnApprovalMustHaveBeenGiven) {
  store(with_spec(action(1, Status::Running),
                  [](core::ActionSpec& spec) { spec.approval = core::ApprovalPolicy{}; }));
  journal(0, entry(1, Status::Running));
  checks_.on_run_start(0, run(1));
  expect_broken(4, "0 of 1 approvals");
}

TEST_F(ChecksTest, AFinalStatusStays) {
  store(action(1, Status::Failed));
  store(action(1, Status::Failed));
  expect_kept();
  store(action(1, Status::Cancelled));
  expect_broken(5, "was FAILED and is now CANCELLED");
}

TEST_F(ChecksTest, ALostActionMayTakeItsTrueOutcome) {
  store(action(1, Status::Lost));
  store(action(1, Status::Failed));
  expect_kept();
}

TEST_F(ChecksTest, WhatTheJournalHasIsNotLost) {
  journal(0, entry(1, Status::Running));
  store(action(1, Status::Lost));
  expect_broken(5, "the journal of agent 'a1' has it as RUNNING");
}

TEST_F(ChecksTest, WhatWentWithAJournalIsLostEvenIfTheNextHasItAgain) {
  journal(0, entry(1, Status::Running));
  checks_.on_journal_lost(0);
  journal(0, entry(1, Status::Running));
  store(action(1, Status::Lost));
  expect_kept();
  journal(0, entry(2, Status::Running));
  store(action(2, Status::Lost));
  expect_broken(5, "the journal of agent 'a1' has it as RUNNING");
}

TEST_F(ChecksTest, AnotherUnderTheSameIdIsNotWhatWasLost) {
  core::JournalEntry own = entry(1, Status::Running);
  own.origin = core::Origin::Agent;
  own.inputs = R"({"other":1})";
  journal(0, own);
  store(action(1, Status::Lost));
  expect_kept();
}

TEST_F(ChecksTest, ASuccessMustHaveBeenOne) {
  journal(0, entry(1, Status::Running));
  checks_.on_run_start(0, run(1));
  checks_.on_run_end(0, id_of(1), 1, core::ExecuteResult::Error);
  store(action(1, Status::Succeeded));
  expect_broken(5, "is SUCCEEDED, but no run");
}

TEST_F(ChecksTest, ASuccessOfOtherInputsIsNotOurs) {
  journal(0, entry(1, Status::Running));
  checks_.on_run_start(0, run(1));
  checks_.on_run_end(0, id_of(1), 1, core::ExecuteResult::Ok);
  store(
      with_spec(action(1, Status::Succeeded), [](core::ActionSpec& spec) { spec.inputs = "{}"; }));
  expect_broken(5, "with inputs {}");
}

TEST_F(ChecksTest, WhatIsNotFinalIsNotSettled) {
  store(action(1, Status::Running));
  journal(1, entry(2, Status::Succeeded));
  const auto left = checks_.unsettled({});
  EXPECT_THAT(left, testing::ElementsAre(HasSubstr("is RUNNING"), HasSubstr("not acknowledged")));
  EXPECT_EQ(checks_.unsettled({1}).size(), 1U);
  checks_.never_settled(left, Duration::hours(1));
  expect_broken(6, "1h after the faults healed");
}

TEST_F(ChecksTest, AReplacedControllerCannotWrite) {
  store(action(1, Status::Ready), 1, 2);
  expect_broken(8, "term 1 was applied after term 2");
}

}  // namespace
}  // namespace muster::sim
