#include "controller/api_action_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "controller/action_json.h"
#include "controller/api_body.h"
#include "core/kind/catalog.h"

namespace muster::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "code" of the whole, then "pointer code" of every mistake.
std::vector<std::string> complaints(const std::string& body) {
  const Result<CreateBody> decoded = decode_create(body);
  if (decoded) return {"accepted"};
  std::vector<std::string> list = {std::string(name(decoded.error().code))};
  for (const FieldError& field : decoded.error().fields) {
    list.push_back(field.pointer + " " + std::string(name(field.code)));
  }
  return list;
}

core::ActionRequest decode_one(const Json& action) {
  const Result<CreateBody> body = decode_create(dump_json({{"action", action}}));
  EXPECT_TRUE(body.has_value()) << (body ? "" : body.error().message);
  return body ? body->actions.at(0) : core::ActionRequest{};
}

std::vector<std::string> complaints_about(const Json& action) {
  return complaints(dump_json({{"action", action}}));
}

TEST(CreateBody, ReadsEveryField) {
  const core::ActionRequest request =
      decode_one({{"id", "6F1C2D9E-0f0b-4b7e-9a55-3a6f5f1b8c21"},
                  {"name", "nächtlich 1"},
                  {"action", "exec"},
                  {"target", "db1"},
                  {"inputs", {{"argv", {"df", "-h"}}}},
                  {"context", {{"b", 1}, {"a", {1, 2}}}},
                  {"depends_on", {"first", "6f1c2d9e-0f0b-4b7e-9a55-3a6f5f1b8c22"}},
                  {"depended_by", {"last"}},
                  {"parent", "6f1c2d9e-0f0b-4b7e-9a55-3a6f5f1b8c23"},
                  {"timeout", 1.5},
                  {"queue_timeout", "2h"},
                  {"interval", "90s"},
                  {"misfire", "run_once"},
                  {"start_time", "2026-11-15T04:00:00+01:00"},
                  {"stop_time", "2026-11-16T03:00:00Z"},
                  {"retry", {{"attempts", 4}, {"backoff", "250ms"}, {"max_backoff", 10}}},
                  {"approval", {{"count", 2}, {"allow_requester", true}, {"expires_in", "1h"}}},
                  {"hold", true},
                  {"plan", "p"},
                  {"task", "t"}});
  EXPECT_EQ(request.id->to_string(), "6f1c2d9e-0f0b-4b7e-9a55-3a6f5f1b8c21");
  EXPECT_EQ(request.name, "nächtlich 1");
  EXPECT_EQ(request.kind, "exec");
  EXPECT_EQ(request.target, "db1");
  EXPECT_EQ(request.inputs, R"({"argv":["df","-h"]})");
  EXPECT_EQ(request.context, R"({"a":[1,2],"b":1})");
  EXPECT_THAT(request.depends_on, ElementsAre("first", "6f1c2d9e-0f0b-4b7e-9a55-3a6f5f1b8c22"));
  EXPECT_THAT(request.depended_by, ElementsAre("last"));
  EXPECT_EQ(request.parent->to_string(), "6f1c2d9e-0f0b-4b7e-9a55-3a6f5f1b8c23");
  EXPECT_EQ(request.timeout, Duration::millis(1500));
  EXPECT_EQ(request.queue_timeout, Duration::hours(2));
  EXPECT_EQ(request.interval, Duration::seconds(90));
  EXPECT_EQ(request.misfire, core::Misfire::RunOnce);
  EXPECT_EQ(format_rfc3339(request.not_before), "2026-11-15T03:00:00Z");
  EXPECT_EQ(format_rfc3339(request.not_after), "2026-11-16T03:00:00Z");
  EXPECT_EQ(request.retry.attempts, 4u);
  EXPECT_EQ(request.retry.backoff.initial, Duration::millis(250));
  EXPECT_EQ(request.retry.backoff.max, Duration::seconds(10));
  EXPECT_EQ(request.approval, (core::ApprovalPolicy{2, true, Duration::hours(1)}));
  EXPECT_TRUE(request.hold);
  EXPECT_EQ(request.plan, "p");
  EXPECT_EQ(request.task, "t");
}

