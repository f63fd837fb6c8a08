#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "controller/api_backup.h"
#include "controller/api_test_util.h"
#include "crypto/sha256.h"
#include "store/sqlite_store.h"

// Agents, events, health, status, figures and backup.

namespace muster::controller {
namespace {

using testing::Answer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SystemApiTest : public ::testing::Test {
 protected:
  store::MemoryStore store_;
  testing::ApiRig rig_{store_};
};

TEST_F(SystemApiTest, EventsGoBackFromTheNewest) {
  rig_.controller.connect_agent("db1", 5);
  for (int i = 0; i < 10; ++i) rig_.create({{"action", "noop"}, {"hold", true}});
  const std::uint64_t last = rig_.get("/v1/events").json.at("last");
  const std::string from = std::to_string(last + 1);
  const Answer newest = rig_.get("/v1/events?limit=2&before=" + from);
  ASSERT_EQ(newest.json.at("events").size(), 2u);
  EXPECT_EQ(newest.json.at("events").at(1).at("seq"), last);
  EXPECT_EQ(newest.json.at("next_before"), last - 1);
  // Far behind the newest events of other types.
  const Answer agents = rig_.get("/v1/events?type=agent.&limit=5&before=" + from);
  ASSERT_FALSE(agents.json.at("events").empty());
  EXPECT_EQ(agents.json.at("next_before"), nullptr);
  for (const Json& event : agents.json.at("events")) EXPECT_EQ(event.at("subject"), "db1");
  const Answer beyond = rig_.get("/v1/events?limit=1&before=9000000");
  EXPECT_EQ(beyond.json.at("events").at(0).at("seq"), last);
  EXPECT_TRUE(rig_.get("/v1/events?before=1").json.at("events").empty());
}

TEST_F(SystemApiTest, ShowsAgentsAndTheirQueues) {
  rig_.controller.connect_agent("db2", 2);
  rig_.controller.connect_agent("db1", 1);
  const std::string id = rig_.create({{"action", "noop"}, {"target", "db1"}, {"name", "queued"}});
  const Json agents = rig_.get("/v1/agents").json.at("agents");
  ASSERT_EQ(agents.size(), 2u);
  EXPECT_EQ(agents.at(0).at("name"), "db1");
  EXPECT_EQ(agents.at(0).at("state"), "online");
  EXPECT_EQ(agents.at(0).at("labels"), (Json{{"role", "db"}}));
  const Answer one = rig_.get("/v1/agents/db1");
  EXPECT_EQ(one.json.at("agent").at("queue").at(0).at("id"), id);
  EXPECT_NE(one.header("ETag"), "");
  EXPECT_EQ(rig_.get("/v1/agents/db2").json.at("agent").at("queue"), Json::array());
  // Both forms tell when it was last heard of, not when it connected.
  rig_.controller.post(core::AgentHeartbeat{1});
  const Json row = rig_.get("/v1/agents").json.at("agents").at(0);
  EXPECT_EQ(rig_.get("/v1/agents/db1").json.at("agent").at("last_seen"), row.at("last_seen"));
  EXPECT_GT(row.at("last_seen"), row.at("state_since"));
  const Answer missing = rig_.get("/v1/agents/db9");
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.json.at("detail"), HasSubstr("'db9'"));
}

TEST_F(SystemApiTest, RefreshesAgents) {
  rig_.controller.connect_agent("db1", 1);
  const Answer all = rig_.call("POST", "/v1/agents/refresh");
  EXPECT_EQ(all.status, 202);
  EXPECT_EQ(all.json.at("refreshed"), Json::array({"db1"}));
  EXPECT_EQ(rig_.call("POST", "/v1/agents/db1/refresh").json.at("refreshed"), Json::array({"db1"}));
  EXPECT_GE(rig_.call("POST", "/v1/agents/db9/refresh").status, 400);
}

TEST_F(SystemApiTest, PagesThroughEvents) {
  rig_.create({{"action", "noop"}, {"name", "a"}});
  rig_.controller.connect_agent("db1", 1);
  const Answer all = rig_.get("/v1/events");
  const Json& events = all.json.at("events");
  ASSERT_GE(events.size(), 3u);
  EXPECT_EQ(events.at(0).at("seq"), 1);
  EXPECT_EQ(events.at(0).at("type"), "action.created");
  EXPECT_EQ(events.at(0).at("actor"), "alice");
  EXPECT_EQ(all.json.at("last"), events.size());
  const Answer page = rig_.get("/v1/events?after=1&limit=1");
  EXPECT_EQ(page.json.at("events").size(), 1u);
  EXPECT_EQ(page.json.at("events").at(0).at("seq"), 2);
  EXPECT_EQ(page.json.at("next_after"), 2);
  const Answer agents = rig_.get("/v1/events?type=agent.&subject=db1");
  EXPECT_FALSE(agents.json.at("events").empty());
  for (const Json& event : agents.json.at("events")) EXPECT_EQ(event.at("subject"), "db1");
  EXPECT_EQ(rig_.get("/v1/events?after=x").code(), "invalid_value");
  EXPECT_EQ(rig_.get("/v1/events?after=1&before=2").code(), "invalid_value");
  EXPECT_EQ(rig_.get("/v1/events?limit=1001").code(), "invalid_value");
}

TEST_F(SystemApiTest, StreamsEventsAndResumes) {
  rig_.create({{"action", "noop"}, {"name", "a"}});
  const std::map<std::string, std::string> sse = {{"accept", "text/event-stream"}};
  const Answer first = rig_.call("GET", "/v1/events?after=0", {}, sse);
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.header("Content-Type"), "text/event-stream");
  ASSERT_TRUE(first.stream->wait_for(
      [](const std::string& text) { return text.find("id: 2\n") != std::string::npos; }));
  auto headers = sse;
  headers["last-event-id"] = "1";
  const Answer resumed = rig_.call("GET", "/v1/events?after=0", {}, headers);
  ASSERT_TRUE(resumed.stream->wait_for(
      [](const std::string& text) { return text.find("id: 2\n") != std::string::npos; }));
  EXPECT_EQ(resumed.stream->text().find("id: 1\n"), std::string::npos);
  headers["last-event-id"] = "x1";
  EXPECT_EQ(rig_.call("GET", "/v1/events", {}, headers).code(), "invalid_value");
}

