#include <fcntl.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "exec/boot_mark.h"
#include "exec/child_report.h"
#include "exec/output_capture.h"
#include "exec/run_ending.h"
#include "exec/run_request.h"
#include "exec/runner_test_util.h"

namespace muster::exec {
namespace {

using core::ExecuteResult;
using ::testing::HasSubstr;

RunSpec arbitrary_spec() {
  RunSpec spec;
  spec.id = core::ActionId::v4(*rc::gen::arbitrary<std::uint64_t>(),
                               *rc::gen::arbitrary<std::uint64_t>());
  spec.attempt = *rc::gen::arbitrary<std::uint32_t>();
  spec.timeout.us = *rc::gen::arbitrary<std::int64_t>();
  spec.kind = *rc::gen::arbitrary<std::string>();
  spec.inputs = *rc::gen::arbitrary<std::string>();
  spec.name = *rc::gen::arbitrary<std::string>();
  spec.requested_by = *rc::gen::arbitrary<std::string>();
  return spec;
}

RC_GTEST_PROP(RunRequestTest, WhatIsEncodedDecodes, ()) {
  const RunSpec spec = arbitrary_spec();
  const std::string spare = *rc::gen::arbitrary<std::string>();
  const auto order = decode_run_request(encode_run_request({spec, spare}));
  RC_ASSERT(order.has_value() && order->spare == spare);
  const RunSpec* decoded = &order->spec;
  RC_ASSERT(decoded->id == spec.id && decoded->attempt == spec.attempt);
  RC_ASSERT(decoded->timeout == spec.timeout && decoded->kind == spec.kind);
  RC_ASSERT(decoded->inputs == spec.inputs && decoded->name == spec.name);
  RC_ASSERT(decoded->requested_by == spec.requested_by);
}

RC_GTEST_PROP(RunRequestTest, WhatIsCutOffDoesNotDecode, ()) {
  const std::string whole = encode_run_request({arbitrary_spec(), "spare.1"});
  const auto size = *rc::gen::inRange<std::size_t>(0, whole.size());
  RC_ASSERT(!decode_run_request(std::string_view(whole).substr(0, size)).has_value());
}

TEST(RunRequestTest, AFrameThatIsCutOffIsNoRequest) {
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  UniqueFd writer(pair[0]);
  const UniqueFd reader(pair[1]);
  ASSERT_TRUE(send_run_request(writer.get(), "complete", UniqueFd(::dup(0))));
  ASSERT_TRUE(send_run_request(writer.get(), "", UniqueFd(::dup(0))));
  const std::uint32_t length = 100;
  ASSERT_EQ(::send(writer.get(), &length, sizeof length, 0), 4);
  ASSERT_EQ(::send(writer.get(), "part", 4, 0), 4);
  writer.reset();
  const auto first = receive_run_request(reader.get());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->body, "complete");
  EXPECT_TRUE(first->connection.valid());
  ASSERT_TRUE(receive_run_request(reader.get()));
  EXPECT_FALSE(receive_run_request(reader.get()));
}

TEST(RunKeyTest, NamesParseBack) {
  const RunKey key{core::ActionId::v4(1, 2), 7};
  EXPECT_EQ(RunKey::parse(key.name()), key);
  const std::string uuid = key.id.to_string();
  for (const std::string& bad : {std::string("boot"), uuid, uuid + ".", uuid + ".0", uuid + ".x",
                                 uuid + ".1x", "." + uuid + "1"}) {
    EXPECT_FALSE(RunKey::parse(bad)) << bad;
  }
}

TEST(RunResultTest, EncodesAndDecodes) {
  const RunResult result{ExecuteResult::Retry, "a \"reason\"\n", R"({"exit_code":75})"};
  const auto decoded = decode_result(encode_result(result));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->result, result.result);
  EXPECT_EQ(decoded->reason, result.reason);
  EXPECT_EQ(decoded->outputs, result.outputs);
  EXPECT_FALSE(decode_result(""));
  EXPECT_FALSE(decode_result("{}"));
  EXPECT_FALSE(decode_result(R"({"result":"MAYBE","reason":"","outputs":{}})"));
}