TEST(CreateBody, TakesNullAndZeroAsNotGiven) {
  const core::ActionRequest request = decode_one({{"action", "noop"},
                                                  {"timeout", 0},
                                                  {"queue_timeout", "0"},
                                                  {"inputs", nullptr},
                                                  {"approval", nullptr},
                                                  {"start_time", nullptr},
                                                  {"retry", nullptr}});
  EXPECT_EQ(request.timeout, std::nullopt);
  EXPECT_EQ(request.queue_timeout, std::nullopt);
  EXPECT_EQ(request.inputs, "{}");
  EXPECT_EQ(request.approval, std::nullopt);
  EXPECT_EQ(request.retry, core::RetryPolicy{});
}

TEST(CreateBody, UnderstandsEveryFormOfApproval) {
  const auto approval = [](const Json& value) {
    return decode_one({{"action", "noop"}, {"approval", value}}).approval;
  };
  EXPECT_EQ(approval(true), core::ApprovalPolicy{});
  EXPECT_EQ(approval("required"), core::ApprovalPolicy{});
  EXPECT_EQ(approval(Json::object()), core::ApprovalPolicy{});
  EXPECT_EQ(approval(false), std::nullopt);
  EXPECT_EQ(approval("granted"), std::nullopt);
  EXPECT_THAT(complaints_about({{"action", "noop"}, {"approval", "maybe"}}),
              ElementsAre("invalid_value", "/action/approval invalid_value"));
  EXPECT_THAT(complaints_about({{"action", "noop"}, {"approval", {{"count", 0}}}}),
              ElementsAre("invalid_value", "/action/approval/count invalid_value"));
}

TEST(CreateBody, ReportsAllMistakesAtOnceWithTheirPlaces) {
  EXPECT_THAT(
      complaints(R"({"actions": [
      {"action": "noop", "time_out": 3, "timeout": -1},
      {"action": "noop"},
      {"name": "", "interval": "-5s", "retry": {"attempts": 0, "tries": 1}, "inputs": []}]})"),
      ElementsAre("invalid_request", "/actions/0/timeout invalid_value",
                  "/actions/0/time_out unknown_field", "/actions/2/name invalid_value",
                  "/actions/2/action missing_field", "/actions/2/inputs invalid_value",
                  "/actions/2/interval invalid_value", "/actions/2/retry/attempts invalid_value",
                  "/actions/2/retry/tries unknown_field"));
}

TEST(CreateBody, SuggestsTheNearestName) {
  const Result<CreateBody> body = decode_create(R"({"action": {"action": "noop", "time_out": 3}})");
  ASSERT_FALSE(body.has_value());
  EXPECT_EQ(body.error().code, ErrorCode::UnknownField);
  EXPECT_THAT(body.error().message, HasSubstr("did you mean 'timeout'"));
}

