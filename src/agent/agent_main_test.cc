#include "agent/agent_main.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/json.h"
#include "http/client.h"

// Real agents in processes of their own, killed at will.

namespace muster::agent {
namespace {

using Clock = std::chrono::steady_clock;

class AgentProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/muster-agent-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    directory_ = pattern;
  }

  void TearDown() override {
    if (pid_ > 0) stop(SIGKILL);
    std::filesystem::remove_all(directory_);
  }

  void start() {
    pid_ = ::fork();
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) {
      AgentOptions options;
      options.name = "test";
      options.state_dir = directory_ + "/state";
      options.log_level = "warn";
      options.version = "1.2.3";
      ::_exit(run_agent(options));
    }
    ASSERT_TRUE(eventually([&] { return call("GET", "/livez").status == 200; }));
  }

  int stop(int signal) {
    ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

  template <typename Condition>
  static bool eventually(Condition condition) {
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    while (Clock::now() < deadline) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  http::ClientResponse call(const std::string& method, const std::string& path,
                            const std::string& body = "") {
    http::ClientRequest request;
    request.method = method;
    request.url = "http://agent" + path;
    request.unix_socket = directory_ + "/state/agent.sock";
    request.body = body;
    if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
    auto response = http::perform(request);
    return response ? *std::move(response) : http::ClientResponse{};
  }

  std::string create(const std::string& script) {
    const Json body = {{"action", {{"action", "exec"}, {"inputs", {{"script", script}}}}}};
    const auto response = call("POST", "/v1/actions", dump_json(body));
    EXPECT_EQ(response.status, 201) << response.body;
    auto json = parse_json(response.body);
    return json ? (*json)["action"].value("id", "") : "";
  }

  Json get(const std::string& id) {
    const auto response = call("GET", "/v1/actions/" + id);
    auto json = parse_json(response.body);
    return json && json->contains("action") ? (*json)["action"] : Json::object();
  }

  bool ends_as(const std::string& id, const std::string& status) {
    return eventually([&] { return get(id).value("status", "") == status; });
  }

  std::string read(const std::string& name) {
    std::ifstream file(directory_ + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::string directory_;
  pid_t pid_ = -1;
};

TEST_F(AgentProcessTest, RunsAnActionAndKeepsItsOutput) {
  start();
  const std::string id = create("echo hello");
  ASSERT_TRUE(ends_as(id, "SUCCEEDED")) << get(id);
  EXPECT_EQ(call("GET", "/v1/actions/" + id + "/logs").body, "hello\n");
  EXPECT_EQ(get(id)["outputs"]["exit_code"], 0);
  const int status = stop(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  start();
  EXPECT_EQ(get(id)["status"], "SUCCEEDED") << "the journal has it";
}

TEST_F(AgentProcessTest, KilledAgentAttachesAgainAndNothingRunsTwice) {
  start();
  const std::string directory = directory_;
  const std::string first = create("echo ran >> " + directory + "/first; while [ ! -e " +
                                   directory + "/go ]; do sleep 0.05; done");
  const std::string second = create("echo ran >> " + directory + "/second");
  ASSERT_TRUE(eventually([&] { return read("first") == "ran\n"; }));
  stop(SIGKILL);
  start();
  EXPECT_EQ(get(first)["status"], "RUNNING");
  EXPECT_EQ(get(second)["status"], "NEW");
  EXPECT_EQ(read("second"), "");
  std::ofstream(directory + "/go").put('\n');
  ASSERT_TRUE(ends_as(second, "SUCCEEDED")) << get(second);
  EXPECT_EQ(get(first)["status"], "SUCCEEDED");
  EXPECT_EQ(read("first"), "ran\n");
  EXPECT_EQ(read("second"), "ran\n");
}

TEST_F(AgentProcessTest, RunThatEndsWhileTheAgentIsDeadIsReportedByTheNextOne) {
  start();
  const std::string id =
      create("echo began > " + directory_ + "/began; while [ ! -e " + directory_ +
             "/go ]; do sleep 0.02; done; echo done > " + directory_ + "/done");
  ASSERT_TRUE(eventually([&] { return !read("began").empty(); }));
  stop(SIGTERM);
  std::ofstream(directory_ + "/go").put('\n');
  ASSERT_TRUE(eventually([&] { return !read("done").empty(); }));
  start();
  EXPECT_TRUE(ends_as(id, "SUCCEEDED")) << get(id);
}

TEST_F(AgentProcessTest, CancelEndsTheProcess) {
  start();
  const std::string id = create("echo began > " + directory_ + "/began; exec sleep 1000");
  ASSERT_TRUE(eventually([&] { return !read("began").empty(); }));
  const auto asked = call("POST", "/v1/actions/" + id + "/signals", R"({"signal":"CANCEL"})");
  EXPECT_EQ(asked.status, 202) << asked.body;
  EXPECT_TRUE(ends_as(id, "CANCELLED")) << get(id);
}

TEST_F(AgentProcessTest, SecondAgentOnTheSameDirectoryIsRefused) {
  start();
  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    AgentOptions options;
    options.name = "test";
    options.state_dir = directory_ + "/state";
    options.lock_wait = Duration::millis(50);
    ::_exit(run_agent(options));
  }
  int status = 0;
  ::waitpid(other, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(call("GET", "/livez").status, 200) << "the first is untouched";
}

}  // namespace
}  // namespace muster::agent
