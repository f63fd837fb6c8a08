#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/api_test_util.h"

namespace muster::controller {
namespace {

using testing::Answer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ActionsApiTest : public ::testing::Test {
 protected:
  Json action(const std::string& ref) { return rig_.get("/v1/actions/" + ref).json.at("action"); }
  // An engine action that has ended.
  void finish(const std::string& id, core::ExecuteResult result = core::ExecuteResult::Ok,
              core::JsonText outputs = "{}") {
    core::JobDone done;
    done.id = *Uuid::parse(id);
    done.result = result;
    done.outputs = std::move(outputs);
    rig_.controller.post(done);
  }
  std::vector<std::string> names(const std::string& query) {
    std::vector<std::string> list;
    const Answer answer = rig_.get("/v1/actions" + query);
    EXPECT_EQ(answer.status, 200) << answer.response.body;
    for (const Json& row : answer.json.at("actions")) list.push_back(row.at("name"));
    return list;
  }

  store::MemoryStore store_;
  testing::ApiRig rig_{store_};
};

TEST_F(ActionsApiTest, CreatesOneActionDurably) {
  const Answer answer =
      rig_.post("/v1/actions", {{"action", {{"action", "noop"}, {"name", "first"}}}});
  ASSERT_EQ(answer.status, 202) << answer.response.body;
  const Json& created = answer.json.at("action");
  EXPECT_EQ(created.at("name"), "first");
  EXPECT_EQ(created.at("requested_by"), "alice");
  EXPECT_EQ(created.at("cause"), "RPC Request");
  EXPECT_EQ(created.at("timeout"), 3600);
  EXPECT_EQ(created.at("stop_time"), nullptr);
  const std::string id = created.at("id");
  EXPECT_EQ(answer.header("Location"), "/v1/actions/" + id);
  EXPECT_EQ(answer.header("ETag"), "\"" + std::to_string(created.at("revision").get<int>()) + "\"");
  EXPECT_TRUE(store_.get(store::Space::Action, Uuid::parse(id)->bytes())->has_value());
  EXPECT_EQ(action(id).at("id"), id);
}

TEST_F(ActionsApiTest, CreatesABatchWithReferencesByName) {
  const Answer answer =
      rig_.post("/v1/actions", {{"actions",
                                 {{{"action", "noop"}, {"name", "a"}},
                                  {{"action", "noop"}, {"name", "b"}, {"depends_on", {"a"}}}}}});
  ASSERT_EQ(answer.status, 202) << answer.response.body;
  const Json& list = answer.json.at("actions");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.at(1).at("status"), "WAITING");
  EXPECT_EQ(list.at(1).at("depends_on"), Json::array({list.at(0).at("id")}));
  EXPECT_EQ(answer.header("Location"), "");
}

TEST_F(ActionsApiTest, RepeatsAnAnswerForTheSameIdempotencyKey) {
  const Json body = {{"action", {{"action", "noop"}, {"name", "once"}}}};
  const Answer first = rig_.post("/v1/actions", body, {{"idempotency-key", "k1"}});
  const Answer again = rig_.post("/v1/actions", body, {{"idempotency-key", "k1"}});
  ASSERT_EQ(first.status, 202);
  ASSERT_EQ(again.status, 202) << again.response.body;
  EXPECT_EQ(again.json.at("action").at("id"), first.json.at("action").at("id"));
  EXPECT_EQ(first.header("Idempotency-Replayed"), "");
  EXPECT_EQ(again.header("Idempotency-Replayed"), "true");
  EXPECT_EQ(names("?name=once").size(), 1u);

  const Answer other =
      rig_.post("/v1/actions", {{"action", {{"action", "noop"}}}}, {{"idempotency-key", "k1"}});
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.code(), "idempotency_mismatch");
  EXPECT_EQ(rig_.post("/v1/actions", body, {{"idempotency-key", ""}}).code(), "invalid_value");

