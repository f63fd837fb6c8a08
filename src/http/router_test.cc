#include "http/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Answers final : public Responder {
 public:
  void respond(Response given) override { response = std::move(given); }
  std::shared_ptr<Stream> stream(Response) override { return nullptr; }
  Response response = {0, {}, ""};

  std::string header(std::string_view name) const {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }
};

// A handler that answers with its tag and the parameters.
Handler tagged(std::string tag) {
  return [tag](Request request, std::shared_ptr<Responder> responder) {
    std::string body = tag;
    for (const auto& [key, value] : request.path_params) body += " " + key + "=" + value;
    responder->respond({200, {}, body});
  };
}

std::shared_ptr<Answers> dispatch(const Router& router, std::string method, std::string path) {
  auto answers = std::make_shared<Answers>();
  Request request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.id = "r1";
  router.dispatch(std::move(request), answers);
  return answers;
}

Router example() {
  Router router;
  // Parameters before literals: the order must not matter.
  router.add("GET", "/v1/actions/{id}", tagged("get"));
  router.add("GET", "/v1/{any}/summary", tagged("any-summary"));
  router.add("GET", "/v1/actions/summary", tagged("summary"));
  router.add("DELETE", "/v1/actions/{id}", tagged("delete"));
  router.add("GET", "/v1/actions/{id}/logs/{part}", tagged("logs"));
  router.add("POST", "/v1/actions", tagged("create"));
  router.add("GET", "/", tagged("root"));
  return router;
}

TEST(Router, MatchesPathsAndTakesParameters) {
  const Router router = example();
  EXPECT_EQ(dispatch(router, "GET", "/v1/actions/42")->response.body, "get id=42");
  EXPECT_EQ(dispatch(router, "DELETE", "/v1/actions/42")->response.body, "delete id=42");
  EXPECT_EQ(dispatch(router, "GET", "/v1/actions/a b/logs/2")->response.body, "logs id=a b part=2");
  EXPECT_EQ(dispatch(router, "POST", "/v1/actions")->response.body, "create");
  EXPECT_EQ(dispatch(router, "GET", "/")->response.body, "root");
  EXPECT_EQ(dispatch(router, "HEAD", "/v1/actions/42")->response.body, "get id=42");
}

TEST(Router, LiteralSegmentsWinInWhateverOrderTheyWereAdded) {
  const Router router = example();
  EXPECT_EQ(dispatch(router, "GET", "/v1/actions/summary")->response.body, "summary");
  EXPECT_EQ(dispatch(router, "GET", "/v1/nodes/summary")->response.body, "any-summary any=nodes");
  // Only the parameter route knows DELETE.
  EXPECT_EQ(dispatch(router, "DELETE", "/v1/actions/summary")->response.body, "delete id=summary");
  Router head;
  head.add("GET", "/a", tagged("get"));
  head.add("HEAD", "/a", tagged("head"));
  EXPECT_EQ(dispatch(head, "HEAD", "/a")->response.body, "head");
}

TEST(Router, UnknownPathIsNotFound) {
  const Router router = example();
  for (const char* path :
       {"/v1", "/v1/actions/", "/v1/actions/1/2", "v1//", "*", "/V1/actions/1"}) {
    const auto answers = dispatch(router, "GET", path);
    EXPECT_EQ(answers->response.status, 404) << path;
    const auto body = parse_json(answers->response.body);
    ASSERT_TRUE(body);
    EXPECT_EQ((*body)["code"], "not_found");
    EXPECT_EQ((*body)["request_id"], "r1");
  }
}

TEST(Router, WrongMethodIsToldWhichOnesAreRight) {
  const auto answers = dispatch(example(), "PUT", "/v1/actions/42");
  EXPECT_EQ(answers->response.status, 405);
  EXPECT_EQ(answers->header("Allow"), "DELETE, GET, HEAD");
  EXPECT_EQ(answers->header("Content-Type"), "application/problem+json");
  EXPECT_EQ((*parse_json(answers->response.body))["status"], 405);
  EXPECT_EQ((*parse_json(answers->response.body))["code"], "method_not_supported");
}

TEST(Router, ListsRoutesAndNamesPatterns) {
  const Router router = example();
  EXPECT_EQ(router.routes().size(), 7u);
  EXPECT_EQ(router.routes()[0].method, "GET");
  EXPECT_EQ(router.routes()[0].pattern, "/v1/actions/{id}");
  EXPECT_EQ(router.pattern_of("GET", "/v1/actions/42"), "/v1/actions/{id}");
  EXPECT_EQ(router.pattern_of("GET", "/v1/actions/summary"), "/v1/actions/summary");
  EXPECT_EQ(router.pattern_of("PUT", "/v1/actions/42"), "");
}

