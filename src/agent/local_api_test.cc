#include "agent/local_api.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "agent/agent_test_util.h"
#include "http/client.h"
#include "os/clock.h"
#include "os/random.h"
#include "store/memory_store.h"

namespace muster::agent {
namespace {

constexpr const char* kId = "11111111-2222-4333-8444-555555555555";
constexpr const char* kOther = "99999999-2222-4333-8444-555555555555";

class LocalApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/muster-agent-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    directory_ = pattern;
    auto journal = Journal::open(store_, os::system_now(), os::system_random);
    ASSERT_TRUE(journal);
    journal_.emplace(*std::move(journal));
    AgentLoopOptions options;
    options.core.kinds = {"exec", "facts"};
    options.core.queue_max = 3;
    options.clock = os::system_now;
    loop_ = std::make_unique<AgentLoop>(std::move(options), *journal_);
    LocalApiInfo info;
    info.identity.name = "web1";
    info.identity.kinds = {"exec", "facts"};
    info.identity.journal_id = journal_->id();
    info.state_dir = directory_;
    api_ = std::make_unique<LocalApi>(info, *loop_, nullptr, os::system_now, os::system_random);
    ASSERT_TRUE(api_->start({.unix_path = directory_ + "/agent.sock",
                             .unix_mode = 0600,
                             .tcp_address = "",
                             .insecure = false}));
    loop_->start(executor_, nullptr);
  }

  void TearDown() override {
    loop_->stop();
    api_->stop();
    std::filesystem::remove_all(directory_);
  }

  http::ClientResponse call(const std::string& method, const std::string& path,
                            const std::string& body = "",
                            const std::string& type = "application/json") {
    http::ClientRequest request;
    request.method = method;
    request.url = "http://agent" + path;
    request.unix_socket = directory_ + "/agent.sock";
    request.body = body;
    if (!body.empty()) request.headers.emplace_back("Content-Type", type);
    auto response = http::perform(request);
    EXPECT_TRUE(response) << (response ? "" : response.error().message);
    return response ? *std::move(response) : http::ClientResponse{};
  }

  Json json(const http::ClientResponse& response) {
    auto parsed = parse_json(response.body);
    EXPECT_TRUE(parsed) << response.body;
    return parsed ? *parsed : Json::object();
  }

  static std::string create(const std::string& id, const std::string& extra = "") {
    return R"({"action":{"id":")" + id + R"(","action":"exec","inputs":{"argv":["true"]})" + extra +
           "}}";
  }

  void end(const char* id) {
    loop_->on_ended(*Uuid::parse(id), 1, {core::ExecuteResult::Ok, "", R"({"exit_code":0})"});
  }

  std::string directory_;
  store::MemoryStore store_;
  std::optional<Journal> journal_;
  FakeExecutor executor_;
  std::unique_ptr<AgentLoop> loop_;
  std::unique_ptr<LocalApi> api_;
};

