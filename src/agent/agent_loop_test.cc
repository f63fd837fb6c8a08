#include "agent/agent_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "agent/agent_test_util.h"
#include "os/clock.h"
#include "os/random.h"
#include "store/memory_store.h"
#include "store/record_codec.h"

namespace muster::agent {
namespace {

using core::agent::AgentInput;
using core::agent::SendReport;
using core::agent::SendSyncPage;
using store::CommitFault;

core::ActionId id_of(std::uint64_t n) { return Uuid::v4(n, n); }

core::agent::Schedule schedule(std::uint64_t n) {
  return {.id = id_of(n),
          .attempt = 1,
          .name = "a",
          .kind = "exec",
          .inputs = "{}",
          .timeout = Duration::seconds(60),
          .requested_by = "alice",
          .created_at = Timestamp{7}};
}

class AgentLoopTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void TearDown() override { close(); }

  void open(bool standalone = false) {
    auto journal = Journal::open(store_, os::system_now(), os::system_random);
    ASSERT_TRUE(journal);
    journal_.emplace(*std::move(journal));
    AgentLoopOptions options;
    options.core.kinds = {"exec"};
    options.standalone = standalone;
    options.clock = os::system_now;
    options.commit_backoff = {.initial = Duration::millis(1), .max = Duration::millis(5)};
    options.hold_max = Duration::millis(20);
    options.output.wait_max = output_wait_;
    options.on_fatal = [this](const Error&) { fatal_ = true; };
    loop_ = std::make_unique<AgentLoop>(std::move(options), *journal_);
  }

  void start() { loop_->start(executor_, &link_); }

  void close() { loop_.reset(); }

  void post(AgentInput input) { loop_->post(std::move(input)); }

  void end(std::uint64_t n, core::ExecuteResult result = core::ExecuteResult::Ok) {
    loop_->on_ended(id_of(n), 1, {.result = result, .reason = "", .outputs = "{}"});
  }

  std::optional<core::Status> journalled(std::uint64_t n) {
    const auto value = store_.get(store::Space::Journal, id_of(n).bytes());
    if (!value || !*value) return std::nullopt;
    return (*store::decode_journal_entry(**value))->status;
  }

  // What the core knows, after everything before is durable.
  std::optional<core::Status> status(std::uint64_t n) {
    std::promise<std::optional<core::Status>> answer;
    loop_->query({[&](Result<const core::agent::AgentCore*> core) {
      const auto entry = core ? (*core)->find(id_of(n)) : nullptr;
      answer.set_value(entry ? std::optional(entry->status) : std::nullopt);
    }});
    return answer.get_future().get();
  }

  Result<core::JournalEntryPtr> request(LocalRequest what) {
    std::promise<Result<core::JournalEntryPtr>> answer;
    what.reply = [&](Result<core::JournalEntryPtr> entry) { answer.set_value(std::move(entry)); };
    loop_->request(std::move(what));
    return answer.get_future().get();
  }

  std::size_t sent() {
    std::size_t count = 0;
    link_.state.change([&] { count = link_.messages.size(); });
    return count;
  }