TEST(RouterDeathTest, RefusesARouteThatCannotBeToldFromAnother) {
  Router router = example();
  EXPECT_DEATH(router.add("GET", "/v1/actions/{name}", tagged("x")), "cannot be told from");
}

TEST(Problem, HasEveryMember) {
  Request request;
  request.id = "req-9";
  const Error error{ErrorCode::InvalidRequest,
                    "2 fields are wrong",
                    {{"/timeout", ErrorCode::InvalidValue, "timeout is negative (-1)"},
                     {"/foo", ErrorCode::UnknownField, "field \"foo\" does not exist"}}};
  const Response response = problem(error, request);
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(*parse_json(response.body), Json({{"type", "urn:muster:problem:invalid_request"},
                                              {"title", "The request is not valid"},
                                              {"status", 400},
                                              {"detail", "2 fields are wrong"},
                                              {"code", "invalid_request"},
                                              {"request_id", "req-9"},
                                              {"errors",
                                               {{{"pointer", "/timeout"},
                                                 {"code", "invalid_value"},
                                                 {"detail", "timeout is negative (-1)"}},
                                                {{"pointer", "/foo"},
                                                 {"code", "unknown_field"},
                                                 {"detail", "field \"foo\" does not exist"}}}}}));
}

TEST(Problem, StatusFollowsTheCode) {
  EXPECT_EQ(http_status(ErrorCode::Ambiguous), 400);
  EXPECT_EQ(http_status(ErrorCode::DependencyCycle), 400);
  EXPECT_EQ(http_status(ErrorCode::SelfApproval), 403);
  EXPECT_EQ(http_status(ErrorCode::NotFound), 404);
  EXPECT_EQ(http_status(ErrorCode::DuplicateApproval), 409);
  EXPECT_EQ(http_status(ErrorCode::Compacted), 410);
  EXPECT_EQ(http_status(ErrorCode::RevisionMismatch), 412);
  EXPECT_EQ(http_status(ErrorCode::BodyTooLarge), 413);
  EXPECT_EQ(http_status(ErrorCode::UnsupportedMediaType), 415);
  EXPECT_EQ(http_status(ErrorCode::IdempotencyMismatch), 422);
  EXPECT_EQ(http_status(ErrorCode::Timeout), 504);
  EXPECT_EQ(http_status(ErrorCode::StoreCorrupt), 500);
  Answers answers;
  answers.respond(problem({ErrorCode::Overloaded, "x"}, {}));
  EXPECT_EQ(answers.response.status, 429);
  EXPECT_EQ(answers.header("Retry-After"), "1");
  answers.respond(problem({ErrorCode::StoreUnavailable, "x"}, {}));
  EXPECT_EQ(answers.response.status, 503);
  EXPECT_EQ(answers.header("Retry-After"), "5");
}

const std::vector<std::string> kKeys = {"limit", "marker", "sort", "status"};

TEST(Query, KeepsRepeatedKeysInOrder) {
  const auto query = Query::parse("sort=b&limit=10&sort=a&&status=A%2CB+c&marker", kKeys);
  ASSERT_TRUE(query) << query.error().message;
  EXPECT_EQ(query->get("limit"), "10");
  EXPECT_EQ(query->get("sort"), "b");
  EXPECT_THAT(query->all("sort"), ElementsAre("b", "a"));
  EXPECT_EQ(query->get("status"), "A,B c");
  EXPECT_TRUE(query->has("marker"));
  EXPECT_EQ(query->get("marker"), "");
  const auto empty = Query::parse("", kKeys);
  ASSERT_TRUE(empty);
  EXPECT_FALSE(empty->has("limit"));
  EXPECT_TRUE(empty->all("limit").empty());
}

TEST(Query, ReportsEveryErrorAtOnce) {
  const auto query = Query::parse("limt=1&sort=%4&zzzzzz=1&status=ok&%zz=1", kKeys);
  ASSERT_FALSE(query);
  EXPECT_EQ(query.error().code, ErrorCode::InvalidRequest);
  const auto& fields = query.error().fields;
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[0].pointer, "?limt");
  EXPECT_EQ(fields[0].code, ErrorCode::UnknownField);
  EXPECT_THAT(fields[0].detail, HasSubstr("did you mean \"limit\""));
  EXPECT_EQ(fields[1].code, ErrorCode::InvalidValue);
  EXPECT_THAT(fields[1].detail, HasSubstr("sort=%4"));
  EXPECT_THAT(fields[2].detail, HasSubstr("use one of limit, marker, sort, status"));
  EXPECT_EQ(fields[3].pointer, "?%zz");
}

TEST(Query, LimitsTheNumberOfParameters) {
  std::string many;
  for (int i = 0; i < 256; ++i) many += "sort=x&";
  EXPECT_TRUE(Query::parse(many, kKeys));
  EXPECT_FALSE(Query::parse(many + "sort=x", kKeys));
}

}  // namespace
}  // namespace muster::http