TEST_F(LocalApiTest, SocketHasTheModeAskedFor) {
  struct stat status{};
  ASSERT_EQ(::stat((directory_ + "/agent.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(LocalApiTest, CreatedActionRunsAndCanBeRead) {
  const auto created = call("POST", "/v1/actions", create(kId, R"(,"name":"hi","timeout":"90s")"));
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(created.header("location"), std::string("/v1/actions/") + kId);
  EXPECT_EQ(json(created)["action"]["status"], "RUNNING");
  ASSERT_TRUE(executor_.wait_started(1));
  EXPECT_EQ(executor_.started[0].spec.timeout, Duration::seconds(90));
  end(kId);
  const Json action = json(call("GET", std::string("/v1/actions/") + kId))["action"];
  EXPECT_EQ(action["status"], "SUCCEEDED");
  EXPECT_EQ(action["origin"], "agent");
  EXPECT_EQ(action["name"], "hi");
  EXPECT_EQ(action["outputs"]["exit_code"], 0);
  EXPECT_EQ(action["inputs"]["argv"][0], "true");
}

TEST_F(LocalApiTest, IdAndNameAreMadeWhereTheyAreMissing) {
  const auto created =
      call("POST", "/v1/actions", R"({"action":{"action":"exec","inputs":{"argv":["true"]}}})");
  ASSERT_EQ(created.status, 201) << created.body;
  const Json action = json(created)["action"];
  EXPECT_TRUE(Uuid::parse(action["id"].get<std::string>()));
  EXPECT_EQ(action["name"], "exec-" + action["id"].get<std::string>().substr(0, 8));
}

TEST_F(LocalApiTest, BadRequestsAreProblems) {
  struct Case {
    std::string body;
    int status;
    std::string code;
  };
  call("POST", "/v1/actions", create(kId));
  const std::vector<Case> cases = {
      {"nonsense", 400, "invalid_json"},
      {"[]", 400, ""},
      {"{}", 400, "missing_field"},
      {R"({"action":{"inputs":{}}})", 400, "missing_field"},
      {R"({"action":{"action":"dance"}})", 400, "unknown_kind"},
      {R"({"action":{"action":"exec","inputs":{"argv":["true"]},"target":"x"}})", 400,
       "unknown_field"},
      {R"({"action":{"action":"exec","inputs":{}}})", 400, ""},
      {R"({"action":{"action":"exec","inputs":[]}})", 400, ""},
      {R"({"action":{"action":"exec","inputs":{"argv":["true"]},"timeout":-1}})", 400, ""},
      {R"({"action":{"id":"x","action":"exec","inputs":{"argv":["true"]}}})", 400, ""},
      {create(kOther, R"(,"name":"a/b")"), 400, "invalid_value"},
      {create(kId), 409, "duplicate_id"},
  };
  for (const auto& one : cases) {
    const auto response = call("POST", "/v1/actions", one.body);
    EXPECT_EQ(response.status, one.status) << one.body << " " << response.body;
    const Json problem = json(response);
    if (!one.code.empty()) {
      EXPECT_EQ(problem.value("code", ""), one.code) << response.body;
    }
  }
  EXPECT_EQ(call("POST", "/v1/actions", create(kOther), "text/plain").status, 415);
  EXPECT_EQ(call("GET", "/v1/nothing").status, 404);
  EXPECT_EQ(call("GET", "/v1/actions/nobody").status, 404);
  EXPECT_EQ(call("GET", std::string("/v1/actions/") + kOther).status, 404);
  EXPECT_EQ(call("GET", "/v1/actions?limit=0").status, 400);
  EXPECT_EQ(call("GET", "/v1/actions?colour=red").status, 400);
  EXPECT_EQ(call("GET", std::string("/v1/actions?marker=") + kOther).status, 400);
}

TEST_F(LocalApiTest, FullQueueIsRefused) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(call("POST", "/v1/actions", R"({"action":{"action":"facts"}})").status, 201);
  }
  EXPECT_EQ(call("POST", "/v1/actions", R"({"action":{"action":"facts"}})").status, 429);
}

TEST_F(LocalApiTest, ListHasTheQueueThenTheFinishedAndIsPaged) {
  call("POST", "/v1/actions", create(kId));
  ASSERT_TRUE(executor_.wait_started(1));
  end(kId);
  call("POST", "/v1/actions", R"({"action":{"action":"facts","name":"one"}})");
  call("POST", "/v1/actions", R"({"action":{"action":"facts","name":"two"}})");
  const Json all = json(call("GET", "/v1/actions"));
  ASSERT_EQ(all["actions"].size(), 3);
  EXPECT_EQ(all["actions"][0]["status"], "RUNNING");
  EXPECT_EQ(all["actions"][1]["status"], "NEW");
  EXPECT_EQ(all["actions"][2]["id"], kId);
  EXPECT_EQ(all["more"], false);
  EXPECT_EQ(json(call("GET", "/v1/actions?state=queue"))["actions"].size(), 2);
  EXPECT_EQ(json(call("GET", "/v1/actions?state=finished"))["actions"].size(), 1);
  const Json first = json(call("GET", "/v1/actions?limit=2"));
  EXPECT_EQ(first["more"], true);
  const Json rest =
      json(call("GET", "/v1/actions?marker=" + first["actions"][1]["id"].get<std::string>()));
  ASSERT_EQ(rest["actions"].size(), 1);
  EXPECT_EQ(rest["actions"][0]["id"], kId);
}

TEST_F(LocalApiTest, SignalsAreTakenAndAnswered) {
  call("POST", "/v1/actions", create(kId));
  ASSERT_TRUE(executor_.wait_started(1));
  const std::string path = std::string("/v1/actions/") + kId + "/signals";
  const auto asked = call("POST", path, R"({"signal":"cancel","reason":"enough"})");
  EXPECT_EQ(asked.status, 202) << asked.body;
  EXPECT_EQ(json(asked)["action"]["control"], "CANCEL");
  EXPECT_EQ(call("POST", path, R"({"signal":"explode"})").status, 400);
  EXPECT_EQ(call("POST", path, R"({})").status, 400);
  end(kId);
  EXPECT_EQ(call("POST", path, R"({"signal":"CANCEL"})").status, 409);
  EXPECT_EQ(
      call("POST", std::string("/v1/actions/") + kOther + "/signals", R"({"signal":"CANCEL"})")
          .status,
      404);
}

TEST_F(LocalApiTest, InfoKindsAndLiveness) {
  const Json info = json(call("GET", "/v1/info"));
  EXPECT_EQ(info["name"], "web1");
  EXPECT_EQ(info["journal"]["ok"], true);
  EXPECT_EQ(info["running"], nullptr);
  EXPECT_EQ(info["link"], nullptr);
  EXPECT_EQ(json(call("GET", "/v1/kinds"))["kinds"].size(), 2);
  EXPECT_EQ(call("GET", "/livez").status, 200);
}

TEST_F(LocalApiTest, LogIsReadInPartsAndFollowed) {
  call("POST", "/v1/actions", create(kId));
  ASSERT_TRUE(executor_.wait_started(1));
  const auto id = *Uuid::parse(kId);
  executor_.state.change([&] { executor_.outputs[id] = {true, "hello ", false, false}; });
  const std::string path = std::string("/v1/actions/") + kId + "/logs";
  const auto part = call("GET", path + "?offset=1&limit=3");
  EXPECT_EQ(part.body, "ell");
  EXPECT_EQ(part.header("x-muster-log-offset"), "4");
  EXPECT_EQ(part.header("x-muster-log-end"), "false");

  http::ClientRequest request;
  request.url = "http://agent" + path + "?follow=true";
  request.unix_socket = directory_ + "/agent.sock";
  std::string seen;
  request.on_data = [&](std::string_view bytes) {
    seen += bytes;
    // The rest is written only after the beginning has arrived.
    if (seen == "hello ") {
      executor_.state.change([&] { executor_.outputs[id] = {true, "hello world", true, false}; });
      loop_->on_output(id, 1);
    }
    return true;
  };
  ASSERT_TRUE(http::perform(request));
  EXPECT_EQ(seen, "hello world");
  EXPECT_EQ(call("GET", std::string("/v1/actions/") + kOther + "/logs").status, 404);
}

}  // namespace
}  // namespace muster::agent
