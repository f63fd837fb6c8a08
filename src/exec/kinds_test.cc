#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/sha256.h"
#include "exec/facts.h"
#include "exec/file_fetch.h"
#include "exec/http_test_server.h"
#include "exec/placed_file.h"
#include "exec/runner_test_util.h"
#include "exec/service.h"

namespace muster::exec {
namespace {

using core::ExecuteResult;
using ::testing::HasSubstr;

mode_t mode_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

ino_t inode_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

class KindsTest : public ::testing::Test {
 protected:
  RunSpec fetch(const std::string& url, const std::string& sha256) const {
    return make_spec("file.fetch",
                     {{"url", url}, {"sha256", sha256}, {"path", target_}, {"mode", "0640"}});
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path("files"))) {
      count += entry.exists() ? 1 : 0;
    }
    return count;
  }
  void SetUp() override { std::filesystem::create_directory(dir_.path("files")); }

  TempDir dir_;
  std::string target_ = dir_.path("files/target");
  TestAgent agent_{dir_.path("state")};
  std::string body_ = std::string(300'000, 'a') + std::string(300'000, 'b');
  std::string sum_ = crypto::sha256_hex(body_);
};

TEST_F(KindsTest, NoopAnswersWithoutAProcess) {
  const RunSpec spec = make_spec("noop", Json::object());
  EXPECT_EQ(agent_.run(spec).result, ExecuteResult::Ok);
  EXPECT_TRUE(agent_.executor().known_runs().empty());
}

TEST_F(KindsTest, SleepSleeps) {
  const RunResult result = agent_.run(make_spec("sleep", {{"duration", "150ms"}}));
  EXPECT_EQ(result.result, ExecuteResult::Ok);
  EXPECT_GE(outputs_of(result)["duration_ms"].get<int>(), 150);
}

TEST_F(KindsTest, FailAnswersAsAsked) {
  const RunResult plain = agent_.run(make_spec("fail", Json::object()));
  EXPECT_EQ(plain.result, ExecuteResult::Error);
  EXPECT_EQ(plain.reason, "asked to fail");
  const RunResult retry =
      agent_.run(make_spec("fail", {{"result", "RETRY"}, {"reason", "not yet"}}));
  EXPECT_EQ(retry.result, ExecuteResult::Retry);
  EXPECT_EQ(retry.reason, "not yet");
}

TEST_F(KindsTest, FactsDescribeTheHost) {
  const RunResult result = agent_.run(make_spec("facts", Json::object()));
  ASSERT_EQ(result.result, ExecuteResult::Ok) << result.reason;
  const Json outputs = outputs_of(result);
  const core::AgentFacts facts = gather_facts("1.2.3");
  EXPECT_EQ(outputs["version"], "1.2.3");
  EXPECT_EQ(outputs["hostname"], facts.hostname);
  EXPECT_EQ(outputs["kernel"], facts.kernel);
  EXPECT_FALSE(facts.os.empty());
  EXPECT_FALSE(facts.arch.empty());
  EXPECT_EQ(outputs["boot_id"], read_boot_id());
  EXPECT_GE(outputs["cpus"].get<int>(), 1);
  EXPECT_GT(outputs["memory_bytes"].get<std::int64_t>(), 1 << 20);
}

