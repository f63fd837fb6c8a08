#include "cli/waiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/actions.h"
#include "cli/cli_test_util.h"
#include "cli/submit.h"
#include "cli/text.h"
#include "cli/wait.h"

namespace muster::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kId = "3f2a41bc-0000-4000-8000-000000000001";
constexpr const char* kOther = "91bc41bc-0000-4000-8000-000000000002";

Json action(const std::string& status, int revision, const std::string& id = kId) {
  return {{"id", id},
          {"name", "job-" + id.substr(0, 4)},
          {"action", "exec"},
          {"target", "a1"},
          {"status", status},
          {"status_reason", ""},
          {"revision", revision},
          {"created_at", "2025-11-15T18:59:00Z"}};
}

Json answer_of(const Json& value) { return {{"action", value}}; }

Json event(int seq, const std::string& status, int revision, const std::string& id = kId) {
  return {{"seq", seq},
          {"at", "2025-11-15T19:00:05Z"},
          {"type", "action.status"},
          {"subject", id},
          {"status", status},
          {"reason", "because"},
          {"revision", revision}};
}

Json status_at(int last_event) { return {{"last_event", last_event}}; }

Result<http::ClientResponse> lost() { return fail(ErrorCode::Unavailable, "connection lost"); }
Result<http::ClientResponse> closed() { return http::ClientResponse{200, {}, ""}; }

Outcome<ExitCode> wait_for(TestContext& test, FakeController& controller,
                           const std::vector<std::string>& refs, const std::string& timeout = "") {
  ApiClient client = controller.client();
  WaitCommandOptions options;
  options.refs = refs;
  options.timeout = timeout;
  options.no_wait_approval = true;
  return wait(test.context, client, options);
}

TEST(Wait, FollowsEventsFromTheSnapshotOn) {
  TestContext test;
  FakeController controller;
  controller.then_json(200, answer_of(action("NEW", 3)));  // the reference
  controller.then_json(200, status_at(10));
  controller.then_json(200, answer_of(action("RUNNING", 4)));  // the snapshot
  controller.then_stream({sse_of(event(11, "NEW", 3)), sse_of(event(12, "SUCCEEDED", 5))},
                         closed());
  controller.then_json(200, answer_of(action("SUCCEEDED", 5)));
  const Outcome<ExitCode> outcome = wait_for(test, controller, {"job"});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, ExitCode::Ok);
  EXPECT_TRUE(controller.done());
  EXPECT_THAT(controller.requests()[3].url, HasSubstr("/v1/events?after=10&type=action."));
  EXPECT_THAT(controller.requests()[3].url, HasSubstr(std::string("subject=") + kId));
  EXPECT_THAT(test.out, HasSubstr("✔ SUCCEEDED"));
  // The stale event must not be shown as news.
  EXPECT_EQ(test.err.find("NEW on a1"), test.err.rfind("NEW on a1"));
  EXPECT_THAT(test.err, EndsWith("1 action: 1 succeeded\n"));
}

TEST(Wait, ConnectsAgainFromANewSnapshot) {
  TestContext test;
  FakeController controller;
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_json(200, status_at(10));
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_stream({}, lost());
  controller.then_unreachable();
  controller.then_json(200, status_at(14));
  controller.then_json(200, answer_of(action("SUCCEEDED", 6)));
  controller.then_json(200, answer_of(action("SUCCEEDED", 6)));
  const Outcome<ExitCode> outcome = wait_for(test, controller, {kId});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, ExitCode::Ok);
  EXPECT_THAT(test.err, HasSubstr("the actions go on, connecting again"));
  EXPECT_THAT(test.err, HasSubstr("connected again"));
  ASSERT_EQ(test.slept.size(), 2U);
  EXPECT_GT(test.slept[0].us, 0);
}

TEST(Wait, TakesANewSnapshotWhenTheLogWasCompacted) {
  TestContext test;
  FakeController controller;
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_json(200, status_at(10));
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_json(410, {{"code", "compacted"}, {"detail", "gone"}});
  controller.then_json(200, status_at(1000));
  controller.then_json(200, answer_of(action("CANCELLED", 9)));
  controller.then_json(200, answer_of(action("CANCELLED", 9)));
  const Outcome<ExitCode> outcome = wait_for(test, controller, {kId});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, ExitCode::Cancelled);
}