TEST_F(SystemApiTest, TellsThatEventsAreGone) {
  for (int i = 0; i < 10; ++i) rig_.create({{"action", "noop"}});
  store::Retention retention;
  retention.events_max = 3;
  ASSERT_TRUE(store_.purge(retention, rig_.controller.now(), 10'000).has_value());
  for (const char* accept : {"text/event-stream", "application/json"}) {
    const Answer answer = rig_.call("GET", "/v1/events?after=1", {}, {{"accept", accept}});
    EXPECT_EQ(answer.status, 410);
    EXPECT_EQ(answer.code(), "compacted");
  }
  // Without a position a page starts with the oldest that is kept.
  EXPECT_EQ(rig_.get("/v1/events").json.at("events").size(), 3u);
}

TEST_F(SystemApiTest, ListsKinds) {
  const Json kinds = rig_.get("/v1/kinds").json.at("kinds");
  std::vector<std::string> names;
  for (const Json& kind : kinds) names.push_back(kind.at("name"));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"noop", "sleep", "fail", "http", "exec"}));
}

TEST_F(SystemApiTest, TellsItsStatusAlsoWhenTheEngineIsSilent) {
  rig_.create({{"action", "noop"}});
  const Json status = rig_.get("/v1/status").json;
  EXPECT_EQ(status.at("version"), "1.2.3");
  EXPECT_EQ(status.at("term"), 7);
  EXPECT_EQ(status.at("uptime"), 60);
  EXPECT_EQ(status.at("actions").at("RUNNING"), 1);
  EXPECT_EQ(status.at("store").at("ok"), true);
  EXPECT_EQ(status.at("store").at("actions_live"), 1);

  ControllerHealth health;
  health.store_ok = false;
  health.store_problem = "no space left on device";
  health.store_problem_since = Timestamp{5'000'000};
  rig_.controller.set_health(health);
  rig_.controller.set_silent(true);
  const Json stuck = rig_.get("/v1/status").json;
  EXPECT_EQ(stuck.at("store").at("ok"), false);
  EXPECT_EQ(stuck.at("store").at("problem"), "no space left on device");
  EXPECT_EQ(stuck.at("actions").at("RUNNING"), 1);
}

TEST_F(SystemApiTest, ReadsAgentsFromTheStoreWhenTheEngineIsSilent) {
  rig_.controller.connect_agent("db1", 1);
  rig_.controller.set_silent(true);
  EXPECT_EQ(rig_.get("/v1/agents").json.at("agents").at(0).at("name"), "db1");
}