  rig_.identity.name = "bob";
  const Answer bobs = rig_.post("/v1/actions", body, {{"idempotency-key", "k1"}});
  EXPECT_EQ(bobs.status, 202);
  EXPECT_NE(bobs.json.at("action").at("id"), first.json.at("action").at("id"));
}

TEST_F(ActionsApiTest, RefusesBadRequestsEachWithItsCode) {
  rig_.controller.connect_agent("db1", 1);
  const std::string taken = rig_.create({{"action", "noop"}, {"name", "taken"}});
  const auto code = [&](const Json& action) {
    return rig_.post("/v1/actions", {{"action", action}}).code();
  };
  EXPECT_EQ(code({{"action", "nope"}}), "unknown_kind");
  EXPECT_EQ(code({{"action", "noop"}, {"target", "db9"}}), "unknown_target");
  EXPECT_EQ(code({{"action", "noop"}, {"depends_on", {"nobody"}}}), "unknown_dependency");
  EXPECT_EQ(code({{"action", "noop"}, {"colour", "red"}}), "unknown_field");
  EXPECT_EQ(code({{"action", "noop"}, {"timeout", -1}}), "invalid_value");
  EXPECT_EQ(code({{"target", "db1"}}), "missing_field");
  EXPECT_EQ(code({{"action", "noop"}, {"id", taken}}), "duplicate_id");
  const Answer cycle =
      rig_.post("/v1/actions", {{"actions",
                                 {{{"action", "noop"}, {"name", "a"}, {"depends_on", {"b"}}},
                                  {{"action", "noop"}, {"name", "b"}, {"depends_on", {"a"}}}}}});
  EXPECT_EQ(cycle.code(), "dependency_cycle");
  EXPECT_EQ(rig_.call("POST", "/v1/actions", "{").code(), "invalid_json");
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  EXPECT_EQ(rig_.call("POST", "/v1/actions", deep).code(), "json_too_deep");
  const Answer typed = rig_.call("POST", "/v1/actions", "{}", {{"content-type", "text/plain"}});
  EXPECT_EQ(typed.status, 415);
  EXPECT_EQ(typed.code(), "unsupported_media_type");
  EXPECT_EQ(rig_.post("/v1/actions?dry_run=1", {{"action", {{"action", "noop"}}}}).status, 400);
}