TEST(Wait, TimesOutAndSaysHowToGoOn) {
  TestContext test;
  FakeController controller;
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_json(200, status_at(10));
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then([&](const http::ClientRequest& request) -> Result<http::ClientResponse> {
    EXPECT_LE(request.timeout, Duration::seconds(5));
    test.now = test.now + Duration::seconds(5);
    return fail(ErrorCode::Timeout, "timed out");
  });
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  const Outcome<ExitCode> outcome = wait_for(test, controller, {kId}, "5s");
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, ExitCode::WaitTimeout);
  EXPECT_THAT(test.err, HasSubstr(std::string("muster actions wait ") + kId));
}

TEST(Wait, AsksForManyActionsAtOnce) {
  TestContext test;
  FakeController controller;
  ApiClient client = controller.client();
  WatchSet set;
  Json rows = Json::array();
  std::vector<std::string> ids;
  for (int i = 0; i < 600; ++i) {
    ids.push_back(fmt::format("00000000-0000-4000-8000-{:012}", i));
    set.apply_snapshot(action("RUNNING", 1, ids.back()));
    if (i != 7) rows.push_back(action("SUCCEEDED", 2, ids.back()));
  }
  controller.then_json(200, {{"actions", Json::array()}});
  controller.then_json(200, {{"actions", rows}});
  std::size_t changed = 0;
  const auto missing = refresh_rows(
      client, set, ids, [&](const WatchedAction* each) { changed += each != nullptr ? 1U : 0U; });
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(controller.requests().size(), 2U);
  EXPECT_THAT(controller.requests()[1].url, HasSubstr("/v1/actions?ids=" + ids[500] + "%2C"));
  EXPECT_EQ(changed, 599U);
  EXPECT_EQ(missing->size(), 500U);  // the first page had none of them
}

TEST(Wait, DetachesAtTheFirstInterrupt) {
  TestContext test;
  FakeController controller;
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_json(200, status_at(10));
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then([&](const http::ClientRequest& request) -> Result<http::ClientResponse> {
    test.interrupted = true;
    EXPECT_TRUE(request.cancelled());
    return fail(ErrorCode::Unavailable, "cancelled");
  });
  const Outcome<ExitCode> outcome = wait_for(test, controller, {kId});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, ExitCode::Interrupted);
  EXPECT_THAT(test.err, HasSubstr("the action keeps going"));
}

TEST(Wait, DropsASilentConnection) {
  TestContext test;
  FakeController controller;
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_json(200, status_at(10));
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then([&](const http::ClientRequest& request) -> Result<http::ClientResponse> {
    EXPECT_FALSE(request.cancelled());
    test.now = test.now + Waiter::kSilenceMax + Duration::seconds(1);
    EXPECT_TRUE(request.cancelled());
    return fail(ErrorCode::Unavailable, "cancelled");
  });
  controller.then_json(200, status_at(11));
  controller.then_json(200, answer_of(action("SUCCEEDED", 5)));
  controller.then_json(200, answer_of(action("SUCCEEDED", 5)));
  const Outcome<ExitCode> outcome = wait_for(test, controller, {kId});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, ExitCode::Ok);
}

TEST(Wait, EndsWhenOnlyAnApprovalIsMissing) {
  TestContext test;
  FakeController controller;
  controller.then_json(200, answer_of(action("PENDING_APPROVE", 1)));
  controller.then_json(200, answer_of(action("WAITING", 1, kOther)));
  controller.then_json(200, status_at(10));
  controller.then_json(200, answer_of(action("PENDING_APPROVE", 1)));
  controller.then_json(200, answer_of(action("WAITING", 1, kOther)));
  controller.then_json(200, answer_of(action("PENDING_APPROVE", 1)));
  controller.then_json(200, answer_of(action("WAITING", 1, kOther)));
  const Outcome<ExitCode> outcome = wait_for(test, controller, {kId, kOther});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, ExitCode::NeedsApproval);
  EXPECT_THAT(test.err, HasSubstr(std::string("muster actions approve ") + kId));
}

TEST(Wait, AccountsForAnActionThatIsGone) {
  TestContext test;
  FakeController controller;
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_json(200, answer_of(action("SUCCEEDED", 4, kOther)));
  controller.then_json(200, status_at(10));
  controller.then_json(404, {{"code", "not_found"}, {"detail", "no such action"}});
  controller.then_json(404, {{"code", "not_found"}, {"detail", "no such action"}});
  controller.then_json(200, answer_of(action("SUCCEEDED", 4, kOther)));
  const Outcome<ExitCode> outcome = wait_for(test, controller, {kId, kOther});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, ExitCode::Partial);
  EXPECT_THAT(test.err, EndsWith("2 actions: 1 succeeded, 1 unknown\n"));
}

