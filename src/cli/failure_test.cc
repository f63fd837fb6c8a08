#include "cli/failure.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace muster::cli {
namespace {

TEST(Problem, IsShownWithFieldsAndHint) {
  const Failure failure = failure_of_answer(
      400, dump_json({{"type", "urn:muster:problem:invalid_request"},
                      {"title", "Invalid request"},
                      {"status", 400},
                      {"detail", "2 fields are wrong"},
                      {"code", "invalid_request"},
                      {"errors", Json::array({{{"pointer", "/action/target"},
                                               {"code", "unknown_target"},
                                               {"detail", "no agent 'a9'"}},
                                              {{"pointer", ""}, {"detail", "\x1b]0;title"}}})}}));
  EXPECT_EQ(render(failure),
            "error: 2 fields are wrong (invalid_request)\n"
            "  /action/target: no agent 'a9' (unknown_target)\n"
            "  (body): ?]0;title\n");
  EXPECT_EQ(failure.exit, ExitCode::Error);
}

TEST(Problem, IsNotSaidTwice) {
  const auto text = [](const char* detail) {
    return render(failure_of_answer(
        400, dump_json({{"code", "invalid_value"},
                        {"detail", detail},
                        {"errors", Json::array({{{"pointer", "/action/timeout"},
                                                 {"code", "invalid_value"},
                                                 {"detail", "is negative"}}})}})));
  };
  EXPECT_EQ(text("/action/timeout: is negative"),
            "error: /action/timeout: is negative (invalid_value)\n");
  EXPECT_EQ(text("is negative"), "error: is negative (invalid_value)\n  at /action/timeout\n");
  EXPECT_EQ(text("wrong"),
            "error: wrong (invalid_value)\n  /action/timeout: is negative (invalid_value)\n");
}

TEST(Problem, DoesNotRepeatWhatTheDetailLists) {
  const Failure failure = failure_of_answer(
      409, dump_json({{"code", "ambiguous"},
                      {"detail", "'ok' matches 2 actions, use an id: 1 DONE; 2 DONE"},
                      {"errors", Json::array({{{"pointer", ""}, {"detail", "1 DONE"}},
                                              {{"pointer", ""}, {"detail", "2 DONE"}}})}}));
  EXPECT_EQ(render(failure),
            "error: 'ok' matches 2 actions, use an id: 1 DONE; 2 DONE (ambiguous)\n"
            "hint: use more digits of the id, or the whole id\n");
}

TEST(Problem, HasAHintWhereOneExists) {
  const Failure failure =
      failure_of_answer(409, R"({"code":"action_final","detail":"action x has ended"})");
  EXPECT_EQ(render(failure),
            "error: action x has ended (action_final)\n"
            "hint: `muster actions show` tells how it ended; submit a new action instead\n");
  const Failure own =
      failure_of_answer(409, R"({"code":"action_final","detail":"d","hint":"do this"})");
  EXPECT_EQ(own.hint, "do this");
}

TEST(Problem, SurvivesAnswersThatAreNone) {
  EXPECT_EQ(render(failure_of_answer(502, "<html>bad gateway")),
            "error: the controller answered with status 502: <html>bad gateway (http_502)\n");
  EXPECT_EQ(render(failure_of_answer(500, "")),
            "error: the controller answered with status 500 (http_500)\n");
  EXPECT_EQ(render(failure_of_answer(500, R"({"code":5,"request_id":"r1"})")),
            "error: status 500 (http_500)\nrequest id: r1\n");
}

TEST(ExitCodes, OfAnswers) {
  EXPECT_EQ(failure_of_answer(403, "{}").exit, ExitCode::Forbidden);
  EXPECT_EQ(failure_of_answer(409, "{}").exit, ExitCode::Conflict);
  EXPECT_EQ(failure_of_answer(412, "{}").exit, ExitCode::Conflict);
  EXPECT_EQ(failure_of_answer(404, "{}").exit, ExitCode::Error);
  EXPECT_EQ(failure_of_answer(503, "{}").exit, ExitCode::Error);
}

TEST(ExitCodes, OfOurOwnErrors) {
  EXPECT_EQ(Failure(Error{ErrorCode::InvalidValue, ""}).exit, ExitCode::Usage);
  EXPECT_EQ(Failure(Error{ErrorCode::Unavailable, ""}).exit, ExitCode::Unreachable);
  EXPECT_EQ(Failure(Error{ErrorCode::Timeout, ""}).exit, ExitCode::Unreachable);
  EXPECT_EQ(Failure(Error{ErrorCode::IoError, ""}).exit, ExitCode::Error);
}

TEST(ExitCodes, OfFinishedWaits) {
  EXPECT_EQ(exit_code_of({.succeeded = 3}), ExitCode::Ok);
  EXPECT_EQ(exit_code_of({.failed = 1}), ExitCode::Failed);
  EXPECT_EQ(exit_code_of({.lost = 1, .cancelled = 1}), ExitCode::Failed);
  EXPECT_EQ(exit_code_of({.unknown = 1}), ExitCode::Failed);
  EXPECT_EQ(exit_code_of({.succeeded = 1, .failed = 1}), ExitCode::Partial);
  EXPECT_EQ(exit_code_of({.succeeded = 1, .cancelled = 1}), ExitCode::Partial);
  EXPECT_EQ(exit_code_of({.cancelled = 2}), ExitCode::Cancelled);
  EXPECT_EQ(exit_code_of({.succeeded = 1, .unfinished = 1}), ExitCode::WaitTimeout);
  EXPECT_EQ(exit_code_of({}), ExitCode::Ok);
}

TEST(ExitCodes, AreTheDocumentedNumbers) {
  EXPECT_EQ(static_cast<int>(ExitCode::Failed), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::Partial), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::Cancelled), 5);
  EXPECT_EQ(static_cast<int>(ExitCode::WaitTimeout), 6);
  EXPECT_EQ(static_cast<int>(ExitCode::Conflict), 7);
  EXPECT_EQ(static_cast<int>(ExitCode::NeedsApproval), 8);
  EXPECT_EQ(static_cast<int>(ExitCode::Usage), 64);
  EXPECT_EQ(static_cast<int>(ExitCode::Unreachable), 69);
  EXPECT_EQ(static_cast<int>(ExitCode::Forbidden), 77);
}

}  // namespace
}  // namespace muster::cli
