#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/api_log_record.h"
#include "controller/api_test_util.h"

namespace muster::controller {
namespace {

using testing::Answer;
using ::testing::HasSubstr;

// An agent whose output the test decides.
class LogsApiTest : public ::testing::Test {
 protected:
  LogsApiTest() {
    rig_.on_log_request = [this](core::SessionId session, const rpc::LogRequest& request) {
      rpc::LogChunk chunk = answer(request);
      chunk.request = request.request;
      rig_.logs.on_log_chunk(session, std::move(chunk));
    };
    rig_.controller.connect_agent("db1", 5);
    id_ = rig_.create(
        {{"action", "exec"}, {"name", "job"}, {"target", "db1"}, {"inputs", {{"argv", {"true"}}}}});
  }

  void report(core::Status status, const Json& outputs = Json::object()) {
    core::AgentReport report;
    report.session = 5;
    report.action.id = *Uuid::parse(id_);
    report.action.status = status;
    report.action.start_time = rig_.controller.now();
    report.action.outputs = dump_json(outputs);
    rig_.controller.post(report);
  }

  rpc::LogChunk answer(const rpc::LogRequest& request) {
    const std::lock_guard lock(mutex_);
    rpc::LogChunk chunk;
    chunk.known = known_;
    chunk.offset = request.offset;
    if (request.offset < output_.size()) {
      chunk.data = output_.substr(request.offset, std::min<std::size_t>(request.limit, 4));
    }
    chunk.end = ended_ && request.offset + chunk.data.size() >= output_.size();
    return chunk;
  }
  void set_output(std::string output, bool known, bool ended) {
    const std::lock_guard lock(mutex_);
    output_ = std::move(output);
    known_ = known;
    ended_ = ended;
  }

