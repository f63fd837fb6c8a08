#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "os/clock.h"
#include "rpc/link_counters.h"
#include "rpc/link_test_support.h"
#include "rpc/wire_codec.h"

// The link with peers that are silent, slow, wrong or gone.

namespace muster::rpc::testing {
namespace {

using ::testing::HasSubstr;

LinkServerOptions server_options(Duration heartbeat = Duration::seconds(5)) {
  LinkServerOptions options;
  options.address = loopback(0);
  options.welcome = {.term = 1, .controller_id = "c1", .heartbeat_interval = heartbeat};
  return options;
}

LinkClientOptions client_options(std::uint16_t port) {
  LinkClientOptions options;
  options.controllers = {loopback(port)};
  options.backoff = {.initial = Duration::millis(20), .max = Duration::millis(100)};
  options.random = [] { return std::uint64_t{10'000}; };
  return options;
}

std::string hello_frame(std::uint64_t seq) {
  core::AgentIdentity identity;
  identity.name = "raw";
  identity.journal_id = "j";
  const std::string hello = encode_hello(identity);
  return encode_frame(seq, {&hello, 1});
}

std::string heartbeat_frame(std::uint64_t seq) {
  const std::string heartbeat = encode_agent_heartbeat();
  return encode_frame(seq, {&heartbeat, 1});
}

class LinkFault : public ::testing::Test {
 protected:
  void start(LinkServerOptions options) {
    auto started = LinkServer::start(std::move(options), controller_);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    server_ = std::move(*started);
  }
  std::unique_ptr<LinkClient> dial(RecordingAgent& agent, LinkClientOptions options) {
    auto client = LinkClient::start(std::move(options), agent);
    EXPECT_TRUE(client.has_value()) << client.error().message;
    return std::move(*client);
  }

  RecordingController controller_;
  std::unique_ptr<LinkServer> server_;
};

TEST_F(LinkFault, StreamWithoutAHelloIsEnded) {
  LinkServerOptions options = server_options();
  options.hello_timeout = Duration::millis(100);
  start(options);
  RawAgent agent(server_->port());
  EXPECT_EQ(agent.wait_end(), "no hello within 100ms");
  EXPECT_TRUE(controller_.saw.get().sessions.empty());
}

TEST_F(LinkFault, FirstMessageMustBeAHello) {
  start(server_options());
  RawAgent agent(server_->port());
  ASSERT_TRUE(agent.write(heartbeat_frame(1)));
  EXPECT_EQ(agent.wait_end(), "the first message must be a hello");
}

TEST_F(LinkFault, FrameThatDoesNotDecodeIsRefusedWithAReason) {
  start(server_options());
  RawAgent agent(server_->port());
  ASSERT_TRUE(agent.write("\xFF\xFF\xFF"));
  EXPECT_THAT(agent.wait_end(), HasSubstr("3 bytes are not a AgentFrame"));
}

TEST_F(LinkFault, RepeatedFrameIsIgnoredAndAGapEndsTheStream) {
  start(server_options());
  RawAgent agent(server_->port());
  ASSERT_TRUE(agent.write(hello_frame(1)));
  ASSERT_TRUE(agent.write(hello_frame(1)));  // seen: otherwise it would be a second hello
  ASSERT_TRUE(agent.write(heartbeat_frame(2)));
  ASSERT_TRUE(agent.write(heartbeat_frame(2)));
  ASSERT_TRUE(agent.write(heartbeat_frame(4)));
  EXPECT_THAT(agent.wait_end(), HasSubstr("frame 4 came after frame 2"));
  EXPECT_THAT(controller_.close_reason(controller_.session(0)), HasSubstr("frame 4 came"));
  EXPECT_EQ(controller_.saw.get().heartbeats, 1);
}

TEST_F(LinkFault, SecondHelloEndsTheStream) {
  start(server_options());
  RawAgent agent(server_->port());
  ASSERT_TRUE(agent.write(hello_frame(1)));
  ASSERT_TRUE(agent.write(hello_frame(2)));
  EXPECT_EQ(agent.wait_end(), "a second hello on one stream");
}

TEST_F(LinkFault, SilentAgentIsEndedAfterThreeIntervals) {
  start(server_options(Duration::millis(50)));
  RawAgent agent(server_->port());
  ASSERT_TRUE(agent.write(hello_frame(1)));
  EXPECT_EQ(agent.wait_end(), "nothing heard for 150ms");
  EXPECT_EQ(controller_.close_reason(controller_.session(0)), "nothing heard for 150ms");
}

TEST_F(LinkFault, BothSidesNoticeANetworkThatSwallowsEverything) {
  start(server_options(Duration::millis(200)));
  Proxy proxy(server_->port());
  RecordingAgent agent("db1");
  auto client = dial(agent, client_options(proxy.port()));
  ASSERT_TRUE(agent.wait_ups(1));
  const core::SessionId session = controller_.session(0);
  proxy.swallow();
  EXPECT_EQ(controller_.close_reason(session), "nothing heard for 600ms");
  ASSERT_TRUE(agent.saw.wait([](const AgentSaw& saw) { return !saw.downs.empty(); }));
  EXPECT_EQ(agent.saw.get().downs[0], "nothing heard for 600ms");
}

TEST_F(LinkFault, LostConnectionIsToldFromAPoliteEnd) {
  start(server_options());
  Proxy proxy(server_->port());
  RecordingAgent agent("db1");
  auto client = dial(agent, client_options(proxy.port()));
  ASSERT_TRUE(agent.wait_ups(1));
  const core::SessionId session = controller_.session(0);
  proxy.cut();
  EXPECT_EQ(controller_.close_reason(session), "connection lost");
  EXPECT_TRUE(agent.wait_ups(2));
}

TEST_F(LinkFault, SlowReaderLosesItsOwnSessionOnly) {
  LinkServerOptions options = server_options();
  options.session_queue_max = std::size_t{2} << 20;
  start(options);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  RecordingAgent slow("slow");
  slow.on_schedule_hook = [&] { released.wait_for(kDeadline); };
  RecordingAgent quick("quick");
  auto slow_client = dial(slow, client_options(server_->port()));
  const core::SessionId slow_session = controller_.session(0);
  auto quick_client = dial(quick, client_options(server_->port()));
  const core::SessionId quick_session = controller_.session(1);

  core::ActionSpec spec;
  spec.id = Uuid::v4(1, 2);
  spec.inputs = R"({"stdin":")" + std::string(500'000, 'x') + R"("})";
  core::Action action;
  action.spec = std::make_shared<const core::ActionSpec>(std::move(spec));
  const core::SendSchedule schedule{std::make_shared<const core::Action>(std::move(action))};
  const auto is_closed = [&] {
    const ControllerSaw saw = controller_.saw.get();
    return !saw.closed.empty();
  };
  const auto give_up = std::chrono::steady_clock::now() + kDeadline;
  while (!is_closed() && std::chrono::steady_clock::now() < give_up) {
    server_->send({.session = slow_session, .message = schedule});
  }
  EXPECT_THAT(controller_.close_reason(slow_session), HasSubstr("bytes wait to be sent"));

  server_->send({.session = quick_session, .message = core::SendSyncRequest{.sync = 1}});
  EXPECT_TRUE(quick.saw.wait([](const AgentSaw& saw) { return saw.syncs.size() == 1; }));
  EXPECT_TRUE(quick.saw.get().downs.empty());
  release.set_value();
}

TEST_F(LinkFault, SessionsAreLimited) {
  LinkServerOptions options = server_options();
  options.sessions_max = 1;
  start(options);
  RecordingAgent first("first");
  RecordingAgent second("second");
  auto first_client = dial(first, client_options(server_->port()));
  ASSERT_TRUE(first.wait_ups(1));
  auto second_client = dial(second, client_options(server_->port()));
  ASSERT_TRUE(second.saw.wait([](const AgentSaw& saw) { return !saw.dial_failures.empty(); }));
  EXPECT_THAT(second.saw.get().dial_failures[0].second, HasSubstr("1 sessions"));
  first_client->stop();
  EXPECT_TRUE(second.wait_ups(1));
}

TEST_F(LinkFault, DialEndsWithoutAWelcome) {
  const SilentPort silent;
  RecordingAgent agent("db1");
  LinkClientOptions options = client_options(silent.port());
  options.dial_timeout = Duration::millis(100);
  auto client = dial(agent, options);
  ASSERT_TRUE(agent.saw.wait([](const AgentSaw& saw) { return saw.dial_failures.size() >= 2; }));
  EXPECT_EQ(agent.saw.get().dial_failures[0].second, "no welcome within 100ms");
  EXPECT_TRUE(agent.saw.get().downs.empty());
}

TEST_F(LinkFault, StopInTheMiddleOfADialIsQuick) {
  const SilentPort silent;
  RecordingAgent agent("db1");
  LinkClientOptions options = client_options(silent.port());
  options.dial_timeout = Duration::minutes(10);
  auto client = dial(agent, options);
  const Duration began = os::monotonic_now();
  client->stop();
  EXPECT_LT(os::monotonic_now() - began, Duration::seconds(5));
}

TEST_F(LinkFault, StopInTheMiddleOfABackoffIsQuick) {
  RecordingAgent agent("db1");
  LinkClientOptions options = client_options(closed_port());
  options.backoff = {.initial = Duration::hours(1), .max = Duration::hours(1)};
  options.random = [] { return static_cast<std::uint64_t>(Duration::hours(1).us); };
  auto client = dial(agent, options);
  ASSERT_TRUE(agent.saw.wait([](const AgentSaw& saw) { return !saw.dial_failures.empty(); }));
  const Duration began = os::monotonic_now();
  client->stop();
  EXPECT_LT(os::monotonic_now() - began, Duration::seconds(5));
  EXPECT_EQ(agent.saw.get().dial_failures.size(), 1U);
}

}  // namespace
}  // namespace muster::rpc::testing