TEST_F(SystemApiTest, IsLiveButNotReadyWhenAProbeOfTheStoreFails) {
  EXPECT_EQ(rig_.get("/readyz").status, 200);
  int probes = 0;
  store_.set_fault_hook([&](const store::Batch&) {
    ++probes;
    return store::CommitFault::Refuse;
  });
  // The last answer is kept for a second; then the store is asked again, once.
  const auto deadline = std::chrono::steady_clock::now() + testing::kPatience;
  Answer answer;
  do {
    answer = rig_.get("/readyz");
  } while (answer.status != 503 && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.code(), "store_unavailable");
  EXPECT_THAT(answer.json.at("detail"), HasSubstr("the store refuses writes"));
  EXPECT_EQ(probes, 1);
  EXPECT_EQ(rig_.get("/livez").status, 200);
}

TEST_F(SystemApiTest, IsNotReadyAtOnceWhenCommitsFail) {
  EXPECT_EQ(rig_.get("/readyz").status, 200);
  ControllerHealth health;
  health.store_ok = false;
  health.store_problem = "disk full";
  rig_.controller.set_health(health);
  const Answer answer = rig_.get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.json.at("detail"), HasSubstr("disk full"));
}

TEST_F(SystemApiTest, ExposesMetrics) {
  rig_.controller.connect_agent("db1", 1);
  const std::string id = rig_.create({{"action", "noop"}});
  core::JobDone done;
  done.id = *Uuid::parse(id);
  rig_.controller.post(done);
  rig_.metrics.on_measured({.what = core::Measurement::What::Retry, .kind = "exec"});
  rig_.metrics.on_commit(Duration::millis(3));
  rig_.get("/v1/nothing/here");
  const Answer answer = rig_.get("/metrics");
  EXPECT_THAT(answer.header("Content-Type"), HasSubstr("version=0.0.4"));
  for (const char* line : {
           "muster_build_info{version=\"1.2.3\"} 1",
           "muster_agents{state=\"online\"} 1",
           "muster_actions_total{kind=\"noop\",outcome=\"SUCCEEDED\"} 1",
           "muster_http_requests_total{code=\"202\",method=\"POST\",route=\"/v1/actions\"} 1",
           "muster_http_requests_total{code=\"404\",method=\"GET\",route=\"unmatched\"} 1",
           "muster_http_request_seconds_count{route=\"/v1/actions\"} 1",
           "muster_action_duration_seconds_count{kind=\"noop\",result=\"OK\"} 1",
           "muster_action_wait_seconds_count{kind=\"noop\"} 1",
           "muster_action_retries_total{kind=\"exec\"} 1",
           "muster_store_commit_seconds_count 1",
           "muster_store_ok 1",
           "muster_event_subscribers 0",
           "muster_jobs_running 0",
           "process_resident_memory_bytes ",
           "# TYPE muster_store_commits_total counter",
           "# TYPE muster_inbox gauge",
       }) {
    EXPECT_THAT(answer.response.body, HasSubstr(line));
  }
}

TEST_F(SystemApiTest, ShowsQuarantinedRecords) {
  const std::string id = rig_.create({{"action", "noop"}});
  ASSERT_TRUE(store_
                  .quarantine(store::Space::Action, Uuid::parse(id)->bytes(), "unknown format 9",
                              Timestamp{1'000'000})
                  .has_value());
  const Json entries = rig_.get("/v1/quarantine").json.at("entries");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries.at(0).at("space"), "action");
  EXPECT_EQ(entries.at(0).at("key"), id);
  EXPECT_EQ(entries.at(0).at("problem"), "unknown format 9");
  EXPECT_GT(entries.at(0).at("bytes"), 0);
}

TEST_F(SystemApiTest, TellsItsVersionAndRefusesOtherRoutes) {
  EXPECT_EQ(rig_.get("/version").json.at("version"), "1.2.3");
  EXPECT_EQ(rig_.get("/v2/actions").status, 404);
  const Answer method = rig_.call("DELETE", "/v1/actions");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.code(), "method_not_supported");
  EXPECT_THAT(method.header("Allow"), HasSubstr("POST"));
}

// Refuses everything that is not reading.
class ReadOnly final : public Authorizer {
 public:
  Result<void> authorize(const http::Identity&, Permission permission,
                         std::string_view resource) override {
    if (permission == Permission::Read) return {};
    return fail(ErrorCode::Forbidden, "may not {} '{}'", name(permission), resource);
  }
};