TEST_F(KindsTest, FilePutWritesOnceAndThenLeavesItAlone) {
  const Json inputs = {{"path", target_}, {"content", "hello"}, {"mode", "0600"}};
  const RunResult first = agent_.run(make_spec("file.put", inputs));
  ASSERT_EQ(first.result, ExecuteResult::Ok) << first.reason;
  EXPECT_EQ(outputs_of(first)["changed"], true);
  EXPECT_EQ(outputs_of(first)["bytes"], 5);
  EXPECT_EQ(outputs_of(first)["sha256"], crypto::sha256_hex("hello"));
  EXPECT_EQ(read_text(target_), "hello");
  EXPECT_EQ(mode_of(target_), 0600U);

  const ino_t inode = inode_of(target_);
  const RunResult second = agent_.run(make_spec("file.put", inputs));
  EXPECT_EQ(outputs_of(second)["changed"], false);
  EXPECT_EQ(inode_of(target_), inode);

  const RunResult mode = agent_.run(
      make_spec("file.put", {{"path", target_}, {"content", "hello"}, {"mode", "0644"}}));
  EXPECT_EQ(outputs_of(mode)["changed"], true);
  EXPECT_EQ(mode_of(target_), 0644U);
  EXPECT_EQ(inode_of(target_), inode);

  const RunResult third =
      agent_.run(make_spec("file.put", {{"path", target_}, {"content_base64", "AAEC/w=="}}));
  EXPECT_EQ(third.result, ExecuteResult::Ok) << third.reason;
  EXPECT_EQ(read_text(target_), std::string("\0\1\2\xff", 4));
  EXPECT_EQ(files(), 1U);
}

