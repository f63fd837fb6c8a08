#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "exec/runner_test_util.h"

namespace muster::exec {
namespace {

using core::ExecuteResult;
using core::Signal;
using ::testing::HasSubstr;

// Stopped, or held in vfork() by a child that was stopped before it could execute its program.
bool is_frozen(pid_t pid) {
  if (process_state(pid) == 'T') return true;
  const auto below = os::list_descendants(pid);
  return process_state(pid) == 'D' && std::any_of(below.begin(), below.end(), [](const auto& info) {
           return info.state == 'T';
         });
}

class RunSignalTest : public ::testing::Test {
 protected:
  // Starts a program that leaves a process in a session of its own, and its own pid and that one's
  // in files. `trap` is put in front of both.
  RunSpec tree(const std::string& trap, Json more = Json::object(),
               Duration timeout = Duration::seconds(60)) const {
    const std::string inner =
        trap + "echo $$ > " + dir_.path("inner") + "; while :; do sleep 1; done";
    return shell(trap + "setsid sh -c '" + inner + "' & echo $$ > " + dir_.path("outer") +
                     "; while :; do sleep 1; done",
                 std::move(more), timeout);
  }
  pid_t outer() const { return read_pid(dir_.path("outer")); }
  pid_t inner() const { return read_pid(dir_.path("inner")); }
  void signal(const RunKey& key, Signal signal) {
    agent_.executor().signal(key.id, key.attempt, signal);
  }

  TempDir dir_;
  TestAgent agent_{dir_.path("state")};
};

TEST_F(RunSignalTest, ATimeoutEndsTheWholeTree) {
  const RunKey key = agent_.start(tree("", {}, Duration::millis(700)));
  const pid_t outer_pid = outer();
  const pid_t inner_pid = inner();
  const RunResult result = agent_.listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Timeout);
  EXPECT_EQ(result.reason, "timed out after 700ms");
  EXPECT_FALSE(is_running(outer_pid));
  EXPECT_FALSE(is_running(inner_pid));
  EXPECT_GE(outputs_of(result)["duration_ms"].get<int>(), 700);
}

TEST_F(RunSignalTest, ACancelEndsTheWholeTree) {
  const RunKey key = agent_.start(tree(""));
  const pid_t outer_pid = outer();
  const pid_t inner_pid = inner();
  signal(key, Signal::Cancel);
  const RunResult result = agent_.listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Cancel);
  EXPECT_EQ(result.reason, "cancelled");
  EXPECT_EQ(outputs_of(result)["signal"], SIGTERM);
  EXPECT_FALSE(is_running(outer_pid));
  EXPECT_FALSE(is_running(inner_pid));
}

TEST_F(RunSignalTest, WhatIgnoresTermIsKilledAfterTheGraceTime) {
  const RunKey key = agent_.start(tree("trap : TERM; ", {{"grace", "300ms"}}));
  const pid_t outer_pid = outer();
  const pid_t inner_pid = inner();
  const auto before = std::chrono::steady_clock::now();
  signal(key, Signal::Cancel);
  const RunResult result = agent_.listener.wait_ended(key);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(300));
  EXPECT_EQ(result.result, ExecuteResult::Cancel);
  EXPECT_EQ(outputs_of(result)["signal"], SIGKILL);
  EXPECT_FALSE(is_running(outer_pid));
  EXPECT_FALSE(is_running(inner_pid));
}

TEST_F(RunSignalTest, AProgramCanEndCleanlyOnCancel) {
  const RunKey key = agent_.start(shell("trap 'echo bye; exit 7' TERM; echo $$ > " +
                                        dir_.path("outer") + "; while :; do sleep 0.05; done"));
  outer();
  signal(key, Signal::Cancel);
  const RunResult result = agent_.listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Cancel);
  EXPECT_EQ(outputs_of(result)["exit_code"], 7);
  EXPECT_THAT(agent_.output(key), HasSubstr("bye\n"));
}

TEST_F(RunSignalTest, ACancelThatComesWithTheStartIsNotLost) {
  const RunKey key = agent_.start(shell("sleep 600"));
  signal(key, Signal::Cancel);
  EXPECT_EQ(agent_.listener.wait_ended(key).result, ExecuteResult::Cancel);
}