TEST_F(SystemApiTest, AsksTheAuthorizerForEveryChange) {
  ReadOnly read_only;
  const auto router = make_api({.controller = rig_.controller,
                                .events = rig_.hub,
                                .logs = rig_.logs,
                                .metrics = rig_.metrics,
                                .authorizer = read_only,
                                .version = "1",
                                .instance_id = "i",
                                .term = 1,
                                .started_at = Timestamp{1},
                                .clock = [] { return Timestamp{2}; },
                                .temp_dir = "/nonexistent"});
  rig_.handler = make_handler(*router, rig_.metrics);
  EXPECT_EQ(rig_.post("/v1/actions", {{"action", {{"action", "noop"}}}}).code(), "forbidden");
  EXPECT_EQ(rig_.call("PATCH", "/v1/actions/x", "{}").code(), "forbidden");
  for (const char* path : {"/v1/actions/x/signals", "/v1/actions/x/approve", "/v1/actions/x/reject",
                           "/v1/agents/refresh", "/v1/agents/x/refresh"}) {
    EXPECT_EQ(rig_.call("POST", path, "{}").code(), "forbidden") << path;
  }
  EXPECT_EQ(rig_.get("/v1/backup").code(), "forbidden");
  EXPECT_EQ(rig_.get("/v1/quarantine").code(), "forbidden");
  EXPECT_EQ(rig_.get("/v1/actions").status, 200);
}

class BackupTest : public ::testing::Test {
 protected:
  BackupTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-api-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    directory_ = pattern;
  }
  ~BackupTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  std::string directory_;
};

TEST_F(BackupTest, SendsACompleteStoreAndCleansUp) {
  auto store = store::SqliteStore::open({.path = directory_ + "/muster.db"});
  ASSERT_TRUE(store.has_value()) << store.error().message;
  std::string bytes;
  std::string id;
  {
    testing::ApiRig rig(**store, directory_);
    id = rig.create({{"action", "noop"}, {"name", "kept"}});
    const Answer answer = rig.get("/v1/backup");
    ASSERT_NE(answer.stream, nullptr) << answer.response.body;
    ASSERT_TRUE(answer.stream->wait_closed());
    bytes = answer.stream->text();
    EXPECT_EQ(answer.header("X-Muster-Sha256"), crypto::sha256_hex(bytes));
    EXPECT_EQ(answer.header("X-Muster-Bytes"), std::to_string(bytes.size()));
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    EXPECT_THAT(entry.path().string(), ::testing::Not(HasSubstr(".backup-")));
  }
  std::ofstream(directory_ + "/copy.db", std::ios::binary) << bytes;
  auto copy = store::SqliteStore::open({.path = directory_ + "/copy.db", .create = false});
  ASSERT_TRUE(copy.has_value()) << copy.error().message;
  EXPECT_TRUE((*copy)->get(store::Space::Action, Uuid::parse(id)->bytes())->has_value());
}

TEST_F(BackupTest, TellsWhyThereIsNone) {
  store::MemoryStore store;  // keeps its backups inside, so there is no file to send
  testing::ApiRig rig(store, directory_);
  const Answer answer = rig.get("/v1/backup");
  EXPECT_EQ(answer.code(), "io_error");
  EXPECT_THAT(answer.json.at("detail"), HasSubstr("cannot be read"));
}

TEST_F(BackupTest, WaitsForASlowClientOneAtATime) {
  auto store = store::SqliteStore::open({.path = directory_ + "/muster.db"});
  ASSERT_TRUE(store.has_value());
  BackupSender sender(**store, directory_);
  const auto stream = std::make_shared<testing::FakeStream>();
  stream->set_queued(std::size_t{8} << 20);
  std::mutex mutex;
  std::condition_variable changed;
  bool opened = false;
  ASSERT_TRUE(sender
                  .start(
                      [&](const BackupSender::Ready&) {
                        const std::lock_guard lock(mutex);
                        opened = true;
                        changed.notify_all();
                        return stream;
                      },
                      [](const Error& error) { ADD_FAILURE() << error.message; })
                  .has_value());
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, testing::kPatience, [&] { return opened; }));
  EXPECT_EQ(sender.start({}, {}).error().code, ErrorCode::Overloaded);
  EXPECT_EQ(stream->text(), "");
  stream->set_queued(0);
  EXPECT_TRUE(stream->wait_closed());
  EXPECT_FALSE(stream->text().empty());
}

}  // namespace
}  // namespace muster::controller