  store::MemoryStore store_;
  testing::ApiRig rig_{store_};
  std::string id_;
  std::mutex mutex_;
  std::string output_;
  bool known_ = false;
  bool ended_ = false;
};

TEST_F(LogsApiTest, ReadsOutputFromTheAgent) {
  set_output("hello world", true, true);
  const Answer all = rig_.get("/v1/actions/job/logs");
  EXPECT_EQ(all.response.body, "hello world");
  EXPECT_EQ(all.header("X-Muster-Log-Offset"), "11");
  EXPECT_EQ(all.header("X-Muster-Log-End"), "true");
  EXPECT_EQ(all.header("X-Muster-Log-Source"), "agent");
  const Answer part = rig_.get("/v1/actions/job/logs?offset=6&limit=3");
  EXPECT_EQ(part.response.body, "wor");
  EXPECT_EQ(part.header("X-Muster-Log-Offset"), "9");
  EXPECT_EQ(part.header("X-Muster-Log-End"), "false");
}

TEST_F(LogsApiTest, FallsBackToTheRecord) {
  set_output("", false, false);
  report(core::Status::Succeeded,
         {{"output_tail", "the end"}, {"output_bytes", 100}, {"exit_code", 0}});
  for (const bool connected : {true, false}) {
    if (!connected) rig_.controller.post(core::AgentDisconnected{5, "test"});
    const Answer answer = rig_.get("/v1/actions/job/logs");
    EXPECT_EQ(answer.response.body, "the end");
    EXPECT_EQ(answer.header("X-Muster-Log-Source"), "record");
    EXPECT_EQ(answer.header("X-Muster-Log-Offset"), "100");
    EXPECT_EQ(answer.header("X-Muster-Log-End"), "true");
    EXPECT_EQ(answer.header("X-Muster-Log-Truncated"), "true");
    EXPECT_EQ(rig_.get("/v1/actions/job/logs?offset=97").response.body, "end");
  }
}

TEST_F(LogsApiTest, TellsThatAnAttemptIsNotThere) {
  const Answer early = rig_.get("/v1/actions/job/logs?attempt=9");
  EXPECT_EQ(early.response.status, 404);
  EXPECT_EQ(early.json.at("detail"), "there is no attempt 9 yet; the newest is 1");
  set_output("", false, false);
  const std::string id = rig_.create({{"action", "exec"},
                                      {"name", "stubborn"},
                                      {"target", "db1"},
                                      {"inputs", {{"argv", {"false"}}}},
                                      {"retry", {{"attempts", 3}, {"backoff", "1ms"}}}});
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
    core::AgentReport report;
    report.session = 5;
    report.action.id = *Uuid::parse(id);
    report.action.attempt = attempt;
    report.action.status = core::Status::Failed;
    report.action.result = core::ExecuteResult::Error;
    report.action.start_time = rig_.controller.now();
    report.action.outputs = dump_json({{"output_tail", "last words"}, {"output_bytes", 10}});
    rig_.controller.post(report);
    for (int i = 0; i < 10; ++i) rig_.controller.post(core::Tick{});  // the clock moves with each
  }
  ASSERT_EQ(rig_.get("/v1/actions/stubborn").json.at("action").at("attempt"), 3);
  const Answer gone = rig_.get("/v1/actions/stubborn/logs?attempt=1");
  EXPECT_EQ(gone.response.status, 404);
  EXPECT_EQ(gone.json.at("detail"),
            "the output of attempt 1 is no longer kept; the newest attempt is 3");
  EXPECT_EQ(rig_.get("/v1/actions/stubborn/logs?attempt=3").response.body, "last words");
}

TEST_F(LogsApiTest, FollowsUntilTheActionHasEnded) {
  set_output("one ", true, false);
  const Answer answer = rig_.get("/v1/actions/job/logs?follow=true");
  ASSERT_NE(answer.stream, nullptr);
  const auto contains = [](std::string part) {
    return [part](const std::string& text) { return text.find(part) != std::string::npos; };
  };
  ASSERT_TRUE(answer.stream->wait_for(contains("one ")));
  set_output("one two ", true, false);
  ASSERT_TRUE(answer.stream->wait_for(contains("two ")));
  set_output("one two three", true, true);
  ASSERT_TRUE(answer.stream->wait_for(contains("three")));
  EXPECT_TRUE(answer.stream->open());
  report(core::Status::Succeeded);
  EXPECT_TRUE(answer.stream->wait_closed());
  EXPECT_EQ(answer.stream->text(), "one two three");
}

TEST_F(LogsApiTest, FollowsOneAttemptToItsEnd) {
  set_output("all of it", true, true);
  const Answer answer = rig_.get("/v1/actions/job/logs?follow=true&attempt=1");
  EXPECT_TRUE(answer.stream->wait_closed());
  EXPECT_EQ(answer.stream->text(), "all of it");
}

TEST_F(LogsApiTest, FollowsThroughAnAbsenceOfTheAgent) {
  rig_.controller.post(core::AgentDisconnected{5, "test"});
  const Answer answer = rig_.get("/v1/actions/job/logs?follow=true");
  set_output("late", true, false);
  rig_.controller.connect_agent("db1", 6);
  ASSERT_TRUE(answer.stream->wait_for([](const std::string& text) { return text == "late"; }));
  answer.stream->close();
}

TEST_F(LogsApiTest, RefusesBadQueries) {
  EXPECT_EQ(rig_.get("/v1/actions/job/logs?offset=-1").code(), "invalid_value");
  EXPECT_EQ(rig_.get("/v1/actions/job/logs?limit=0").code(), "invalid_value");
  EXPECT_EQ(rig_.get("/v1/actions/job/logs?attempt=0").code(), "invalid_value");
  EXPECT_EQ(rig_.get("/v1/actions/nobody/logs").code(), "not_found");
}

TEST(RecordedOutput, BelongsToTheAttemptThatEnded) {
  core::Action action;
  action.spec = std::make_shared<const core::ActionSpec>();
  action.outputs = R"({"output_tail":"told"})";
  const auto text_of = [&](std::uint32_t attempt) {
    return recorded_output(action, attempt, 0, 100).data;
  };
  action.status = core::Status::PendingSchedule;
  action.attempt = 3;
  EXPECT_EQ(text_of(2), "told");
  EXPECT_EQ(text_of(3), "");
  // The first of an agent's own, which took over an id that had used up three.
  action.attempt_floor = 3;
  action.attempt = 4;
  EXPECT_EQ(text_of(1), "told");
  EXPECT_EQ(text_of(3), "");
  action.attempt = 5;
  EXPECT_EQ(text_of(4), "told");
  action.status = core::Status::Succeeded;
  EXPECT_EQ(text_of(5), "told");
}

class LogBrokerTest : public ::testing::Test {
 protected:
  using Outcome = Result<rpc::LogChunk>;