TEST(RunFileTest, ALineCountsOnceItIsComplete) {
  const RunResult ok{core::ExecuteResult::Ok, "two\nlines", R"({"exit_code":0})"};
  const std::string text = runner_line({4242, 17, "boot"}) + control_line("0001f") +
                           child_line({4243, 18, "boot"}) + result_line(ok);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string_view part = std::string_view(text).substr(0, size);
    ASSERT_FALSE(find_result(part)) << part;
    const auto lines = std::count(part.begin(), part.end(), '\n');
    ASSERT_EQ(find_runner(part).has_value(), lines >= 1) << part;
    ASSERT_EQ(find_control(part).has_value(), lines >= 2) << part;
    ASSERT_EQ(find_child(part).has_value(), lines >= 3) << part;
  }
  EXPECT_EQ(find_runner(text)->pid, 4242);
  EXPECT_EQ(find_control(text), "0001f");
  EXPECT_EQ(find_child(text)->start_time, 18U);
  EXPECT_EQ(find_result(text)->reason, "two\nlines");
  // What was said first stays.
  const RunResult error{core::ExecuteResult::Error, "late", "{}"};
  EXPECT_EQ(find_result(text + result_line(error))->result, core::ExecuteResult::Ok);
}

TEST(RunDirectoryTest, AResultIsWrittenBehindALineThatWasCutOff) {
  TempDir dir;
  const UniqueFd runs(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const RunKey key{core::ActionId::v4(1, 2), 1};
  ASSERT_TRUE(RunDirectory::create(runs.get(), key));
  write_text(dir.path(key.name()) + "/run",
             runner_line({4242, 17, "boot"}) + R"(result {"outputs":{"exit)");
  const auto directory = RunDirectory::open(runs.get(), key);
  ASSERT_TRUE(directory);
  EXPECT_FALSE(directory->has_result());
  ASSERT_TRUE(directory->write_result({core::ExecuteResult::Error, "settled", "{}"}));
  ASSERT_TRUE(directory->read_result());
  EXPECT_EQ(directory->read_result()->reason, "settled");
  EXPECT_EQ(directory->runner()->pid, 4242);
}

TEST(RunDirectoryTest, NobodyButTheRunnerIsTakenForIt) {
  TempDir dir;
  const UniqueFd runs(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const RunKey mine{core::ActionId::v4(1, 2), 1};
  auto owner = RunDirectory::create(runs.get(), mine);
  ASSERT_TRUE(owner && owner->take_lock({::getpid(), 17, "boot"}));
  const auto listener = owner->listen();
  ASSERT_TRUE(listener);
  EXPECT_TRUE(RunDirectory::open(runs.get(), mine)->connect());
  // The name has come to another process than the one that the run belongs to.
  const std::string socket = *find_control(read_text(dir.path(mine.name()) + "/run"));
  const RunKey other{core::ActionId::v4(3, 4), 1};
  ASSERT_TRUE(RunDirectory::create(runs.get(), other));
  write_text(dir.path(other.name()) + "/run",
             runner_line({::getpid() + 1, 17, "boot"}) + control_line(socket));
  EXPECT_FALSE(RunDirectory::open(runs.get(), other)->connect());
}

TEST(RunDirectoryTest, ASpareIsEmptyAndMarksAStartLikeANewOne) {
  TempDir dir;
  const UniqueFd runs(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const RunKey first{core::ActionId::v4(1, 2), 1};
  const RunKey second{core::ActionId::v4(3, 4), 1};
  {
    auto owner = RunDirectory::create(runs.get(), first);
    ASSERT_TRUE(owner && owner->take_lock({4242, 17, "boot"}));
    ASSERT_TRUE(owner->write_result({core::ExecuteResult::Ok, "", "{}"}));
    write_text(dir.path(first.name()) + "/output", "of the first");
    EXPECT_FALSE(RunDirectory::retire(runs.get(), first, "spare.1"));  // its runner lives
  }
  ASSERT_TRUE(RunDirectory::retire(runs.get(), first, "spare.1"));
  EXPECT_FALSE(RunDirectory::open(runs.get(), first));
  EXPECT_TRUE(RunDirectory::list(runs.get()).empty());
  auto next = RunDirectory::create(runs.get(), second, "spare.1");
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->has_result());
  EXPECT_FALSE(next->runner());
  EXPECT_FALSE(std::filesystem::exists(dir.path(second.name()) + "/output"));
  EXPECT_FALSE(std::filesystem::exists(dir.path("spare.1")));
  // A start that happened is not hidden by a spare.
  ASSERT_TRUE(RunDirectory::create(runs.get(), first));
  std::filesystem::create_directories(dir.path("spare.2"));
  EXPECT_EQ(RunDirectory::create(runs.get(), first, "spare.2").error().code, ErrorCode::Conflict);
  // Nor does a name that no spare has keep a run from starting.
  EXPECT_TRUE(RunDirectory::create(runs.get(), {core::ActionId::v4(5, 6), 1}, "spare.9"));
}

TEST(RunDirectoryTest, TheLockIsSeenWithoutTakingIt) {
  TempDir dir;
  const UniqueFd runs(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const RunKey key{core::ActionId::v4(1, 2), 1};
  {
    auto owner = RunDirectory::create(runs.get(), key);
    ASSERT_TRUE(owner);
    ASSERT_TRUE(owner->take_lock({4242, 17, "boot"}));
    const auto other = RunDirectory::open(runs.get(), key);
    ASSERT_TRUE(other);
    EXPECT_TRUE(other->is_locked());
    EXPECT_TRUE(other->is_locked());
    ASSERT_TRUE(other->runner());
    EXPECT_EQ(other->runner()->pid, 4242);
    EXPECT_EQ(other->runner()->start_time, 17U);
    EXPECT_EQ(other->runner()->boot_id, "boot");
    EXPECT_FALSE(other->child());
    EXPECT_EQ(RunDirectory::create(runs.get(), key).error().code, ErrorCode::Conflict);
  }
  EXPECT_FALSE(RunDirectory::open(runs.get(), key)->is_locked());
}

TEST(OutputCaptureTest, TheTailStartsAtACharacter) {
  TempDir dir;
  const UniqueFd runs(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK), 0);
  UniqueFd writer(pipe[1]);
  OutputCapture capture(UniqueFd(pipe[0]), runs.get(), 10'000);
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "\xE2\x82\xAC";  // three bytes each
  ASSERT_TRUE(write_all(writer.get(), text));
  EXPECT_TRUE(capture.read_available());
  EXPECT_EQ(capture.tail().size(), 4095U);
  EXPECT_TRUE(capture.tail().starts_with("\xE2\x82\xAC"));
  EXPECT_EQ(capture.bytes(), 6000U);
  EXPECT_FALSE(capture.truncated());
  writer.reset();
  EXPECT_FALSE(capture.read_available());
  EXPECT_EQ(capture.pipe(), -1);
}

TEST(ChildReportTest, FitsIntoAPipeNobodyReads) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const UniqueFd reader(pipe[0]);
  const UniqueFd writer(pipe[1]);
  ChildReport report = ChildReport::error(std::string(200'000, 'r'));
  report.outputs["large"] = std::string(200'000, 'x');
  send_report(writer.get(), report);
  const auto read = read_report(reader.get(), "program");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->reason.size(), 4096U);
  EXPECT_EQ(read->outputs["outputs_dropped"], true);
}

TEST(RunEndingTest, CancelAndTimeoutWinOverTheExitCode) {
  RunWork work;
  work.kind = "exec";
  work.timeout = Duration::seconds(90);
  RunEnding ending;
  ending.wait_status = 0;
  EXPECT_EQ(make_run_result(work, ending).result, ExecuteResult::Ok);
  ending.cause = EndCause::Cancelled;
  EXPECT_EQ(make_run_result(work, ending).result, ExecuteResult::Cancel);
  ending.cause = EndCause::TimedOut;
  ending.leftovers = true;
  const RunResult result = make_run_result(work, ending);
  EXPECT_EQ(result.result, ExecuteResult::Timeout);
  EXPECT_EQ(result.reason, "timed out after 1m30s; some of its processes could not be killed");
}

TEST(RunEndingTest, AFunctionThatWasKilledIsAnError) {
  RunWork work;
  work.kind = "file.put";
  RunEnding ending;
  ending.wait_status = SIGKILL;
  EXPECT_EQ(make_run_result(work, ending).reason, "killed by signal 9 (SIGKILL)");
}

TEST(ProcessTableTest, KnowsThisProcessAndItsChildren) {
  const auto self = os::read_process(::getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_EQ(self->group, ::getpgrp());
  EXPECT_EQ(self->session, ::getsid(0));
  const auto parent = os::read_process(self->parent);
  ASSERT_TRUE(parent);
  EXPECT_GT(parent->start_time, 0U);
  EXPECT_GE(self->start_time, parent->start_time);
  // Since boot, in clock ticks, as is the uptime.
  const double uptime = std::stod(read_text("/proc/uptime"));
  const double age =
      uptime - static_cast<double>(self->start_time) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  EXPECT_GE(age, -1);
  EXPECT_LT(age, 3600);
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto below = os::list_descendants(::getpid());
  EXPECT_TRUE(std::any_of(below.begin(), below.end(),
                          [child](const os::ProcessInfo& info) { return info.pid == child; }));
  const auto info = os::read_process(child);
  ASSERT_TRUE(info);
  EXPECT_FALSE(os::open_process(child, info->start_time + 1).valid());
  const UniqueFd process = os::open_process(child, info->start_time);
  ASSERT_TRUE(process.valid());
  EXPECT_TRUE(os::signal_process(process, SIGKILL));
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(os::read_process(child));
}

TEST(StateLockTest, IsExclusiveAndNamesTheHolder) {
  TempDir dir;
  const std::string state = dir.path("a/state");
  auto held = StateLock::acquire(state, Duration::seconds(1));
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_EQ(std::filesystem::status(state).permissions(), std::filesystem::perms::owner_all);
  const auto refused = StateLock::acquire(state, Duration::millis(30));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::StoreLocked);
  EXPECT_THAT(refused.error().message, HasSubstr(state));
  EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(::getpid())));
}

TEST(StateLockTest, TheSpawnerHoldsItUntilItIsGone) {
  TempDir dir;
  std::optional<Spawner> spawner;
  {
    auto lock = StateLock::acquire(dir.path(), Duration::seconds(1));
    ASSERT_TRUE(lock);
    auto forked =
        Spawner::fork({.state_lock = lock->fd(), .run_root = dir.path("runs"), .version = ""});
    ASSERT_TRUE(forked);
    spawner.emplace(std::move(*forked));
  }
  EXPECT_FALSE(StateLock::acquire(dir.path(), Duration::millis(30)));
  spawner.reset();
  EXPECT_TRUE(StateLock::acquire(dir.path(), Duration::millis(30)));
}

TEST(StateLockTest, IsTakenOverAsSoonAsItIsFree) {
  TempDir dir;
  const pid_t holder = ::fork();
  if (holder == 0) {
    auto lock = StateLock::acquire(dir.path(), Duration::seconds(1));
    write_text(dir.path("held"), "1\n");
    wait_until([&] { return std::filesystem::exists(dir.path("go")); });
    ::_exit(0);
  }
  read_pid(dir.path("held"));
  EXPECT_FALSE(StateLock::acquire(dir.path(), Duration{}));
  write_text(dir.path("go"), "");
  EXPECT_TRUE(StateLock::acquire(dir.path(), Duration::seconds(20)));
  ::waitpid(holder, nullptr, 0);
}

TEST(BootMarkTest, TellsARestartFromAFreshStart) {
  TempDir dir;
  const UniqueFd runs(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  BootMark fresh(runs.get(), "one");
  EXPECT_FALSE(fresh.restarted());
  ASSERT_TRUE(fresh.move_on());
  EXPECT_FALSE(BootMark(runs.get(), "one").restarted());
  // Looking is not moving on: an agent that dies while it settles must see the restart again.
  EXPECT_TRUE(BootMark(runs.get(), "two").restarted());
  BootMark restarted(runs.get(), "two");
  EXPECT_TRUE(restarted.restarted());
  ASSERT_TRUE(restarted.move_on());
  EXPECT_FALSE(BootMark(runs.get(), "two").restarted());
}

}  // namespace
}  // namespace muster::exec