TEST_F(KindsTest, FilePutSetsOwnerAndGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const RunResult result = agent_.run(
      make_spec("file.put",
                {{"path", target_}, {"content", "x"}, {"owner", "nobody"}, {"group", "nogroup"}}));
  ASSERT_EQ(result.result, ExecuteResult::Ok) << result.reason;
  struct stat status{};
  ASSERT_EQ(::stat(target_.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 65534U);
  EXPECT_EQ(status.st_gid, 65534U);
}

TEST_F(KindsTest, FilePutMakesParentsOnlyWhenAsked) {
  const std::string deep = dir_.path("files/a/b/c");
  const RunResult refused = agent_.run(make_spec("file.put", {{"path", deep}, {"content", "x"}}));
  EXPECT_EQ(refused.result, ExecuteResult::Error);
  EXPECT_THAT(refused.reason, HasSubstr("No such file or directory"));
  const RunResult made = agent_.run(
      make_spec("file.put", {{"path", deep}, {"content", "x"}, {"create_parents", true}}));
  EXPECT_EQ(made.result, ExecuteResult::Ok) << made.reason;
  EXPECT_EQ(read_text(deep), "x");
}

TEST_F(KindsTest, FilePutRefusesADirectoryAndAnUnknownOwner) {
  const RunResult directory =
      agent_.run(make_spec("file.put", {{"path", dir_.path("files")}, {"content", "x"}}));
  EXPECT_EQ(directory.result, ExecuteResult::Error);
  EXPECT_THAT(directory.reason, HasSubstr("not a regular file"));
  const RunResult owner = agent_.run(
      make_spec("file.put", {{"path", target_}, {"content", "x"}, {"owner", "no-such-user"}}));
  EXPECT_THAT(owner.reason, HasSubstr("no user 'no-such-user'"));
  EXPECT_EQ(files(), 0U);
}

TEST_F(KindsTest, FileFetchGetsAndVerifies) {
  HttpTestServer server({.body = body_});
  const RunResult result = agent_.run(fetch(server.url(), sum_));
  ASSERT_EQ(result.result, ExecuteResult::Ok) << result.reason;
  EXPECT_EQ(outputs_of(result)["bytes"], body_.size());
  EXPECT_EQ(outputs_of(result)["changed"], true);
  EXPECT_EQ(read_text(target_), body_);
  EXPECT_EQ(mode_of(target_), 0640U);
  EXPECT_EQ(files(), 1U);
  // A file that is right already is not fetched again.
  const RunResult again = agent_.run(fetch(server.url(), sum_));
  EXPECT_EQ(outputs_of(again)["changed"], false);
  EXPECT_EQ(server.ranges().size(), 1U);
}

TEST_F(KindsTest, FileFetchReadsLocalFiles) {
  write_text(dir_.path("source"), body_);
  const RunResult result = agent_.run(fetch("file://" + dir_.path("source"), sum_));
  EXPECT_EQ(result.result, ExecuteResult::Ok) << result.reason;
  EXPECT_EQ(read_text(target_), body_);
}

TEST_F(KindsTest, FileFetchGoesOnAfterAnInterruption) {
  HttpTestServer server({.body = body_, .cut_first_after = 350'000});
  const RunResult result = agent_.run(fetch(server.url(), sum_));
  ASSERT_EQ(result.result, ExecuteResult::Ok) << result.reason;
  EXPECT_EQ(read_text(target_), body_);
  EXPECT_THAT(server.ranges(), ::testing::ElementsAre("", "350000-"));
}

TEST_F(KindsTest, FileFetchGoesOnWithWhatAnEarlierAttemptLeft) {
  HttpTestServer server({.body = body_});
  write_text(target_ + ".muster-part-" + sum_, body_.substr(0, 100'000));
  const RunResult result = agent_.run(fetch(server.url(), sum_));
  ASSERT_EQ(result.result, ExecuteResult::Ok) << result.reason;
  EXPECT_EQ(outputs_of(result)["resumed_from"], 100'000);
  EXPECT_EQ(read_text(target_), body_);
  EXPECT_THAT(server.ranges(), ::testing::ElementsAre("100000-"));
}

TEST_F(KindsTest, FileFetchStartsAgainWhenTheLeftoverIsOfNoUse) {
  // Of another file: the sum is wrong after going on, so all of it is fetched.
  HttpTestServer server({.body = body_});
  write_text(target_ + ".muster-part-" + sum_, std::string(1000, 'z'));
  EXPECT_EQ(agent_.run(fetch(server.url(), sum_)).result, ExecuteResult::Ok);
  EXPECT_THAT(server.ranges(), ::testing::ElementsAre("1000-", ""));
  EXPECT_EQ(read_text(target_), body_);
  // Longer than the file.
  std::filesystem::remove(target_);
  write_text(target_ + ".muster-part-" + sum_, std::string(700'000, 'z'));
  EXPECT_EQ(agent_.run(fetch(server.url(), sum_)).result, ExecuteResult::Ok);
  EXPECT_EQ(read_text(target_), body_);
  // A server that cannot serve from the middle.
  std::filesystem::remove(target_);
  HttpTestServer simple({.body = body_, .ranges = false});
  write_text(target_ + ".muster-part-" + sum_, body_.substr(0, 1000));
  const RunResult result = agent_.run(fetch(simple.url(), sum_));
  EXPECT_EQ(result.result, ExecuteResult::Ok) << result.reason;
  EXPECT_EQ(outputs_of(result)["resumed_from"], 0);
}

TEST_F(KindsTest, FileFetchRefusesAWrongSumAndKeepsTheOldFile) {
  HttpTestServer server({.body = "other"});
  write_text(target_, "old");
  const RunResult result = agent_.run(fetch(server.url(), sum_));
  EXPECT_EQ(result.result, ExecuteResult::Error);
  EXPECT_THAT(result.reason, HasSubstr(crypto::sha256_hex("other")));
  EXPECT_THAT(result.reason, HasSubstr(sum_));
  EXPECT_EQ(read_text(target_), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(KindsTest, FileFetchTellsWhatIsWorthTryingAgain) {
  HttpTestServer missing({.body = "", .status = 404});
  const RunResult error = agent_.run(fetch(missing.url(), sum_));
  EXPECT_EQ(error.result, ExecuteResult::Error);
  EXPECT_THAT(error.reason, HasSubstr("404"));
  HttpTestServer busy({.body = "", .status = 503});
  EXPECT_EQ(agent_.run(fetch(busy.url(), sum_)).result, ExecuteResult::Retry);
  std::string nobody_there;
  {
    HttpTestServer gone({.body = ""});
    nobody_there = gone.url();
  }
  EXPECT_EQ(agent_.run(fetch(nobody_there, sum_)).result, ExecuteResult::Retry);
}

// systemd itself is not there in a test; its tool is played by a script.
class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    systemd_.systemctl = dir_.path("systemctl");
    systemd_.booted_mark = dir_.path();
    play("LoadState=loaded\nActiveState=active\nSubState=running\nMainPID=42\n", 0);
  }
  void play(const std::string& properties, int exit_code) const {
    write_text(systemd_.systemctl, "#!/bin/sh\necho \"$@\" >> " + dir_.path("calls") +
                                       "\nif [ \"$1\" = show ]; then printf '" + properties +
                                       "'; exit 0; fi\nexit " + std::to_string(exit_code) + "\n");
    ::chmod(systemd_.systemctl.c_str(), 0700);
  }
  ChildReport run(const std::string& verb) const {
    core::ServiceInputs inputs;
    inputs.unit = "web.service";
    inputs.verb = verb;
    return run_service(inputs, systemd_);
  }

  TempDir dir_;
  SystemdPaths systemd_;
};

TEST_F(ServiceTest, RunsTheVerbAndReportsTheState) {
  const ChildReport report = run("restart");
  EXPECT_EQ(report.result, ExecuteResult::Ok) << report.reason;
  EXPECT_EQ(report.outputs,
            Json({{"active_state", "active"}, {"sub_state", "running"}, {"main_pid", 42}}));
  EXPECT_THAT(read_text(dir_.path("calls")),
              ::testing::StartsWith("restart --no-ask-password -- web.service\nshow "));
}

TEST_F(ServiceTest, StatusOnlyAsks) {
  play("LoadState=loaded\nActiveState=inactive\nSubState=dead\nMainPID=0\n", 1);
  const ChildReport report = run("status");
  EXPECT_EQ(report.result, ExecuteResult::Ok);
  EXPECT_EQ(report.outputs["active_state"], "inactive");
  EXPECT_THAT(read_text(dir_.path("calls")), ::testing::StartsWith("show "));
}

TEST_F(ServiceTest, AFailedVerbIsAnErrorWithTheState) {
  play("LoadState=loaded\nActiveState=failed\nSubState=failed\nMainPID=0\n", 1);
  const ChildReport report = run("start");
  EXPECT_EQ(report.result, ExecuteResult::Error);
  EXPECT_EQ(report.reason, "'systemctl start web.service' failed with exit code 1");
  EXPECT_EQ(report.outputs["active_state"], "failed");
}

TEST_F(ServiceTest, AnUnknownUnitIsAnError) {
  play("LoadState=not-found\nActiveState=inactive\nSubState=dead\nMainPID=0\n", 5);
  EXPECT_EQ(run("start").reason, "there is no unit 'web.service' on this host");
}

TEST_F(ServiceTest, WithoutSystemdTheErrorSaysSo) {
  systemd_.booted_mark = dir_.path("not-there");
  const ChildReport report = run("start");
  EXPECT_EQ(report.result, ExecuteResult::Error);
  EXPECT_THAT(report.reason, HasSubstr("systemd is not running on this host"));
}

TEST_F(ServiceTest, UnitNamesAreChecked) {
  EXPECT_TRUE(is_unit_name("getty@tty1.service"));
  EXPECT_FALSE(is_unit_name("--root=/"));
  EXPECT_FALSE(is_unit_name("a b"));
  EXPECT_FALSE(is_unit_name(""));
  EXPECT_FALSE(is_unit_name("../x"));
}

TEST_F(KindsTest, ServiceWithoutSystemdGivesAClearError) {
  if (::access("/run/systemd/system", F_OK) == 0) GTEST_SKIP() << "systemd runs here";
  const RunResult result =
      agent_.run(make_spec("service", {{"unit", "ssh.service"}, {"verb", "status"}}));
  EXPECT_EQ(result.result, ExecuteResult::Error);
  EXPECT_THAT(result.reason, HasSubstr("systemd is not running on this host"));
}

}  // namespace
}  // namespace muster::exec