TEST_F(ActionsApiTest, TellsAllMistakesAtOnceWhoeverFindsThem) {
  rig_.controller.connect_agent("db1", 1);
  const Answer answer = rig_.post(
      "/v1/actions?dry_run=1",
      {{"action",
        {{"action", "exec"}, {"depends_on", {"nobody", 5, "no-one"}}, {"colour", "red"}}}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.mistakes(),
              ElementsAre("/action/depends_on/1 invalid_value", "/action/inputs/argv missing_field",
                          "/action/colour unknown_field", "?dry_run unknown_field",
                          "/action/target missing_field", "/action/depends_on/0 unknown_dependency",
                          "/action/depends_on/2 unknown_dependency"));
  // What was wrong when it was read is not judged a second time.
  EXPECT_THAT(
      rig_.post("/v1/actions",
                {{"action", {{"action", "exec"}, {"target", 5}, {"inputs", {{"argv", {"true"}}}}}}})
          .mistakes(),
      ElementsAre("/action/target invalid_value"));
  EXPECT_THAT(rig_.get("/v1/actions?foo=zz&limit=0&sort=foo:up&status=xx").mistakes(),
              ElementsAre("?foo unknown_field", "?status invalid_value", "?limit invalid_value",
                          "?sort invalid_value"));
}

TEST_F(ActionsApiTest, TakesTheFirstDigitsOfAnIdAsADependency) {
  const std::string live = rig_.create({{"action", "noop"}, {"name", "live"}});
  const std::string ended = rig_.create({{"action", "noop"}, {"name", "ended"}});
  finish(ended);
  const std::string id = rig_.create(
      {{"action", "noop"}, {"depends_on", {live.substr(0, 8), ended.substr(0, 8), "ended"}}});
  EXPECT_EQ(action(id).at("depends_on"), Json::array({live, ended}));
  EXPECT_EQ(action(id).at("depends_on_left"), Json::array({live}));
}

TEST_F(ActionsApiTest, WritesTimesWithOneLength) {
  const std::string id = rig_.create({{"action", "noop"}});
  EXPECT_EQ(action(id).at("created_at").get<std::string>().size(),
            std::string("2024-10-04T00:00:00.001000Z").size());
}

TEST_F(ActionsApiTest, WritesProblemDocuments) {
  const Answer answer =
      rig_.post("/v1/actions", {{"action", {{"action", "noop"}, {"target", "db9"}}}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(answer.json.at("type"), "urn:muster:problem:unknown_target");
  EXPECT_EQ(answer.json.at("request_id"), "request-1");
  // The engine counts actions; the client sent only one.
  EXPECT_THAT(answer.mistakes(), ElementsAre("/action/target unknown_target"));
}

TEST_F(ActionsApiTest, FindsAnActionByIdNameAndShortId) {
  const std::string id = rig_.create({{"action", "noop"}, {"name", "nightly"}});
  EXPECT_EQ(action(id).at("name"), "nightly");
  EXPECT_EQ(action("nightly").at("id"), id);
  EXPECT_EQ(action(id.substr(0, 8)).at("id"), id);
  EXPECT_EQ(action(id.substr(0, 13)).at("id"), id);
  EXPECT_EQ(rig_.get("/v1/actions/" + id.substr(0, 3)).code(), "not_found");
  const Answer missing = rig_.get("/v1/actions/nightyl");
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.json.at("detail"), HasSubstr("'nightyl'"));
  EXPECT_EQ(rig_.get("/v1/actions/00000000-0000-4000-8000-000000000000").code(), "not_found");
}

TEST_F(ActionsApiTest, PrefersAnIdToANameThatLooksLikeOne) {
  const std::string id = rig_.create({{"action", "noop"}, {"name", "real"}});
  rig_.create({{"action", "noop"}, {"name", id}});
  EXPECT_EQ(action(id).at("name"), "real");
  const std::string shown = rig_.create({{"action", "noop"}, {"name", id.substr(0, 8)}});
  EXPECT_EQ(action(id.substr(0, 8)).at("id"), shown);
}

TEST_F(ActionsApiTest, ListsTheMatchesOfAnAmbiguousName) {
  std::vector<std::string> ids;
  for (int i = 0; i < 7; ++i) ids.push_back(rig_.create({{"action", "noop"}, {"name", "twin"}}));
  const Answer answer = rig_.get("/v1/actions/twin");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.code(), "ambiguous");
  EXPECT_EQ(answer.mistakes().size(), 5u);
  EXPECT_THAT(answer.json.at("detail"), HasSubstr(ids.back()));
  EXPECT_THAT(answer.json.at("detail"), HasSubstr("RUNNING created 2"));
}

TEST_F(ActionsApiTest, FiltersLists) {
  rig_.controller.connect_agent("db1", 1);
  rig_.create({{"action", "noop"}, {"name", "a"}});
  rig_.create({{"action", "sleep"}, {"name", "b"}, {"inputs", {{"duration", 5}}}});
  rig_.create({{"action", "noop"}, {"name", "c"}, {"target", "db1"}});
  rig_.create({{"action", "noop"}, {"name", "d"}, {"hold", true}});
  EXPECT_THAT(names(""), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(names("?name=a&name=c"), ElementsAre("a", "c"));
  EXPECT_THAT(names("?target=db1"), ElementsAre("c"));
  EXPECT_THAT(names("?action=sleep"), ElementsAre("b"));
  EXPECT_THAT(names("?status=init"), ElementsAre("d"));
  EXPECT_THAT(names("?action=noop&status=RUNNING"), ElementsAre("a"));
  EXPECT_THAT(names(R"(?filters={"name":["a","b"],"action":"noop"})"), ElementsAre("a"));
  EXPECT_THAT(names(R"(?filters={"name":"d"}&name=a)"), ElementsAre("a", "d"));
}

TEST_F(ActionsApiTest, SortsLists) {
  rig_.create({{"action", "noop"}, {"name", "b"}});
  rig_.create({{"action", "fail"}, {"name", "c"}});
  rig_.create({{"action", "noop"}, {"name", "a"}});
  EXPECT_THAT(names("?sort=name"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names("?sort=name:desc"), ElementsAre("c", "b", "a"));
  EXPECT_THAT(names("?sort=created_at:desc"), ElementsAre("a", "c", "b"));
  EXPECT_THAT(names("?sort=action:desc,name:asc"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names("?sort=id:desc"), ElementsAre("a", "c", "b"));
}

TEST_F(ActionsApiTest, PagesThroughAList) {
  for (int i = 0; i < 7; ++i) {
    rig_.create({{"action", "noop"}, {"name", "n" + std::to_string(i)}});
  }
  std::vector<std::string> seen;
  std::string marker;
  int pages = 0;
  while (true) {
    const Answer page = rig_.get("/v1/actions?limit=3&sort=name:desc" +
                                 (marker.empty() ? std::string() : "&marker=" + marker));
    ASSERT_EQ(page.status, 200) << page.response.body;
    for (const Json& row : page.json.at("actions")) seen.push_back(row.at("name"));
    ++pages;
    if (page.json.at("next_marker").is_null()) break;
    marker = page.json.at("next_marker");
  }
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(seen, ElementsAre("n6", "n5", "n4", "n3", "n2", "n1", "n0"));
}

TEST_F(ActionsApiTest, ListsActionsById) {
  const std::string one = rig_.create({{"action", "noop"}, {"name", "one"}, {"hold", true}});
  const std::string two = rig_.create({{"action", "noop"}, {"name", "two"}, {"hold", true}});
  const std::string none = "00000000-0000-4000-8000-000000000001";
  const Answer answer = rig_.get("/v1/actions?ids=" + two + "%2C" + none + "," + one);
  ASSERT_EQ(answer.status, 200) << answer.response.body;
  ASSERT_EQ(answer.json.at("actions").size(), 2u);
  EXPECT_EQ(answer.json.at("actions").at(0).at("name"), "two");
  EXPECT_EQ(answer.json.at("actions").at(1).at("name"), "one");
  EXPECT_EQ(rig_.get("/v1/actions?ids=one").code(), "invalid_value");
  EXPECT_EQ(rig_.get("/v1/actions?ids=").code(), "invalid_value");
  EXPECT_EQ(rig_.get("/v1/actions?ids=" + one + "&limit=3").status, 400);
  std::string many = one;
  for (int i = 0; i < 500; ++i) many += "," + one;
  EXPECT_EQ(rig_.get("/v1/actions?ids=" + many).code(), "invalid_value");
}

TEST_F(ActionsApiTest, RefusesBadLists) {
  const auto mistakes = [&](const std::string& query) {
    return rig_.get("/v1/actions?" + query).mistakes();
  };
  EXPECT_THAT(mistakes("limit=0"), ElementsAre("?limit invalid_value"));
  EXPECT_THAT(mistakes("limit=501"), ElementsAre("?limit invalid_value"));
  EXPECT_THAT(mistakes("limit=x&sort=age&status=SLEEPING"),
              ElementsAre("?status invalid_value", "?limit invalid_value", "?sort invalid_value"));
  EXPECT_THAT(mistakes("sort=name:up"), ElementsAre("?sort invalid_value"));
  EXPECT_THAT(mistakes("sort=name,name"), ElementsAre("?sort invalid_value"));
  EXPECT_THAT(mistakes("filters=[]"), ElementsAre("?filters invalid_value"));
  EXPECT_THAT(mistakes(R"(filters={"nmae":"x","name":5})"),
              ElementsAre("?filters invalid_value", "?filters unknown_field"));
  EXPECT_THAT(mistakes("limt=3"), ElementsAre("?limt unknown_field"));
  const Answer gone = rig_.get("/v1/actions?marker=6f1c2d9e-0f0b-4b7e-9a55-3a6f5f1b8c21");
  EXPECT_EQ(gone.status, 400);
  EXPECT_EQ(gone.code(), "invalid_marker");
  EXPECT_EQ(rig_.get("/v1/actions?marker=zzz").code(), "invalid_marker");
}

TEST_F(ActionsApiTest, ShowsRecordsThatCannotBeReadAsWarnings) {
  rig_.create({{"action", "noop"}, {"name", "good"}});
  store::Batch batch;
  batch.term = 1;
  store::ActionIndex index;
  index.seq = 99;
  index.name = "bad";
  batch.records.push_back(
      {store::Space::Action, std::string(16, 'x'), std::string("\xff\xff"), index});
  ASSERT_TRUE(store_.commit(batch).has_value());
  const Answer answer = rig_.get("/v1/actions");
  EXPECT_EQ(answer.json.at("actions").size(), 1u);
  EXPECT_EQ(answer.json.at("warnings").size(), 1u);
  EXPECT_EQ(rig_.get("/v1/actions/bad").code(), "decode_failed");
}

TEST_F(ActionsApiTest, SendsSignals) {
  const std::string id = rig_.create({{"action", "noop"}, {"name", "held"}, {"hold", true}});
  EXPECT_EQ(rig_.post("/v1/actions/held/signals", {{"signal", "RESUME"}}).status, 202);
  const Answer cancelled =
      rig_.post("/v1/actions/held/signals", {{"signal", "CANCEL"}, {"reason", "not needed"}});
  EXPECT_EQ(cancelled.status, 202) << cancelled.response.body;
  EXPECT_EQ(cancelled.json.at("action").at("control"), "CANCEL");
  EXPECT_THAT(cancelled.json.at("action").at("control_reason"), HasSubstr("not needed"));
  EXPECT_EQ(rig_.post("/v1/actions/held/signals", {{"signal", "STOP"}}).code(), "invalid_value");
  EXPECT_EQ(rig_.post("/v1/actions/nobody/signals", {{"signal", "CANCEL"}}).code(), "not_found");
  finish(id, core::ExecuteResult::Cancel);
  EXPECT_EQ(rig_.post("/v1/actions/held/signals", {{"signal", "CANCEL"}}).code(), "action_final");
}

TEST_F(ActionsApiTest, CancelsTheWaySenlinDoes) {
  rig_.create({{"action", "noop"}, {"name", "held"}, {"hold", true}});
  const std::string body = R"({"action": {"status": "CANCELLED"}})";
  const Answer answer = rig_.call("PATCH", "/v1/actions/held", body);
  EXPECT_EQ(answer.status, 202) << answer.response.body;
  EXPECT_EQ(answer.json.at("action").at("status"), "CANCELLED");
  rig_.create({{"action", "noop"}, {"name", "running"}});
  EXPECT_EQ(
      rig_.call("PATCH", "/v1/actions/running?force=true", body).json.at("action").at("status"),
      "CANCELLED");
  EXPECT_EQ(rig_.call("PATCH", "/v1/actions/running?force=maybe", body).code(), "invalid_value");
}

TEST_F(ActionsApiTest, HonoursIfMatch) {
  rig_.create({{"action", "noop"}, {"name", "held"}, {"hold", true}});
  const Json signal = {{"signal", "CANCEL"}};
  const std::string path = "/v1/actions/held/signals";
  const Answer stale = rig_.post(path, signal, {{"if-match", "\"77\""}});
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(stale.code(), "revision_mismatch");
  EXPECT_EQ(rig_.post(path, signal, {{"if-match", "77"}}).code(), "invalid_value");
  EXPECT_EQ(rig_.post(path, signal, {{"if-match", "\""}}).code(), "invalid_value");
  EXPECT_EQ(rig_.post(path, signal, {{"if-match", ""}}).code(), "invalid_value");
  const std::string etag = rig_.get("/v1/actions/held").header("ETag");
  EXPECT_EQ(rig_.post(path, signal, {{"if-match", etag}}).status, 202);
}

TEST_F(ActionsApiTest, TakesApprovalsFromKnownPeopleOnly) {
  rig_.create({{"action", "noop"}, {"name", "risky"}, {"approval", true}});
  EXPECT_EQ(action("risky").at("status"), "PENDING_APPROVE");
  EXPECT_EQ(rig_.post("/v1/actions/risky/approve", {{"reason", "x"}}).code(), "self_approval");
  rig_.identity = {"anonymous", false, "tcp"};
  const Answer unknown = rig_.call("POST", "/v1/actions/risky/approve");
  EXPECT_EQ(unknown.status, 403);
  EXPECT_EQ(unknown.code(), "forbidden");
  EXPECT_THAT(unknown.json.at("detail"), HasSubstr("unix socket"));
  rig_.identity = {"bob", true, "unix"};
  EXPECT_EQ(rig_.call("POST", "/v1/actions/risky/approve", R"({"why": 1})").code(),
            "unknown_field");
  const Answer approved = rig_.post("/v1/actions/risky/approve", {{"reason", "looked at it"}});
  EXPECT_EQ(approved.status, 200) << approved.response.body;
  EXPECT_EQ(approved.json.at("action").at("approval").at("decisions").at(0).at("who"), "bob");
  EXPECT_EQ(rig_.call("POST", "/v1/actions/risky/reject").code(), "conflict");

  // Who is not known could approve what they asked for themselves.
  const http::Identity known = std::exchange(rig_.identity, {"anonymous", false, "tcp"});
  const Answer hidden =
      rig_.post("/v1/actions", {{"action", {{"action", "noop"}, {"approval", true}}}});
  EXPECT_EQ(hidden.status, 403);
  EXPECT_EQ(hidden.mistakes(), std::vector<std::string>{"/action/approval forbidden"});
  EXPECT_EQ(rig_.post("/v1/actions",
                      {{"action", {{"action", "noop"}, {"approval", {{"allow_requester", true}}}}}})
                .status,
            202);
  rig_.identity = known;
  rig_.create({{"action", "noop"}, {"name", "worse"}, {"approval", true}});
  const Answer rejected = rig_.call("POST", "/v1/actions/worse/reject");
  EXPECT_EQ(rejected.status, 200);
  EXPECT_EQ(rejected.json.at("action").at("status"), "CANCELLED");
}

TEST_F(ActionsApiTest, ExplainsWhatHoldsAnActionUp) {
  rig_.create({{"action", "noop"}, {"name", "first"}});
  rig_.create({{"action", "noop"}, {"name", "second"}, {"depends_on", {"first"}}});
  const Json waiting = rig_.get("/v1/actions/second/explain").json.at("explain");
  EXPECT_EQ(waiting.at("status"), "WAITING");
  EXPECT_EQ(waiting.at("blockers").at(0).at("what"), "dependency");
  finish(action("first").at("id"), core::ExecuteResult::Error);
  const Json ended = rig_.get("/v1/actions/second/explain").json.at("explain");
  EXPECT_EQ(ended.at("status"), "FAILED");
  EXPECT_EQ(ended.at("blockers"), Json::array());
  EXPECT_THAT(ended.at("summary"), HasSubstr("has ended FAILED"));
}

TEST_F(ActionsApiTest, ShowsOutputsOfAnEngineActionAsItsLog) {
  const std::string id = rig_.create({{"action", "noop"}, {"name", "job"}});
  EXPECT_EQ(rig_.get("/v1/actions/job/logs").response.body, "");
  finish(id, core::ExecuteResult::Ok, R"({"answer":42})");
  const Answer answer = rig_.get("/v1/actions/job/logs");
  EXPECT_EQ(answer.header("X-Muster-Log-Source"), "record");
  EXPECT_EQ(answer.header("X-Muster-Log-End"), "true");
  EXPECT_EQ(answer.json, (Json{{"answer", 42}}));
}

}  // namespace
}  // namespace muster::controller