  // Waits for the answer of a fetch.
  struct Waiter {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Outcome> outcome;

    LogBroker::Callback callback() {
      return [this](Outcome result) {
        const std::lock_guard lock(mutex);
        outcome = std::move(result);
        changed.notify_all();
      };
    }
    Outcome wait() {
      std::unique_lock lock(mutex);
      EXPECT_TRUE(
          changed.wait_for(lock, testing::kPatience, [this] { return outcome.has_value(); }));
      return *outcome;
    }
  };

  store::MemoryStore store_;
  testing::TestController controller_{store_};
  std::vector<rpc::LogRequest> sent_;
  LogBroker::Send send_ = [this](core::SessionId, const rpc::LogRequest& request) {
    sent_.push_back(request);
  };
};

TEST_F(LogBrokerTest, GivesUpAtTheDeadline) {
  controller_.connect_agent("db1", 5);
  LogBroker broker(controller_, send_, {.deadline = Duration::millis(20)});
  Waiter waiter;
  broker.fetch("db1", {}, waiter.callback());
  EXPECT_EQ(waiter.wait().error().code, ErrorCode::Timeout);
  ASSERT_EQ(sent_.size(), 1u);
  // Too late, but harmless.
  broker.on_log_chunk(5, {.request = sent_[0].request, .data = "x"});
}

TEST_F(LogBrokerTest, TellsThatAnAgentIsAway) {
  LogBroker broker(controller_, send_);
  Waiter never;
  broker.fetch("db9", {}, never.callback());
  EXPECT_EQ(never.wait().error().code, ErrorCode::Unavailable);
  controller_.connect_agent("db1", 5);
  Waiter cut;
  broker.fetch("db1", {}, cut.callback());
  broker.on_closed(5);
  EXPECT_EQ(cut.wait().error().code, ErrorCode::Unavailable);
}

TEST_F(LogBrokerTest, IgnoresChunksOfOtherSessions) {
  controller_.connect_agent("db1", 5);
  LogBroker broker(controller_, send_);
  Waiter waiter;
  broker.fetch("db1", {}, waiter.callback());
  ASSERT_EQ(sent_.size(), 1u);
  broker.on_log_chunk(6, {.request = sent_[0].request, .data = "wrong"});
  broker.on_log_chunk(5, {.request = sent_[0].request + 1, .data = "wrong"});
  broker.on_log_chunk(5, {.request = sent_[0].request, .data = "right"});
  EXPECT_EQ(waiter.wait()->data, "right");
}

TEST_F(LogBrokerTest, LimitsWhatIsPendingAndAnswersAllWhenItStops) {
  controller_.connect_agent("db1", 5);
  LogBroker broker(controller_, send_, {.pending_max = 1});
  Waiter first;
  Waiter second;
  broker.fetch("db1", {}, first.callback());
  broker.fetch("db1", {}, second.callback());
  EXPECT_EQ(second.wait().error().code, ErrorCode::Overloaded);
  broker.stop();
  EXPECT_EQ(first.wait().error().code, ErrorCode::Unavailable);
}

}  // namespace
}  // namespace muster::controller
