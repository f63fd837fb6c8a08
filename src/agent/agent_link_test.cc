#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "agent/agent_main.h"
#include "agent/agent_test_util.h"
#include "os/fd.h"
#include "rpc/link_server.h"

// A real agent over a real link. It is forked before this process has any thread, and dials until
// the controller's end is there.

namespace muster::agent {
namespace {

std::uint16_t free_port() {
  const os::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

class FakeController final : public rpc::LinkHandler {
 public:
  void on_hello(core::SessionId session, core::AgentIdentity identity) override {
    state.change([&] { sessions.emplace_back(session, std::move(identity)); });
  }
  void on_heartbeat(core::SessionId) override {}
  void on_report(core::SessionId, core::AgentAction action) override {
    state.change([&] { reports.push_back(std::move(action)); });
  }
  void on_sync_page(core::SessionId, core::AgentSyncPage page) override {
    state.change([&] { pages.push_back(std::move(page)); });
  }
  void on_log_chunk(core::SessionId, rpc::LogChunk chunk) override {
    state.change([&] { chunks.push_back(std::move(chunk)); });
  }
  void on_closed(core::SessionId, std::string) override {
    state.change([&] { ++closed; });
  }

  Watched state;
  std::vector<std::pair<core::SessionId, core::AgentIdentity>> sessions;
  std::vector<core::AgentAction> reports;
  std::vector<core::AgentSyncPage> pages;
  std::vector<rpc::LogChunk> chunks;
  int closed = 0;
};

core::ActionPtr action(const std::string& script) {
  auto spec = std::make_shared<core::ActionSpec>();
  spec->id = Uuid::v4(1, 2);
  spec->name = "hello";
  spec->kind = "exec";
  spec->side = core::Side::Agent;
  spec->inputs = R"({"script":")" + script + R"("})";
  spec->timeout = Duration::seconds(60);
  auto made = std::make_shared<core::Action>();
  made->spec = spec;
  return made;
}

TEST(AgentLink, ActionOfTheControllerIsRunReportedAndAcknowledged) {
  char pattern[] = "/tmp/muster-agent-XXXXXX";
  ASSERT_NE(::mkdtemp(pattern), nullptr);
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    AgentOptions options;
    options.name = "web1";
    options.state_dir = std::string(pattern) + "/state";
    options.controllers = {address};
    options.labels = {{"role", "web"}};
    options.log_level = "error";
    options.version = "1.2.3";
    ::_exit(run_agent(options));
  }

  FakeController controller;
  rpc::LinkServerOptions options;
  options.address = address;
  options.welcome = {.term = 3, .controller_id = "c"};
  auto started = rpc::LinkServer::start(options, controller);
  ASSERT_TRUE(started) << started.error().message;
  auto& server = **started;

  ASSERT_TRUE(controller.state.wait([&] { return !controller.pages.empty(); }));
  const auto& [session, identity] = controller.sessions.at(0);
  EXPECT_EQ(identity.name, "web1");
  EXPECT_EQ(identity.labels.at("role"), "web");
  EXPECT_EQ(identity.facts.version, "1.2.3");
  EXPECT_FALSE(identity.journal_id.empty());
  EXPECT_FALSE(identity.kinds.empty());
  EXPECT_TRUE(controller.pages[0].last);
  EXPECT_TRUE(controller.pages[0].actions.empty());

  const auto hello = action("echo hello");
  server.send({session, core::SendSchedule{hello}});
  ASSERT_TRUE(controller.state.wait([&] { return controller.reports.size() == 2; }));
  EXPECT_EQ(controller.reports[0].status, core::Status::Running);
  EXPECT_EQ(controller.reports[1].status, core::Status::Succeeded);

  server.request_log(session, {.request = 9, .id = hello->id(), .limit = 100, .wait = true});
  ASSERT_TRUE(controller.state.wait([&] { return !controller.chunks.empty(); }));
  EXPECT_EQ(controller.chunks[0].request, 9);
  EXPECT_EQ(controller.chunks[0].data, "hello\n");

  server.send({session, core::SendSyncRequest{5}});
  ASSERT_TRUE(controller.state.wait([&] { return controller.pages.size() == 2; }));
  EXPECT_EQ(controller.pages[1].actions.size(), 1) << "it was not acknowledged";
  server.send({session, core::SendAck{hello->id(), 1}});
  server.send({session, core::SendSyncRequest{6}});
  ASSERT_TRUE(controller.state.wait([&] { return controller.pages.size() == 3; }));
  EXPECT_EQ(controller.pages[2].sync, 6);
  EXPECT_TRUE(controller.pages[2].actions.empty());

  ::kill(pid, SIGTERM);
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(controller.state.wait([&] { return controller.closed == 1; }));
  server.stop();
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace muster::agent