TEST(CreateBody, RefusesABodyOfTheWrongShape) {
  EXPECT_THAT(complaints("[]"), ElementsAre("invalid_value", " invalid_value"));
  EXPECT_THAT(complaints("{}"), ElementsAre("missing_field", "/action missing_field"));
  EXPECT_THAT(complaints("nonsense"), ElementsAre("invalid_json"));
  EXPECT_THAT(complaints(""), ElementsAre("invalid_json"));
  EXPECT_THAT(complaints(std::string(10'000, '[') + std::string(10'000, ']')),
              ElementsAre("json_too_deep"));
  EXPECT_THAT(complaints(R"({"action": {"action": "noop"}, "actions": []})"),
              ElementsAre("invalid_request", " invalid_request"));
  EXPECT_THAT(complaints(R"({"actions": []})"),
              ElementsAre("invalid_value", "/actions invalid_value"));
  EXPECT_THAT(complaints(R"({"actions": {}})"),
              ElementsAre("invalid_value", "/actions invalid_value"));
  EXPECT_THAT(complaints(R"({"action": 5})"),
              ElementsAre("invalid_value", "/action invalid_value"));
  EXPECT_THAT(complaints(R"({"acton": {"action": "noop"}})"),
              ElementsAre("invalid_request", "/action missing_field", "/acton unknown_field"));
}

TEST(CreateBody, LimitsTheNumberOfActions) {
  Json list = Json::array();
  for (std::size_t i = 0; i < kActionsPerRequestMax; ++i) list.push_back({{"action", "noop"}});
  EXPECT_THAT(complaints(dump_json({{"actions", list}})), ElementsAre("accepted"));
  list.push_back({{"action", "noop"}});
  EXPECT_THAT(complaints(dump_json({{"actions", list}})),
              ElementsAre("invalid_value", "/actions invalid_value"));
}

TEST(CreateBody, LimitsTheNumberOfReportedMistakes) {
  Json list = Json::array();
  for (int i = 0; i < 500; ++i) list.push_back({{"action", "noop"}, {"timeout", -1}});
  EXPECT_EQ(complaints(dump_json({{"actions", list}})).size(), 1 + Problems::kMax);
}

TEST(CreateBody, LimitsTheSizeOfInputs) {
  const Json large = {{"text", std::string(kInputsBytesMax, 'x')}};
  EXPECT_THAT(complaints_about({{"action", "custom"}, {"inputs", large}}),
              ElementsAre("invalid_value", "/action/inputs invalid_value"));
}

TEST(CreateBody, ChecksTheInputsOfShippedKinds) {
  EXPECT_THAT(complaints_about({{"action", "exec"}, {"inputs", {{"argv", {"a"}}, {"evn", {}}}}}),
              ElementsAre("unknown_field", "/action/inputs/evn unknown_field"));
  EXPECT_NE(complaints_about({{"action", "exec"}}).front(), "accepted");
  EXPECT_EQ(complaints_about({{"action", "custom"}, {"inputs", {{"anything", 1}}}}).front(),
            "accepted");
}

TEST(CreateBody, RefusesValuesThatAreNotAllowed) {
  const std::vector<std::pair<std::string, Json>> wrong = {
      {"name", std::string(201, 'x')},
      {"name", "line\nbreak"},
      {"name", "\u0085"},
      {"name", nullptr},
      {"name", "a/b c?d"},
      {"interval", "999ms"},
      {"misfire", "skip"},
      {"misfire", "run_once"},
      {"name", 5},
      {"id", "6f1c2d9e"},
      {"id", "00000000-0000-0000-0000-000000000000"},
      {"timeout", -0.5},
      {"timeout", "soon"},
      {"timeout", 1e300},
      {"timeout", true},
      {"queue_timeout", -1},
      {"misfire", "never"},
      {"start_time", "tomorrow"},
      {"start_time", 1700000000},
      {"stop_time", "1969-01-01T00:00:00Z"},
      {"hold", "yes"},
      {"depends_on", "first"},
      {"target", "db\t1"},
      {"retry", 3},
  };
  for (const auto& [field, value] : wrong) {
    EXPECT_THAT(complaints_about({{"action", "noop"}, {field, value}}),
                ElementsAre("invalid_value", "/action/" + field + " invalid_value"))
        << field << " = " << dump_json(value);
  }
  EXPECT_THAT(complaints_about({{"action", "noop"}, {"depends_on", {"a", 5}}}),
              ElementsAre("invalid_value", "/action/depends_on/1 invalid_value"));
  EXPECT_THAT(complaints_about({{"action", "noop"},
                                {"start_time", "2026-11-15T03:00:00Z"},
                                {"stop_time", "2026-11-15T03:00:00Z"}}),
              ElementsAre("invalid_value", "/action/stop_time invalid_value"));
  EXPECT_THAT(complaints_about(
                  {{"action", "noop"}, {"retry", {{"backoff", "10s"}, {"max_backoff", "5s"}}}}),
              ElementsAre("invalid_value", "/action/retry/max_backoff invalid_value"));
}

TEST(CreateBody, KeepsThePlacesOfReferencesThatAreWrong) {
  Problems problems;
  const Result<CreateBody> body =
      read_create(R"({"action": {"action": "noop", "depends_on": ["a", 5, "b"]}})", problems);
  ASSERT_TRUE(body.has_value());
  EXPECT_TRUE(problems.has("/action/depends_on/1"));
  EXPECT_THAT(body->actions.at(0).depends_on, ElementsAre("a", "", "b"));
}

TEST(CreateBody, CountsCharactersNotBytes) {
  std::string name;
  for (int i = 0; i < 200; ++i) name += "ä";
  EXPECT_EQ(decode_one({{"action", "noop"}, {"name", name}}).name, name);
}

TEST(ClientPointers, FollowTheFormOfTheRequest) {
  const Error error{ErrorCode::UnknownTarget,
                    "no such agent",
                    {{"/actions/0/target", ErrorCode::UnknownTarget, "x"},
                     {"/actions/01", ErrorCode::UnknownTarget, "x"},
                     {"/actions/0", ErrorCode::UnknownTarget, "x"}}};
  EXPECT_EQ(with_client_pointers(error, false), error);
  const Error single = with_client_pointers(error, true);
  EXPECT_EQ(single.fields[0].pointer, "/action/target");
  EXPECT_EQ(single.fields[1].pointer, "/actions/01");
  EXPECT_EQ(single.fields[2].pointer, "/action");
}

TEST(SignalBody, IsStrict) {
  EXPECT_EQ(decode_signal(R"({"signal": "cancel", "force": true})")->signal, core::Signal::Cancel);
  EXPECT_EQ(decode_signal(R"({"signal": "KILL"})").error().code, ErrorCode::InvalidValue);
  EXPECT_EQ(decode_signal("{}").error().code, ErrorCode::MissingField);
  EXPECT_EQ(decode_signal(R"({"signal": "RESUME", "force": true})").error().code,
            ErrorCode::InvalidValue);
  EXPECT_EQ(decode_signal(R"({"signal": "RESUME", "why": ""})").error().code,
            ErrorCode::UnknownField);
}

TEST(CancelPatch, OnlyCancels) {
  EXPECT_TRUE(decode_cancel_patch(R"({"action": {"status": "CANCELLED"}})").has_value());
  EXPECT_EQ(decode_cancel_patch(R"({"action": {"status": "READY"}})").error().code,
            ErrorCode::InvalidValue);
  EXPECT_EQ(decode_cancel_patch(R"({"action": {}})").error().code, ErrorCode::MissingField);
  EXPECT_EQ(decode_cancel_patch(R"({"action": {"status": "CANCELLED", "name": "x"}})").error().code,
            ErrorCode::UnknownField);
}

// Whatever is accepted comes out as it went in.
RC_GTEST_PROP(CreateBodyProperty, KeepsDurations, ()) {
  const auto us = *rc::gen::inRange<std::int64_t>(1, Duration::days(1000).us);
  const Duration duration = Duration::micros(us);
  const bool as_text = *rc::gen::arbitrary<bool>();
  const Json value = as_text ? Json(format_duration(duration)) : duration_json(duration);
  const Result<CreateBody> body =
      decode_create(dump_json({{"action", {{"action", "noop"}, {"timeout", value}}}}));
  RC_ASSERT(body.has_value());
  RC_ASSERT(body->actions.front().timeout == duration);
}

RC_GTEST_PROP(CreateBodyProperty, NeverAcceptsAnUnknownField, ()) {
  const auto field =
      *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('A', 'Z')));
  const Result<CreateBody> body =
      decode_create(dump_json({{"action", {{"action", "noop"}, {field, 1}}}}));
  RC_ASSERT(!body.has_value());
  RC_ASSERT(body.error().fields.front().pointer == "/action/" + field);
}

}  // namespace
}  // namespace muster::controller
