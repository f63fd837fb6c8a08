#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/runner_test_util.h"

namespace muster::exec {
namespace {

using core::ExecuteResult;
using ::testing::HasSubstr;

class ExecutorTest : public ::testing::Test {
 protected:
  TempDir dir_;
  TestAgent agent_{dir_.path("state")};
};

TEST_F(ExecutorTest, ASuccessfulProgramAnswersOk) {
  const RunSpec spec = make_spec("exec", {{"argv", {"true"}}});
  const RunResult result = agent_.run(spec);
  EXPECT_EQ(result.result, ExecuteResult::Ok) << result.reason;
  EXPECT_EQ(result.reason, "");
  const Json outputs = outputs_of(result);
  EXPECT_EQ(outputs["exit_code"], 0);
  EXPECT_EQ(outputs["output_bytes"], 0);
  EXPECT_EQ(outputs["output_truncated"], false);
  EXPECT_EQ(outputs["output_tail"], "");
  EXPECT_GE(outputs["duration_ms"].get<int>(), 0);
}

TEST_F(ExecutorTest, ExitCodesDecideTheResult) {
  const RunResult error = agent_.run(shell("exit 3"));
  EXPECT_EQ(error.result, ExecuteResult::Error);
  EXPECT_EQ(error.reason, "exit code 3");
  EXPECT_EQ(outputs_of(error)["exit_code"], 3);

  const RunResult allowed = agent_.run(shell("exit 3", {{"success_codes", {0, 3}}}));
  EXPECT_EQ(allowed.result, ExecuteResult::Ok);
  const RunResult retry = agent_.run(shell("exit 75", {{"retry_codes", {75}}}));
  EXPECT_EQ(retry.result, ExecuteResult::Retry);
  EXPECT_EQ(retry.reason, "exit code 75");
}

TEST_F(ExecutorTest, ADeathBySignalIsAnErrorThatNamesIt) {
  const RunResult result = agent_.run(shell("kill -9 $$"));
  EXPECT_EQ(result.result, ExecuteResult::Error);
  EXPECT_EQ(result.reason, "killed by signal 9 (SIGKILL)");
  EXPECT_EQ(outputs_of(result)["signal"], 9);
  EXPECT_FALSE(outputs_of(result).contains("exit_code"));
}

TEST_F(ExecutorTest, WhatCannotBeExecutedIsAnErrorWithTheCause) {
  const RunResult missing = agent_.run(make_spec("exec", {{"argv", {"/no/such/program"}}}));
  EXPECT_EQ(missing.result, ExecuteResult::Error);
  EXPECT_EQ(missing.reason, "cannot run '/no/such/program': No such file or directory");

  write_text(dir_.path("plain"), "text");
  const RunResult plain = agent_.run(make_spec("exec", {{"argv", {dir_.path("plain")}}}));
  EXPECT_THAT(plain.reason, HasSubstr("Permission denied"));

  const RunResult cwd = agent_.run(shell("true", {{"cwd", "/no/such/directory"}}));
  EXPECT_EQ(cwd.result, ExecuteResult::Error);
  EXPECT_THAT(cwd.reason, HasSubstr("cannot change to directory '/no/such/directory'"));

  const RunResult user = agent_.run(shell("true", {{"user", "no-such-user"}}));
  EXPECT_THAT(user.reason, HasSubstr("no user 'no-such-user'"));
}

TEST_F(ExecutorTest, BadInputsAndUnknownKindsAreErrors) {
  const RunResult inputs = agent_.run(make_spec("exec", {{"argv", 5}}));
  EXPECT_EQ(inputs.result, ExecuteResult::Error);
  EXPECT_THAT(inputs.reason, HasSubstr("/inputs/argv"));
  const RunResult kind = agent_.run(make_spec("teleport", Json::object()));
  EXPECT_EQ(kind.result, ExecuteResult::Error);
  EXPECT_THAT(kind.reason, HasSubstr("'teleport'"));
}

TEST_F(ExecutorTest, CapturesBothStreamsInOrder) {
  const RunSpec spec = shell("echo one; echo two >&2; echo three");
  const RunResult result = agent_.run(spec);
  EXPECT_EQ(outputs_of(result)["output_tail"], "one\ntwo\nthree\n");
  const RunKey key{spec.id, 1};
  EXPECT_EQ(agent_.output(key), "one\ntwo\nthree\n");
  const OutputChunk part = agent_.executor().read_output(spec.id, 0, 4, 3);
  EXPECT_EQ(part.data, "two");
  EXPECT_FALSE(part.end);
  const OutputChunk rest = agent_.executor().read_output(spec.id, 0, 7, 100);
  EXPECT_EQ(rest.data, "\nthree\n");
  EXPECT_TRUE(rest.end);
  EXPECT_FALSE(rest.truncated);
  EXPECT_FALSE(agent_.executor().read_output(core::ActionId(), 0, 0, 100).known);
}

TEST_F(ExecutorTest, KeepsOutputUpToTheLimitAndDrainsTheRest) {
  // 2 MiB is more than a pipe holds: the program would hang if nobody read on.
  const RunSpec spec =
      shell("head -c 2097152 /dev/zero | tr '\\0' x; echo; echo the end", {{"output_limit", 1000}});
  const RunResult result = agent_.run(spec);
  EXPECT_EQ(result.result, ExecuteResult::Ok);
  const Json outputs = outputs_of(result);
  EXPECT_EQ(outputs["output_bytes"], 2097152 + 9);
  EXPECT_EQ(outputs["output_truncated"], true);
  const auto tail = outputs["output_tail"].get<std::string>();
  EXPECT_EQ(tail.size(), 4096U);
  EXPECT_TRUE(tail.ends_with("x\nthe end\n"));
  EXPECT_EQ(agent_.output({spec.id, 1}), std::string(1000, 'x'));
  EXPECT_TRUE(agent_.executor().read_output(spec.id, 1, 1000, 100).truncated);
}

TEST_F(ExecutorTest, TheTailIsValidTextWhateverWasWritten) {
  const RunResult result = agent_.run(shell("printf 'a\\377b'"));
  EXPECT_EQ(outputs_of(result)["output_tail"],
            "a\xEF\xBF\xBD"
            "b");
}

TEST_F(ExecutorTest, OutputCanBeReadWhileTheRunGoesOn) {
  const RunSpec spec = shell("echo first; read line < " + dir_.path("gate") + "; echo $line");
  ASSERT_EQ(::mkfifo(dir_.path("gate").c_str(), 0600), 0);
  const RunKey key = agent_.start(spec);
  ASSERT_TRUE(agent_.listener.wait_output(key));
  const OutputChunk chunk = agent_.executor().read_output(spec.id, 0, 0, 100);
  EXPECT_EQ(chunk.data, "first\n");
  EXPECT_FALSE(chunk.end);
  write_text(dir_.path("gate"), "second\n");
  agent_.listener.wait_ended(key);
  EXPECT_EQ(agent_.output(key), "first\nsecond\n");
}

TEST_F(ExecutorTest, StdinEnvironmentAndDirectoryAreAsAsked) {
  const RunResult stdin_result = agent_.run(shell("wc -c", {{"stdin", std::string(100'000, 'a')}}));
  EXPECT_EQ(outputs_of(stdin_result)["output_tail"], "100000\n");
  const RunResult no_stdin = agent_.run(shell("wc -c"));
  EXPECT_EQ(outputs_of(no_stdin)["output_tail"], "0\n");

  const RunResult env = agent_.run(shell("echo $A $MUSTER_ATTEMPT $MUSTER_ACTION_NAME; pwd",
                                         {{"env", {{"A", "b c"}}}, {"cwd", "/usr"}}));
  EXPECT_EQ(outputs_of(env)["output_tail"], "b c 1 test\n/usr\n");

  ::setenv("MUSTER_TEST_INHERITED", "yes", 1);
  const RunResult cleared = agent_.run(
      make_spec("exec", {{"argv", {"/usr/bin/env"}}, {"clear_env", true}, {"env", {{"A", "b"}}}}));
  const auto text = outputs_of(cleared)["output_tail"].get<std::string>();
  EXPECT_THAT(text, HasSubstr("A=b\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("PATH=")));
}

TEST_F(ExecutorTest, RunsScriptsWithTheirInterpreter) {
  const RunResult result =
      agent_.run(make_spec("exec", {{"script", "x=5\necho $((x * 2))\nexit 4\n"}}));
  EXPECT_EQ(outputs_of(result)["output_tail"], "10\n");
  EXPECT_EQ(result.reason, "exit code 4");
  const RunResult missing =
      agent_.run(make_spec("exec", {{"script", "x"}, {"interpreter", "/no/interpreter"}}));
  EXPECT_THAT(missing.reason, HasSubstr("cannot run '/no/interpreter'"));
}

TEST_F(ExecutorTest, RunsAsAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const RunResult result = agent_.run(shell("id -un; id -G; echo $USER", {{"user", "nobody"}}));
  EXPECT_EQ(outputs_of(result)["output_tail"], "nobody\n65534\nnobody\n") << result.reason;
  // The state directory is closed to nobody, and still the script can be read.
  const RunResult script =
      agent_.run(make_spec("exec", {{"script", "id -un\n"}, {"user", "nobody"}}));
  EXPECT_EQ(outputs_of(script)["output_tail"], "nobody\n") << script.reason;
  const RunResult forbidden =
      agent_.run(shell("cat " + dir_.path("state") + "/lock", {{"user", "nobody"}}));
  EXPECT_EQ(forbidden.result, ExecuteResult::Error);
}

TEST_F(ExecutorTest, TheMemoryLimitHolds) {
  const std::string grow = "x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo ${#x}";
  const RunResult limited = agent_.run(shell(grow, {{"memory_limit", 50'000'000}}));
  EXPECT_EQ(limited.result, ExecuteResult::Error);
  const RunResult free = agent_.run(shell("ulimit -v"));
  EXPECT_EQ(outputs_of(free)["output_tail"], "unlimited\n");
}

TEST_F(ExecutorTest, BackgroundProcessesOutliveANormalEnd) {
  const RunResult result =
      agent_.run(shell("sleep 600 >/dev/null 2>&1 & echo $! > " + dir_.path("pid")));
  EXPECT_EQ(result.result, ExecuteResult::Ok);
  const pid_t pid = read_pid(dir_.path("pid"));
  EXPECT_TRUE(is_running(pid));
  ::kill(pid, SIGKILL);
}

TEST_F(ExecutorTest, ABackgroundProcessThatKeepsTheOutputOpenDoesNotHoldUpTheEnd) {
  const RunResult result =
      agent_.run(shell("echo before; sleep 600 & echo $! > " + dir_.path("pid")));
  EXPECT_EQ(result.result, ExecuteResult::Ok);
  EXPECT_EQ(outputs_of(result)["output_tail"], "before\n");
  ::kill(read_pid(dir_.path("pid")), SIGKILL);
}

// As a shell, a service manager or another runtime may leave them to the agent. Signal 32 is one
// that glibc keeps for itself, so only the kernel can be asked to ignore it.
class IgnoredSignals {
 public:
  IgnoredSignals() { set(SIG_IGN); }
  ~IgnoredSignals() { set(SIG_DFL); }
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;

 private:
  static void set(void (*handler)(int)) {
    struct {
      void (*handler)(int);
      unsigned long rest[7];
    } action{handler, {}};
    for (const int signal : {SIGHUP, SIGPIPE, 32, SIGRTMAX}) {
      ASSERT_EQ(::syscall(SYS_rt_sigaction, signal, &action, nullptr, 8), 0) << signal;
    }
  }
};

TEST_F(ExecutorTest, ProgramsStartWithDefaultSignalsAndNoForeignDescriptors) {
  const IgnoredSignals ignored;
  TestAgent agent{dir_.path("other")};
  const RunResult result =
      agent.run(shell("ls /proc/self/fd | wc -l; grep -E 'Sig(Blk|Ign)' /proc/self/status"));
  // 0, 1, 2 and the one that ls reads the directory with.
  EXPECT_EQ(outputs_of(result)["output_tail"],
            "4\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(ExecutorTest, AttemptsAreStartedAtMostOnce) {
  const RunSpec spec = shell("echo x >> " + dir_.path("effects"));
  EXPECT_EQ(agent_.run(spec).result, ExecuteResult::Ok);
  agent_.start(spec);
  ASSERT_TRUE(wait_until([&] { return agent_.listener.ends({spec.id, 1}) == 2; }));
  EXPECT_EQ(read_text(dir_.path("effects")), "x\n");
  RunSpec second = spec;
  second.attempt = 2;
  EXPECT_EQ(agent_.run(second).result, ExecuteResult::Ok);
  EXPECT_EQ(read_text(dir_.path("effects")), "x\nx\n");
}

TEST_F(ExecutorTest, ASecondStartIsRefusedWithAReason) {
  const RunSpec spec = shell("true");
  agent_.run(spec);
  TempDir other;
  // The same directory seen by a fresh listener: the refusal is what it hears first.
  std::filesystem::create_directories(other.path("state/runs/") + RunKey{spec.id, 1}.name());
  TestAgent second(other.path("state"));
  const RunResult refused = second.run(spec);
  EXPECT_EQ(refused.result, ExecuteResult::Error);
  EXPECT_THAT(refused.reason, HasSubstr("was started before"));
}

TEST_F(ExecutorTest, ForgettingRemovesTheTraces) {
  const RunSpec spec = shell("echo x");
  agent_.run(spec);
  EXPECT_EQ(agent_.executor().known_runs(), std::vector<RunKey>({{spec.id, 1}}));
  agent_.executor().forget(spec.id, 1);
  EXPECT_TRUE(wait_until([&] { return agent_.executor().known_runs().empty(); }));
  EXPECT_FALSE(agent_.executor().read_output(spec.id, 0, 0, 10).known);
}

TEST_F(ExecutorTest, LargeInputsReachTheRun) {
  const RunSpec spec =
      make_spec("exec", {{"script", "wc -c < $0\n#" + std::string(1'000'000, 'y')}});
  EXPECT_EQ(outputs_of(agent_.run(spec))["output_tail"], "1000012\n");
}

TEST_F(ExecutorTest, WorksFarBelowTheRoot) {
  // Longer than a socket address can be.
  const std::string deep = dir_.path(std::string(120, 'a') + "/" + std::string(120, 'b'));
  std::filesystem::create_directories(deep);
  TestAgent agent(deep);
  EXPECT_EQ(agent.run(make_spec("exec", {{"script", "true"}})).result, ExecuteResult::Ok);
}

TEST_F(ExecutorTest, ManyRunsOneAfterTheOther) {
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(agent_.run(make_spec("exec", {{"argv", {"true"}}})).result, ExecuteResult::Ok);
  }
}

TEST_F(ExecutorTest, ManyRunsAtOnce) {
  std::vector<RunKey> keys;
  for (int i = 0; i < 30; ++i) keys.push_back(agent_.start(shell("echo " + std::to_string(i))));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(outputs_of(agent_.listener.wait_ended(keys[i]))["output_tail"],
              std::to_string(i) + "\n");
  }
}

}  // namespace
}  // namespace muster::exec