TEST(Wait, ShowsTheReasonAndTheLastOutputOfAFailure) {
  TestContext test;
  FakeController controller;
  controller.then_json(200, answer_of(action("FAILED", 4)));
  controller.then_json(200, status_at(10));
  Json failed = action("FAILED", 4);
  failed["status_reason"] = "exit code 7";
  controller.then_json(200, answer_of(failed));
  controller.then([](const http::ClientRequest& request) -> Result<http::ClientResponse> {
    EXPECT_THAT(request.url, HasSubstr("/logs?offset=0"));
    return http::ClientResponse{
        200, {{"x-muster-log-offset", "8"}, {"x-muster-log-end", "true"}}, "a\nb\nc\nd\n"};
  });
  const Outcome<ExitCode> outcome = wait_for(test, controller, {kId});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome, ExitCode::Failed);
  EXPECT_THAT(test.err, HasSubstr("✖ job-3f2a FAILED: exit code 7\n  | b\n  | c\n  | d\n"));
}

TEST(Wait, SpeaksNdjsonToPrograms) {
  TestContext test;
  test.context.options.format = Format::Json;
  FakeController controller;
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_json(200, status_at(10));
  controller.then_json(200, answer_of(action("RUNNING", 4)));
  controller.then_stream({sse_of(event(11, "SUCCEEDED", 5))}, closed());
  controller.then_json(200, answer_of(action("SUCCEEDED", 5)));
  ASSERT_TRUE(wait_for(test, controller, {kId}).has_value());
  std::vector<std::string> types;
  for (const std::string& line : split(test.out, '\n')) {
    if (!line.empty()) types.push_back(parse_json(line)->at("type"));
  }
  EXPECT_THAT(types, ::testing::ElementsAre("version", "action", "event", "result", "summary"));
  EXPECT_THAT(test.out, HasSubstr(R"("exit_code":0)"));
}

SubmitOptions noop() {
  SubmitOptions options;
  options.kind = "noop";
  options.detach = true;
  return options;
}

std::string header_of(const http::ClientRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return {};
}

TEST(Submit, RepeatsALostRequestWithTheSameKey) {
  TestContext test;
  FakeController controller;
  controller.then_unreachable();
  controller.then_json(409, {{"code", "idempotency_in_flight"}, {"detail", "busy"}});
  controller.then_json(202, answer_of(action("READY", 1)));
  ApiClient client = controller.client();
  const Outcome<ExitCode> outcome = submit(test.context, client, noop());
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(test.out, std::string(kId) + "\n");
  ASSERT_EQ(controller.requests().size(), 3U);
  const std::string key = header_of(controller.requests()[0], "Idempotency-Key");
  EXPECT_EQ(key.size(), 36U);
  EXPECT_EQ(header_of(controller.requests()[1], "Idempotency-Key"), key);
  EXPECT_EQ(header_of(controller.requests()[2], "Idempotency-Key"), key);
}

TEST(Submit, GivesUpOnAControllerThatStaysAway) {
  TestContext test;
  FakeController controller;
  for (int i = 0; i < 5; ++i) controller.then_unreachable();
  ApiClient client = controller.client();
  const Outcome<ExitCode> outcome = submit(test.context, client, noop());
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().exit, ExitCode::Unreachable);
  EXPECT_TRUE(controller.done());
}

TEST(Submit, TellsTheKeyToRepeatWithWhenTheOutcomeIsOpen) {
  TestContext test;
  FakeController controller;
  controller.then_json(503, {{"code", "store_unavailable"},
                             {"detail",
                              "the store refuses writes: disk full; the outcome of this "
                              "request is not known yet"}});
  ApiClient client = controller.client();
  const Outcome<ExitCode> outcome = submit(test.context, client, noop());
  ASSERT_FALSE(outcome.has_value());
  const std::string key = header_of(controller.requests()[0], "Idempotency-Key");
  EXPECT_THAT(
      render(outcome.error()),
      HasSubstr("may have been accepted all the same; repeat it with --idempotency-key " + key));
  EXPECT_THAT(render(outcome.error()), Not(HasSubstr("nothing was accepted")));
}

TEST(Submit, TellsNoKeyWhenNobodySawTheRequest) {
  TestContext test;
  FakeController controller;
  for (int i = 0; i < 5; ++i) {
    controller.then([](const http::ClientRequest&) -> Result<http::ClientResponse> {
      return fail(ErrorCode::Unavailable, "cannot connect to unix socket /x: Connection refused");
    });
  }
  ApiClient client = controller.client();
  const Outcome<ExitCode> outcome = submit(test.context, client, noop());
  ASSERT_FALSE(outcome.has_value());
  EXPECT_THAT(render(outcome.error()), Not(HasSubstr("--idempotency-key")));
}

