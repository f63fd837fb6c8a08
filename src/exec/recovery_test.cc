#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "exec/runner_test_util.h"

namespace muster::exec {
namespace {

using core::ExecuteResult;
using core::Signal;
using ::testing::HasSubstr;

class RecoveryTest : public ::testing::Test {
 protected:
  void SetUp() override { begin_life(); }
  void begin_life(bool exits_without_spawner = false) {
    agent_.emplace(dir_.path("state"), exits_without_spawner);
  }
  // Writes one line, then waits until the test opens the gate, then writes another.
  RunSpec gated() const {
    ::mkfifo(dir_.path("gate").c_str(), 0600);
    return shell("echo x >> " + dir_.path("effects") + "; echo before; echo $$ > " +
                 dir_.path("pid") + "; read line < " + dir_.path("gate") + "; echo after");
  }
  void open_gate() const { write_text(dir_.path("gate"), "go\n"); }
  std::string effects() const { return read_text(dir_.path("effects")); }
  std::string run_path(const RunKey& key) const { return dir_.path("state/runs/") + key.name(); }

  TempDir dir_;
  std::optional<TestAgent> agent_;
};

TEST_F(RecoveryTest, ANewAgentAttachesToARunningRun) {
  const RunSpec spec = gated();
  const RunKey key = agent_->start(spec);
  read_pid(dir_.path("pid"));
  agent_.reset();
  begin_life();
  agent_->start(spec, true);
  ASSERT_TRUE(agent_->listener.wait_suspended(key, false));  // told when it connects
  open_gate();
  const RunResult result = agent_->listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Ok) << result.reason;
  EXPECT_EQ(agent_->output(key), "before\nafter\n");
  EXPECT_EQ(effects(), "x\n");
}

TEST_F(RecoveryTest, AgentsMayComeAndGo) {
  const RunSpec spec = gated();
  const RunKey key = agent_->start(spec);
  read_pid(dir_.path("pid"));
  for (int life = 0; life < 5; ++life) {
    agent_.reset();
    begin_life();
    agent_->start(spec, true);
    ASSERT_TRUE(agent_->listener.wait_suspended(key, false));
  }
  agent_->executor().signal(key.id, 1, Signal::Suspend);
  ASSERT_TRUE(agent_->listener.wait_suspended(key, true));
  agent_.reset();
  begin_life();
  agent_->start(spec, true);
  ASSERT_TRUE(agent_->listener.wait_suspended(key, true));
  agent_->executor().signal(key.id, 1, Signal::Cancel);
  EXPECT_EQ(agent_->listener.wait_ended(key).result, ExecuteResult::Cancel);
}

TEST_F(RecoveryTest, ARunThatEndedMeanwhileIsReported) {
  const RunSpec spec = gated();
  const RunKey key = agent_->start(spec);
  read_pid(dir_.path("pid"));
  agent_.reset();
  open_gate();
  ASSERT_TRUE(
      wait_until([&] { return find_result(read_text(run_path(key) + "/run")).has_value(); }));
  begin_life();
  agent_->start(spec, true);
  EXPECT_EQ(agent_->listener.wait_ended(key).result, ExecuteResult::Ok);
  EXPECT_EQ(agent_->output(key), "before\nafter\n");
  EXPECT_EQ(effects(), "x\n");
}

TEST_F(RecoveryTest, AStartThatNeverHappenedHappensNow) {
  const RunSpec spec = shell("echo x >> " + dir_.path("effects"));
  EXPECT_EQ(agent_->run(shell("true")).result, ExecuteResult::Ok);
  agent_.reset();
  begin_life();
  const RunKey key = agent_->start(spec, true);
  EXPECT_EQ(agent_->listener.wait_ended(key).result, ExecuteResult::Ok);
  EXPECT_EQ(effects(), "x\n");
}

TEST_F(RecoveryTest, EveryStartIsVisibleToTheNextAgent) {
  // The agent dies at once after asking: whatever the spawner received must have happened, exactly
  // once, by the time the next agent holds the lock.
  for (int i = 0; i < 20; ++i) {
    const RunSpec spec = shell("echo x >> " + dir_.path("effects" + std::to_string(i)));
    const RunKey key = agent_->start(spec);
    agent_.reset();
    begin_life();
    agent_->start(spec, true);
    ASSERT_EQ(agent_->listener.wait_ended(key).result, ExecuteResult::Ok);
    ASSERT_EQ(read_text(dir_.path("effects" + std::to_string(i))), "x\n");
  }
}

TEST_F(RecoveryTest, AKilledRunnerIsAnErrorAndTakesItsTreeWithIt) {
  const std::string inner = "echo $$ > " + dir_.path("inner") + "; sleep 600";
  const RunKey key =
      agent_->start(shell("setsid sh -c '" + inner + "' & sleep 600 & echo $! > " +
                          dir_.path("grandchild") + "; echo $$ > " + dir_.path("pid") + "; wait"));
  const pid_t child = read_pid(dir_.path("pid"));
  const pid_t grandchild = read_pid(dir_.path("grandchild"));
  const pid_t moved = read_pid(dir_.path("inner"));
  ::kill(agent_->runner_pid(key), SIGKILL);
  const RunResult result = agent_->listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Error);
  EXPECT_EQ(result.reason, "runner was killed before the action ended");
  EXPECT_EQ(outputs_of(result)["runner_lost"], true);
  EXPECT_FALSE(is_running(child));
  EXPECT_FALSE(is_running(grandchild));
  EXPECT_FALSE(is_running(moved));
  EXPECT_TRUE(agent_->executor().read_output(key.id, 0, 0, 10).end);
}