  store::MemoryStore store_;
  std::optional<Journal> journal_;
  FakeExecutor executor_;
  FakeLink link_;
  std::unique_ptr<AgentLoop> loop_;
  std::atomic<bool> fatal_ = false;
  Duration output_wait_ = Duration::seconds(10);
};

TEST_F(AgentLoopTest, RunIsInTheJournalBeforeItStarts) {
  std::atomic<bool> was_running = false;
  executor_.on_start = [&](const exec::RunSpec&) {
    was_running = journalled(1) == core::Status::Running;
  };
  start();
  post(schedule(1));
  ASSERT_TRUE(executor_.wait_started(1));
  EXPECT_TRUE(was_running);
  EXPECT_FALSE(executor_.started[0].recovered);
  EXPECT_EQ(executor_.started[0].spec.kind, "exec");
  EXPECT_EQ(executor_.started[0].spec.timeout, Duration::seconds(60));
}

TEST_F(AgentLoopTest, NextRunStartsWhenTheFirstHasEnded) {
  start();
  post(schedule(1));
  post(schedule(2));
  ASSERT_TRUE(executor_.wait_started(1));
  EXPECT_EQ(status(2), core::Status::New);
  end(1);
  ASSERT_TRUE(executor_.wait_started(2));
  EXPECT_EQ(journalled(1), core::Status::Succeeded);
}

TEST_F(AgentLoopTest, NothingIsSentBeforeTheViewOfASession) {
  start();
  post(schedule(1));
  ASSERT_TRUE(executor_.wait_started(1));
  EXPECT_EQ(sent(), 0) << "the link is down";
  loop_->post(LinkEstablished{{.term = 4, .controller_id = "c"}});
  ASSERT_TRUE(link_.state.wait([&] { return !link_.messages.empty(); }));
  const auto& page = std::get<SendSyncPage>(link_.messages[0]);
  EXPECT_EQ(page.actions.size(), 1);
  end(1);
  ASSERT_TRUE(link_.state.wait([&] { return link_.messages.size() == 2; }));
  EXPECT_EQ(std::get<SendReport>(link_.messages[1]).action.status, core::Status::Succeeded);

  post(core::agent::LinkDown{});
  post(schedule(2));
  ASSERT_TRUE(executor_.wait_started(2));
  EXPECT_EQ(sent(), 2);
  close();
  EXPECT_EQ(Journal::open(store_, os::system_now(), os::system_random)->controller_term(), 4);
}

TEST_F(AgentLoopTest, FullDiskHoldsEverythingBackAndLosesNothing) {
  std::atomic<int> refusals = 0;
  std::atomic<bool> full = true;
  store_.set_fault_hook([&](const store::Batch&) {
    if (!full) return CommitFault::None;
    ++refusals;
    return CommitFault::Refuse;
  });
  start();
  loop_->post(LinkEstablished{{.term = 1, .controller_id = "c"}});
  post(schedule(1));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (refusals < 5 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  ASSERT_GE(refusals, 5);
  EXPECT_TRUE(executor_.started.empty());
  EXPECT_EQ(sent(), 0);
  EXPECT_FALSE(loop_->health().ok);
  const auto refused = request({core::agent::LocalSchedule{0, schedule(9)}, {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::StoreUnavailable);

  full = false;
  ASSERT_TRUE(executor_.wait_started(1));
  EXPECT_EQ(journalled(1), core::Status::Running);
  EXPECT_TRUE(link_.state.wait([&] { return !link_.messages.empty(); }));
  ASSERT_EQ(status(9), std::nullopt) << "what was refused leaves no trace";
  EXPECT_TRUE(loop_->health().ok);
}

TEST_F(AgentLoopTest, RequestCaughtByAFullDiskIsAnsweredInBoundedTime) {
  store_.set_fault_hook([](const store::Batch&) { return CommitFault::Refuse; });
  start();
  const auto answer = request({core::agent::LocalSchedule{0, schedule(1)}, {}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::StoreUnavailable);
  EXPECT_TRUE(executor_.started.empty());
}

TEST_F(AgentLoopTest, UnknownOutcomeOfACommitIsTriedAgain) {
  std::atomic<int> commits = 0;
  store_.set_fault_hook([&](const store::Batch&) {
    return ++commits == 1 ? CommitFault::TimeoutApplied : CommitFault::None;
  });
  start();
  post(schedule(1));
  ASSERT_TRUE(executor_.wait_started(1));
  EXPECT_EQ(executor_.started.size(), 1);
}

TEST_F(AgentLoopTest, FencedJournalIsFatalAndNothingStarts) {
  start();
  ASSERT_TRUE(store_.acquire_term());
  const auto answer = request({core::agent::LocalSchedule{0, schedule(1)}, {}});
  EXPECT_FALSE(answer);
  EXPECT_TRUE(fatal_);
  EXPECT_TRUE(executor_.started.empty());
}

TEST_F(AgentLoopTest, RestartAttachesToTheRunAndGoesOn) {
  start();
  post(schedule(1));
  post(schedule(2));
  ASSERT_TRUE(executor_.wait_started(1));
  ASSERT_EQ(status(2), core::Status::New);
  close();
  open();
  start();
  ASSERT_TRUE(executor_.wait_started(2));
  EXPECT_EQ(executor_.started[1].spec.id, id_of(1));
  EXPECT_TRUE(executor_.started[1].recovered);
  end(1);
  ASSERT_TRUE(executor_.wait_started(3));
  EXPECT_EQ(executor_.started[2].spec.id, id_of(2));
  EXPECT_FALSE(executor_.started[2].recovered);
}

TEST_F(AgentLoopTest, AbandonedRunWithoutTracesNeverStartsAgain) {
  auto abandoned = std::make_shared<core::JournalEntry>();
  abandoned->id = id_of(1);
  abandoned->kind = "exec";
  abandoned->status = core::Status::Failed;
  abandoned->result = core::ExecuteResult::Timeout;
  abandoned->control = core::Signal::Cancel;
  auto waiting = std::make_shared<core::JournalEntry>();
  waiting->id = id_of(2);
  waiting->seq = 1;
  waiting->kind = "exec";
  ASSERT_TRUE(journal_->commit({core::agent::PutEntry{abandoned}, core::agent::PutEntry{waiting}},
                               std::nullopt));
  close();
  open();
  start();
  ASSERT_TRUE(executor_.wait_started(1));
  EXPECT_EQ(executor_.started[0].spec.id, id_of(2));
  EXPECT_EQ(executor_.started.size(), 1);
}

TEST_F(AgentLoopTest, StandaloneAgentAcknowledgesItsOwn) {
  close();
  open(true);
  start();
  ASSERT_TRUE(request({core::agent::LocalSchedule{0, schedule(1)}, {}}));
  ASSERT_TRUE(executor_.wait_started(1));
  end(1);
  EXPECT_EQ(status(1), core::Status::Succeeded);
  close();
  const auto value = store_.get(store::Space::Journal, id_of(1).bytes());
  EXPECT_TRUE((*store::decode_journal_entry(**value))->acked);
}

TEST_F(AgentLoopTest, ReplacedAttemptIsForgottenByTheExecutor) {
  start();
  post(schedule(1));
  ASSERT_TRUE(executor_.wait_started(1));
  end(1, core::ExecuteResult::Error);
  auto again = schedule(1);
  again.attempt = 2;
  post(again);
  ASSERT_TRUE(executor_.wait_started(2));
  ASSERT_EQ(executor_.forgotten.size(), 1);
  EXPECT_EQ(executor_.forgotten[0], std::pair(id_of(1), 1U));
  EXPECT_EQ(journalled(1), core::Status::Running);
}

TEST_F(AgentLoopTest, SignalsReachTheExecutor) {
  start();
  post(schedule(1));
  ASSERT_TRUE(
      request({core::agent::LocalSignal{0, id_of(1), core::Signal::Cancel, "bob", ""}, {}}));
  ASSERT_TRUE(executor_.state.wait([&] { return !executor_.signals.empty(); }));
  EXPECT_EQ(executor_.signals[0], std::pair(id_of(1), core::Signal::Cancel));
  loop_->on_suspended(id_of(1), 1, true);
  EXPECT_EQ(status(1), core::Status::Suspended);
}

class AgentOutputTest : public AgentLoopTest {
 protected:
  void SetUp() override {
    AgentLoopTest::SetUp();
    start();
    loop_->post(LinkEstablished{{.term = 1, .controller_id = "c"}});
    post(schedule(1));
    ASSERT_TRUE(executor_.wait_started(1));
  }

  void ask(std::uint64_t request, std::uint64_t n, std::uint64_t offset, bool wait) {
    loop_->post(rpc::LogRequest{.request = request,
                                .id = id_of(n),
                                .attempt = 0,
                                .offset = offset,
                                .limit = 1000,
                                .wait = wait});
  }

  std::optional<rpc::LogChunk> chunk(std::uint64_t request) {
    const rpc::LogChunk* found = nullptr;
    link_.state.wait([&] {
      for (const auto& one : link_.chunks) {
        if (one.request == request) found = &one;
      }
      return found != nullptr;
    });
    return found == nullptr ? std::nullopt : std::optional(*found);
  }

  std::size_t chunks() {
    std::size_t count = 0;
    link_.state.change([&] { count = link_.chunks.size(); });
    return count;
  }

  void write(std::uint64_t n, const std::string& text, bool end) {
    executor_.state.change([&] {
      auto& output = executor_.outputs[id_of(n)];
      output.known = true;
      output.data += text;
      output.end = end;
    });
    loop_->on_output(id_of(n), 1);
  }
};

TEST_F(AgentOutputTest, RequestThatWaitsIsAnsweredByNewOutputAndByTheEnd) {
  ask(1, 1, 0, true);
  ASSERT_EQ(status(1), core::Status::Running);
  EXPECT_EQ(chunks(), 0) << "there is nothing yet";
  write(1, "hello", false);
  ASSERT_TRUE(chunk(1));
  EXPECT_EQ(chunk(1)->data, "hello");
  EXPECT_FALSE(chunk(1)->end);
  ask(2, 1, 5, true);
  write(1, "", true);
  ASSERT_TRUE(chunk(2));
  EXPECT_TRUE(chunk(2)->end);
  EXPECT_TRUE(chunk(2)->known);
  EXPECT_EQ(chunk(2)->offset, 5);
}

TEST_F(AgentOutputTest, RequestThatDoesNotWaitIsAnsweredAtOnce) {
  ask(1, 1, 0, false);
  ASSERT_TRUE(chunk(1));
  EXPECT_TRUE(chunk(1)->known) << "output is still to come";
  EXPECT_FALSE(chunk(1)->end);
  ask(2, 99, 0, true);
  ASSERT_TRUE(chunk(2));
  EXPECT_FALSE(chunk(2)->known);
  EXPECT_TRUE(chunk(2)->end);
}

TEST_F(AgentOutputTest, RequestsOfASessionThatEndedAreDropped) {
  ask(1, 1, 0, true);
  post(core::agent::LinkDown{});
  loop_->post(LinkEstablished{{.term = 1, .controller_id = "c"}});
  ASSERT_EQ(status(1), core::Status::Running) << "all of that was taken in before the output came";
  write(1, "hello", true);
  ask(2, 1, 0, true);
  ASSERT_TRUE(chunk(2));
  EXPECT_EQ(chunks(), 1);
}

class AgentShortWaitTest : public AgentOutputTest {
 protected:
  AgentShortWaitTest() { output_wait_ = Duration::millis(20); }
};

TEST_F(AgentShortWaitTest, RequestThatWaitsIsAnsweredAtItsDeadline) {
  ask(1, 1, 0, true);
  ASSERT_TRUE(chunk(1));
  EXPECT_EQ(chunk(1)->data, "");
  EXPECT_FALSE(chunk(1)->end);
}

}  // namespace
}  // namespace muster::agent