TEST(Submit, DoesNotRepeatARefusal) {
  TestContext test;
  FakeController controller;
  controller.then_json(409, {{"code", "duplicate_id"}, {"detail", "exists"}});
  ApiClient client = controller.client();
  const Outcome<ExitCode> outcome = submit(test.context, client, noop());
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().exit, ExitCode::Conflict);
  EXPECT_EQ(controller.requests().size(), 1U);
}

TEST(Submit, DoesNotWaitForWhatRepeatsForEver) {
  TestContext test;
  FakeController controller;
  Json repeated = action("READY", 1);
  repeated["interval"] = 60;
  controller.then_json(202, answer_of(repeated));
  ApiClient client = controller.client();
  SubmitOptions options = noop();
  options.detach = false;
  const Outcome<ExitCode> outcome = submit(test.context, client, options);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(test.out, std::string(kId) + "\n");
  EXPECT_THAT(test.err, HasSubstr("repeats without an end"));
}

TEST(Logs, FollowGoesOnAtTheByteWhereItBroke) {
  TestContext test;
  FakeController controller;
  const Json running = answer_of({{"id", kId}, {"attempt", 1}});
  controller.then_json(200, running);
  controller.then_stream({"hello ", "wor"}, lost());
  controller.then_json(200, running);
  controller.then_stream({"ld\n"}, closed());
  ApiClient client = controller.client();
  LogOptions options;
  options.ref = kId;
  options.follow = true;
  const Outcome<ExitCode> outcome = print_logs(test.context, client, options);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(test.out, "hello world\n");
  EXPECT_THAT(controller.requests()[3].url, HasSubstr("offset=9"));
}

TEST(Logs, ReadsPageAfterPage) {
  TestContext test;
  FakeController controller;
  const auto page = [&](std::string body, std::string next, std::string end) {
    controller.then([=](const http::ClientRequest&) -> Result<http::ClientResponse> {
      return http::ClientResponse{
          200, {{"x-muster-log-offset", next}, {"x-muster-log-end", end}}, body};
    });
  };
  page("abc", "3", "false");
  page("def", "6", "true");
  ApiClient client = controller.client();
  LogOptions options;
  options.ref = kId;
  ASSERT_TRUE(print_logs(test.context, client, options).has_value());
  EXPECT_EQ(test.out, "abcdef");
  EXPECT_THAT(controller.requests()[1].url, HasSubstr("offset=3"));
}

TEST(List, WalksAllPages) {
  TestContext test;
  test.context.options.format = Format::Name;
  FakeController controller;
  controller.then_json(200, {{"actions", Json::array({action("READY", 1)})}, {"next_marker", kId}});
  controller.then_json(
      200, {{"actions", Json::array({action("READY", 1, kOther)})}, {"next_marker", nullptr}});
  ApiClient client = controller.client();
  ListOptions options;
  options.all_pages = true;
  options.status = {"running"};
  ASSERT_TRUE(list_actions(test.context, client, options).has_value());
  EXPECT_EQ(test.out, std::string(kId) + "\n" + kOther + "\n");
  EXPECT_THAT(controller.requests()[0].url, HasSubstr("status=RUNNING"));
  EXPECT_THAT(controller.requests()[1].url, HasSubstr(std::string("marker=") + kId));
}

// Whatever the order and overlap of snapshots and events, the newest revision wins and an action
// that has ended stays ended.
RC_GTEST_PROP(WatchSet, EndsAtTheNewestRevisionInAnyOrder, ()) {
  const std::vector<std::string> statuses = {"PENDING_SCHEDULE", "NEW", "RUNNING", "SUCCEEDED"};
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) order.insert(order.end(), {i, i});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
  }
  WatchSet set;
  set.apply_snapshot(action("PENDING_SCHEDULE", 1));
  for (const int step : order) {
    const bool by_event = *rc::gen::arbitrary<bool>();
    const std::string& status = statuses[static_cast<std::size_t>(step)];
    if (by_event)
      set.apply_event(event(step + 10, status, step + 1));
    else
      set.apply_snapshot(action(status, step + 1));
  }
  RC_ASSERT(set.actions().front().status == "SUCCEEDED");
  RC_ASSERT(set.tally() == (Tally{.succeeded = 1}));
}

}  // namespace
}  // namespace muster::cli