TEST_F(RecoveryTest, ARunnerKilledWhileNoAgentLooksIsSettledLater) {
  const RunSpec spec = gated();
  const RunKey key = agent_->start(spec);
  const pid_t child = read_pid(dir_.path("pid"));
  const pid_t runner = agent_->runner_pid(key);
  agent_.reset();
  ::kill(runner, SIGKILL);
  begin_life();
  agent_->start(spec, true);
  const RunResult result = agent_->listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Error);
  EXPECT_EQ(outputs_of(result)["runner_lost"], true);
  EXPECT_FALSE(is_running(child));
  EXPECT_EQ(effects(), "x\n");
  // Settled once and for all.
  agent_.reset();
  begin_life();
  agent_->start(spec, true);
  EXPECT_EQ(agent_->listener.wait_ended(key).reason, result.reason);
}

TEST_F(RecoveryTest, AProcessThatHasTheChildsOldPidIsLeftAlone) {
  const RunSpec spec = shell("true");
  const RunKey key{spec.id, 1};
  std::filesystem::create_directories(run_path(key));
  // A bystander whose number the records carry, but with another start time.
  const pid_t bystander = ::fork();
  if (bystander == 0) {
    ::setpgid(0, 0);
    ::pause();
    ::_exit(0);
  }
  const std::string boot = read_boot_id();
  const ProcessRecord record{bystander, 1, boot};
  write_text(run_path(key) + "/run", runner_line(record) + child_line(record));
  agent_->start(spec, true);
  EXPECT_EQ(agent_->listener.wait_ended(key).result, ExecuteResult::Error);
  EXPECT_TRUE(is_running(bystander));
  ::kill(bystander, SIGKILL);
  ::waitpid(bystander, nullptr, 0);
}

TEST_F(RecoveryTest, AfterARestartOfTheHostNothingIsStartedTwice) {
  EXPECT_EQ(agent_->run(shell("true")).result, ExecuteResult::Ok);
  agent_.reset();
  write_text(dir_.path("state/runs/boot"), "another-boot");
  begin_life();
  // Its directory may have been lost with the power.
  const RunSpec missing = shell("echo x >> " + dir_.path("effects"));
  const RunKey key = agent_->start(missing, true);
  const RunResult result = agent_->listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Error);
  EXPECT_THAT(result.reason, HasSubstr("the host restarted"));
  EXPECT_EQ(effects(), "");

  const RunSpec found = shell("true");
  const RunKey found_key{found.id, 1};
  std::filesystem::create_directories(run_path(found_key));
  write_text(run_path(found_key) + "/run", "runner 4242 77 another-boot\n");
  agent_->start(found, true);
  EXPECT_EQ(agent_->listener.wait_ended(found_key).reason,
            "the host restarted before the action ended");
  // New work goes on, and marks the new boot.
  EXPECT_EQ(agent_->run(shell("true")).result, ExecuteResult::Ok);
  EXPECT_EQ(read_text(dir_.path("state/runs/boot")), read_boot_id());
}

TEST_F(RecoveryTest, ADirectoryWithoutAnythingInItIsALostRun) {
  const RunSpec spec = shell("true");
  const RunKey key{spec.id, 1};
  std::filesystem::create_directories(run_path(key));
  write_text(run_path(key) + "/run", "");  // as a power cut can leave it
  agent_->start(spec, true);
  const RunResult result = agent_->listener.wait_ended(key);
  EXPECT_EQ(result.result, ExecuteResult::Error);
  EXPECT_EQ(outputs_of(result)["runner_lost"], true);
}

TEST_F(RecoveryTest, ALostSpawnerIsReportedAndItsRunsGoOn) {
  agent_.reset();
  begin_life(true);
  const RunSpec running = gated();
  const RunKey key = agent_->start(running);
  read_pid(dir_.path("pid"));
  ::kill(agent_->spawner_pid(), SIGKILL);
  ASSERT_TRUE(wait_until([&] { return agent_->spawner_lost.load(); }));
  // Asked for, and left to the next life.
  const RunSpec later = shell("echo later >> " + dir_.path("later"));
  const RunKey later_key = agent_->start(later);
  open_gate();
  EXPECT_EQ(agent_->listener.wait_ended(key).result, ExecuteResult::Ok);
  EXPECT_EQ(agent_->listener.ends(later_key), 0U);
  agent_.reset();
  begin_life(true);
  agent_->start(later, true);
  EXPECT_EQ(agent_->listener.wait_ended(later_key).result, ExecuteResult::Ok);
  EXPECT_EQ(read_text(dir_.path("later")), "later\n");
}

TEST_F(RecoveryTest, WithoutAHandlerALostSpawnerFailsNewRuns) {
  ::kill(agent_->spawner_pid(), SIGKILL);
  const RunResult result = agent_->run(shell("true"));
  EXPECT_EQ(result.result, ExecuteResult::Error);
  EXPECT_EQ(agent_->run(shell("true")).reason, "the spawner is gone");
}

}  // namespace
}  // namespace muster::exec