TEST_F(RunSignalTest, SuspendStopsTheTreeAndResumeContinuesIt) {
  const RunKey key = agent_.start(tree(""));
  const pid_t outer_pid = outer();
  const pid_t inner_pid = inner();
  signal(key, Signal::Suspend);
  ASSERT_TRUE(agent_.listener.wait_suspended(key, true));
  EXPECT_TRUE(wait_until([&] { return is_frozen(outer_pid); })) << process_state(outer_pid);
  EXPECT_TRUE(wait_until([&] { return is_frozen(inner_pid); })) << process_state(inner_pid);
  signal(key, Signal::Resume);
  ASSERT_TRUE(agent_.listener.wait_suspended(key, false));
  EXPECT_TRUE(wait_until([&] { return !is_frozen(outer_pid); }));
  EXPECT_TRUE(wait_until([&] { return !is_frozen(inner_pid); }));
  signal(key, Signal::Cancel);
  EXPECT_EQ(agent_.listener.wait_ended(key).result, ExecuteResult::Cancel);
}

TEST_F(RunSignalTest, SuspendedTimeDoesNotCountAgainstTheTimeout) {
  const auto begin = std::chrono::steady_clock::now();
  const RunKey key = agent_.start(tree("", {}, Duration::millis(1500)));
  outer();
  signal(key, Signal::Suspend);
  ASSERT_TRUE(agent_.listener.wait_suspended(key, true));
  // Longer than the whole timeout, counted from the start.
  ASSERT_TRUE(wait_until(
      [&] { return std::chrono::steady_clock::now() > begin + std::chrono::milliseconds(1900); }));
  EXPECT_EQ(agent_.listener.ends(key), 0U);
  signal(key, Signal::Resume);
  ASSERT_TRUE(agent_.listener.wait_suspended(key, false));
  const RunResult result = agent_.listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Timeout);
}

TEST_F(RunSignalTest, ACancelReachesASuspendedRun) {
  const RunKey key = agent_.start(shell("trap 'exit 9' TERM; echo $$ > " + dir_.path("outer") +
                                        "; while :; do sleep 0.05; done"));
  outer();
  signal(key, Signal::Suspend);
  ASSERT_TRUE(agent_.listener.wait_suspended(key, true));
  signal(key, Signal::Cancel);
  const RunResult result = agent_.listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Cancel);
  EXPECT_EQ(outputs_of(result)["exit_code"], 9);
}

TEST_F(RunSignalTest, ASignalToARunThatIsOverIsIgnored) {
  const RunSpec spec = shell("true");
  EXPECT_EQ(agent_.run(spec).result, ExecuteResult::Ok);
  signal({spec.id, 1}, Signal::Cancel);
  EXPECT_EQ(agent_.run(shell("true")).result, ExecuteResult::Ok);
  EXPECT_EQ(agent_.listener.ends({spec.id, 1}), 1U);
}

TEST_F(RunSignalTest, SleepHonoursCancelAndSuspend) {
  const RunKey key = agent_.start(make_spec("sleep", {{"duration", "600s"}}));
  signal(key, Signal::Suspend);
  ASSERT_TRUE(agent_.listener.wait_suspended(key, true));
  signal(key, Signal::Cancel);
  EXPECT_EQ(agent_.listener.wait_ended(key).result, ExecuteResult::Cancel);
}

TEST_F(RunSignalTest, RunnersIgnoreTheSignalsThatEndOrdinaryPrograms) {
  const RunKey key = agent_.start(shell("echo $$ > " + dir_.path("outer") + "; sleep 600"));
  outer();
  ::kill(agent_.runner_pid(key), SIGTERM);
  ::kill(agent_.runner_pid(key), SIGINT);
  ::kill(agent_.spawner_pid(), SIGTERM);
  EXPECT_EQ(agent_.run(shell("true")).result, ExecuteResult::Ok);
  EXPECT_EQ(agent_.listener.ends(key), 0U);
  signal(key, Signal::Cancel);
  EXPECT_EQ(agent_.listener.wait_ended(key).result, ExecuteResult::Cancel);
}

}  // namespace
}  // namespace muster::exec
