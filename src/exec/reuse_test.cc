#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <optional>

#include "exec/runner_test_util.h"

namespace muster::exec {
namespace {

using core::ExecuteResult;

class ReuseTest : public ::testing::Test {
 protected:
  void SetUp() override { agent_.emplace(dir_.path("state")); }
  void next_life() {
    agent_.reset();
    agent_.emplace(dir_.path("state"));
  }
  // The runner of a run that has ended well.
  pid_t run(const RunSpec& spec) {
    EXPECT_EQ(agent_->run(spec).result, ExecuteResult::Ok);
    return agent_->runner_pid({spec.id, spec.attempt});
  }

  TempDir dir_;
  std::optional<TestAgent> agent_;
};

TEST_F(ReuseTest, ARunnerTakesTheNextRun) {
  const pid_t runner = run(shell("echo one"));
  const RunSpec second = shell("echo two; exit 3");
  const RunResult result = agent_->run(second);
  EXPECT_EQ(result.result, ExecuteResult::Error);
  EXPECT_EQ(outputs_of(result)["exit_code"], 3);
  EXPECT_EQ(agent_->output({second.id, 1}), "two\n");
  EXPECT_EQ(agent_->runner_pid({second.id, 1}), runner);
  EXPECT_EQ(run(make_spec("facts", Json::object())), runner);
}

TEST_F(ReuseTest, AnIdleRunnerGoesWithItsAgent) {
  const pid_t runner = run(shell("true"));
  ASSERT_TRUE(is_running(runner));
  agent_.reset();
  EXPECT_TRUE(wait_until([&] { return !is_running(runner); }));
}

TEST_F(ReuseTest, ARunnerWithProcessesLeftBehindTakesNoOther) {
  const pid_t runner = run(shell("sleep 600 >/dev/null 2>&1 & echo $! > " + dir_.path("pid")));
  const pid_t left = read_pid(dir_.path("pid"));
  const RunSpec second = shell("sleep 600");
  const RunKey key = agent_->start(second);
  EXPECT_NE(agent_->runner_pid(key), runner);
  agent_->executor().signal(key.id, key.attempt, core::Signal::Cancel);
  EXPECT_EQ(agent_->listener.wait_ended(key).result, ExecuteResult::Cancel);
  EXPECT_TRUE(is_running(left));
  ::kill(left, SIGKILL);
}

TEST_F(ReuseTest, AnIdleRunnerThatWasKilledIsReplaced) {
  const pid_t runner = run(shell("true"));
  ::kill(runner, SIGKILL);
  ASSERT_TRUE(wait_until([&] { return !is_running(runner); }));
  EXPECT_NE(run(shell("true")), runner);
}

TEST_F(ReuseTest, EveryStartOnAnIdleRunnerIsVisibleToTheNextAgent) {
  for (int i = 0; i < 20; ++i) {
    run(shell("true"));
    const std::string effects = dir_.path("effects" + std::to_string(i));
    const RunSpec spec = shell("echo x >> " + effects);
    const RunKey key = agent_->start(spec);
    next_life();
    agent_->start(spec, true);
    ASSERT_EQ(agent_->listener.wait_ended(key).result, ExecuteResult::Ok);
    ASSERT_EQ(read_text(effects), "x\n");
  }
}

TEST_F(ReuseTest, ARequestOnItsWayKeepsTheStateLocked) {
  const RunSpec first = shell("true");
  const pid_t runner = run(first);
  ::kill(runner, SIGSTOP);
  const RunSpec second = shell("echo x >> " + dir_.path("effects"));
  const RunKey key = agent_->start(second);
  // Commands are carried out in order: once this is gone, the runner has been asked.
  agent_->executor().forget(first.id, first.attempt);
  const std::string gone = dir_.path("state/runs/") + RunKey{first.id, 1}.name();
  ASSERT_TRUE(wait_until([&] { return !std::filesystem::exists(gone); }));
  agent_.reset();
  EXPECT_FALSE(StateLock::acquire(dir_.path("state"), Duration::millis(50)));
  ::kill(runner, SIGCONT);
  next_life();
  agent_->start(second, true);
  EXPECT_EQ(agent_->listener.wait_ended(key).result, ExecuteResult::Ok);
  EXPECT_EQ(read_text(dir_.path("effects")), "x\n");
}

TEST_F(ReuseTest, ARequestThatIsTooLongForARunnerGoesToTheSpawner) {
  run(shell("true"));
  const RunSpec spec = shell("true; # " + std::string(100'000, 'x'));
  EXPECT_EQ(agent_->run(spec).result, ExecuteResult::Ok);
}

TEST_F(ReuseTest, AForgottenDirectoryServesAnotherRun) {
  const RunSpec first = shell("echo one");
  run(first);
  agent_->executor().forget(first.id, first.attempt);
  const RunSpec second = shell("true");
  run(second);
  EXPECT_EQ(agent_->output({second.id, 1}), "");
  EXPECT_FALSE(agent_->executor().read_output(first.id, 1, 0, 100).known);
  // An agent that comes after clears away what is left.
  agent_->executor().forget(second.id, second.attempt);
  run(shell("true"));
  next_life();
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path("state/runs"))) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("spare.")) << entry.path();
  }
}

}  // namespace
}  // namespace muster::exec
