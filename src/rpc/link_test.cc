#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "rpc/link_test_support.h"
#include "rpc/wire_codec.h"

// The link over a real loopback: greeting, order, reconnection, ends and their reasons.

namespace muster::rpc::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const core::ActionId kAction = Uuid::v4(1, 2);

LinkServerOptions server_options(std::uint64_t term = 3, std::uint16_t port = 0) {
  LinkServerOptions options;
  options.address = loopback(port);
  options.welcome = {
      .term = term, .controller_id = "c1", .heartbeat_interval = Duration::seconds(5)};
  return options;
}

LinkClientOptions client_options(std::vector<std::uint16_t> ports) {
  LinkClientOptions options;
  for (const std::uint16_t port : ports) options.controllers.push_back(loopback(port));
  options.backoff = {.initial = Duration::millis(20), .max = Duration::millis(100)};
  options.random = [] { return std::uint64_t{10'000}; };
  return options;
}

std::unique_ptr<LinkServer> start_server(RecordingController& controller,
                                         LinkServerOptions options = server_options()) {
  auto server = LinkServer::start(std::move(options), controller);
  EXPECT_TRUE(server.has_value()) << server.error().message;
  return std::move(*server);
}

std::unique_ptr<LinkClient> start_client(RecordingAgent& agent, LinkClientOptions options) {
  auto client = LinkClient::start(std::move(options), agent);
  EXPECT_TRUE(client.has_value()) << client.error().message;
  return std::move(*client);
}

core::AgentSend ack(core::SessionId session, std::uint32_t attempt) {
  return {.session = session, .message = core::SendAck{.id = kAction, .attempt = attempt}};
}

core::AgentSend sync_request(core::SessionId session, std::uint64_t sync) {
  return {.session = session, .message = core::SendSyncRequest{.sync = sync}};
}

core::agent::AgentMessage report(std::uint32_t attempt) {
  core::AgentAction action;
  action.id = kAction;
  action.attempt = attempt;
  return core::agent::SendReport{action};
}

core::AgentSend schedule(core::SessionId session, std::string inputs) {
  core::ActionSpec spec;
  spec.id = kAction;
  spec.kind = "exec";
  spec.inputs = std::move(inputs);
  core::Action action;
  action.spec = std::make_shared<const core::ActionSpec>(std::move(spec));
  return {.session = session,
          .message = core::SendSchedule{std::make_shared<const core::Action>(std::move(action))}};
}

// An agent that is connected to a controller, without heartbeats, which are frames as well.
struct QuietLink {
  QuietLink() {
    LinkServerOptions options = server_options();
    options.welcome.heartbeat_interval = Duration::minutes(10);
    server = start_server(controller, std::move(options));
    client = start_client(agent, client_options({server->port()}));
    session = controller.session(0);
    EXPECT_TRUE(agent.wait_ups(1));
  }

  RecordingController controller;
  RecordingAgent agent{"db1"};
  std::unique_ptr<LinkServer> server;
  std::unique_ptr<LinkClient> client;
  core::SessionId session = 0;
};

TEST(Link, GreetsAndCarriesEveryKindOfMessage) {
  RecordingController controller;
  RecordingAgent agent("db1");
  auto server = start_server(controller);
  auto client = start_client(agent, client_options({server->port()}));

  const core::SessionId session = controller.session(0);
  EXPECT_EQ(session, (std::uint64_t{3} << 32) + 1);
  ASSERT_TRUE(agent.wait_ups(1));
  EXPECT_EQ(agent.saw.get().ups[0].term, 3U);
  EXPECT_EQ(agent.saw.get().ups[0].controller_id, "c1");
  EXPECT_EQ(controller.saw.get().identities[0], agent.identity());

  server->send(schedule(session, R"({"argv":["true"]})"));
  server->send(
      {.session = session,
       .message = core::SendSignal{.id = kAction, .signal = core::Signal::Suspend, .reason = "r"}});
  server->send(ack(session, 7));
  server->send({.session = session, .message = core::SendSyncRequest{.sync = 42}});
  server->request_log(session, {.request = 5, .id = kAction, .offset = 10, .limit = 100});
  ASSERT_TRUE(agent.saw.wait([](const AgentSaw& saw) { return !saw.log_requests.empty(); }));
  const AgentSaw heard = agent.saw.get();
  ASSERT_EQ(heard.schedules.size(), 1U);
  EXPECT_EQ(heard.schedules[0].inputs, R"({"argv":["true"]})");
  ASSERT_EQ(heard.signals.size(), 1U);
  EXPECT_EQ(heard.signals[0].signal, core::Signal::Suspend);
  EXPECT_THAT(heard.acks, ElementsAre(7));
  EXPECT_THAT(heard.syncs, ElementsAre(42));
  EXPECT_EQ(heard.log_requests[0].offset, 10U);

  client->send(report(9));
  client->send(core::agent::SendSyncPage{.sync = 42, .actions = {}, .last = true});
  client->send_log_chunk({.request = 5, .offset = 10, .data = std::string("\xFF\0", 2)});
  ASSERT_TRUE(controller.saw.wait([](const ControllerSaw& saw) { return !saw.chunks.empty(); }));
  const ControllerSaw told = controller.saw.get();
  EXPECT_THAT(told.reports, ElementsAre(9));
  ASSERT_EQ(told.pages.size(), 1U);
  EXPECT_EQ(told.pages[0].session, session);
  EXPECT_EQ(told.pages[0].sync, 42U);
  EXPECT_EQ(told.chunks[0].data, std::string("\xFF\0", 2));
}

TEST(Link, ManyMessagesArriveInOrderAndInFewFrames) {
  constexpr std::uint32_t kMessages = 10'000;
  constexpr std::uint32_t kTogether = 10;
  QuietLink link;

  std::thread agent_side([&] {
    for (std::uint32_t i = 0; i < kMessages; i += kTogether) {
      std::vector<core::agent::AgentMessage> reports;
      for (std::uint32_t n = 1; n <= kTogether; ++n) reports.push_back(report(i + n));
      link.client->send_all(reports);
    }
  });
  for (std::uint32_t i = 0; i < kMessages; i += kTogether) {
    std::vector<core::AgentSend> sends;
    for (std::uint32_t n = 1; n <= kTogether; ++n) {
      sends.push_back(sync_request(link.session, i + n));
    }
    link.server->send_all(sends);
  }
  agent_side.join();

  std::vector<std::uint32_t> expected(kMessages);
  std::iota(expected.begin(), expected.end(), 1U);
  ASSERT_TRUE(
      link.agent.saw.wait([](const AgentSaw& saw) { return saw.syncs.size() == kMessages; }));
  ASSERT_TRUE(link.controller.saw.wait(
      [](const ControllerSaw& saw) { return saw.reports.size() == kMessages; }));
  EXPECT_EQ(link.agent.saw.get().syncs,
            std::vector<std::uint64_t>(expected.begin(), expected.end()));
  EXPECT_EQ(link.controller.saw.get().reports, expected);
  EXPECT_GE(link.server->stats().messages_sent, kMessages);
  EXPECT_LT(link.server->stats().frames_sent, kMessages / 4);
  EXPECT_GE(link.client->stats().messages_sent, kMessages);
  EXPECT_LT(link.client->stats().frames_sent, kMessages / 4);
}

TEST(Link, WhatIsSentTogetherTravelsInOneFrame) {
  QuietLink link;
  const LinkStats before = link.server->stats();
  const std::vector<core::AgentSend> syncs = {sync_request(link.session, 1),
                                              sync_request(link.session + 1, 2),
                                              sync_request(link.session, 3)};
  link.server->send_all(syncs);
  ASSERT_TRUE(link.agent.saw.wait([](const AgentSaw& saw) { return saw.syncs.size() == 2; }));
  EXPECT_EQ(link.agent.saw.get().syncs, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(link.server->stats().frames_sent - before.frames_sent, 1U);
  EXPECT_EQ(link.server->stats().messages_sent - before.messages_sent, 2U);

  const std::vector<core::agent::AgentMessage> reports = {report(1), report(2), report(3)};
  link.client->send_all(reports);
  ASSERT_TRUE(
      link.controller.saw.wait([](const ControllerSaw& saw) { return saw.reports.size() == 3; }));
  EXPECT_EQ(link.server->stats().frames_received - before.frames_received, 1U);
  EXPECT_EQ(link.server->stats().messages_received - before.messages_received, 3U);
}

TEST(Link, AcknowledgementsTravelWithWhatIsSentNext) {
  QuietLink link;
  const LinkStats before = link.server->stats();
  link.server->send(ack(link.session, 1));
  link.server->send(ack(link.session, 2));
  link.server->send(sync_request(link.session, 3));
  ASSERT_TRUE(link.agent.saw.wait([](const AgentSaw& saw) { return saw.syncs.size() == 1; }));
  EXPECT_THAT(link.agent.saw.get().acks, ElementsAre(1, 2));
  EXPECT_EQ(link.server->stats().frames_sent - before.frames_sent, 1U);
}

TEST(Link, ManyAcknowledgementsDoNotWaitForMore) {
  constexpr std::uint32_t kMany = 200;
  QuietLink link;
  const LinkStats before = link.server->stats();
  for (std::uint32_t i = 1; i <= kMany; ++i) link.server->send(ack(link.session, i));
  ASSERT_TRUE(link.agent.saw.wait([](const AgentSaw& saw) { return saw.acks.size() > kMany / 2; }));
  // By their time alone they would leave in one frame.
  EXPECT_GT(link.server->stats().frames_sent - before.frames_sent, 1U);
  EXPECT_LE(link.server->stats().frames_sent - before.frames_sent, kMany / 4);
}

TEST(Link, AnAcknowledgementDoesNotWaitForEver) {
  QuietLink link;
  link.server->send(ack(link.session, 1));
  EXPECT_TRUE(link.agent.saw.wait([](const AgentSaw& saw) { return saw.acks.size() == 1; }));
}

TEST(Link, HeartbeatsKeepAnIdleSession) {
  RecordingController controller;
  RecordingAgent agent("db1");
  LinkServerOptions options = server_options();
  options.welcome.heartbeat_interval = Duration::millis(100);
  auto server = start_server(controller, options);
  auto client = start_client(agent, client_options({server->port()}));
  // Five intervals are more than either side would endure in silence.
  ASSERT_TRUE(controller.saw.wait([](const ControllerSaw& saw) { return saw.heartbeats >= 5; }));
  EXPECT_THAT(agent.saw.get().downs, ElementsAre());
  EXPECT_EQ(agent.saw.get().ups.size(), 1U);
}

TEST(Link, ReconnectsWhenTheControllerComesBack) {
  RecordingController controller;
  RecordingAgent agent("db1");
  auto server = start_server(controller);
  const std::uint16_t port = server->port();
  auto client = start_client(agent, client_options({port}));
  ASSERT_TRUE(agent.wait_ups(1));
  const core::SessionId first = controller.session(0);
  server->stop();
  EXPECT_EQ(controller.close_reason(first), "the controller is stopping");
  ASSERT_TRUE(agent.saw.wait([](const AgentSaw& saw) { return !saw.dial_failures.empty(); }));
  EXPECT_THAT(agent.saw.get().downs, ElementsAre("the controller is stopping"));

  server = start_server(controller, server_options(4, port));
  ASSERT_TRUE(agent.wait_ups(2));
  EXPECT_EQ(controller.session(1), (std::uint64_t{4} << 32) + 1);
}

TEST(Link, UsesTheSecondControllerWhenTheFirstIsDown) {
  RecordingController controller;
  RecordingAgent agent("db1");
  auto server = start_server(controller);
  const std::uint16_t down = closed_port();
  auto client = start_client(agent, client_options({down, server->port()}));
  ASSERT_TRUE(agent.wait_ups(1));
  const auto failures = agent.saw.get().dial_failures;
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].first, loopback(down));
}

TEST(Link, RefusesAControllerThatWasReplaced) {
  RecordingController old_controller;
  RecordingController new_controller;
  RecordingAgent agent("db1");
  agent.term = 5;
  auto old_server = start_server(old_controller, server_options(3));
  auto new_server = start_server(new_controller, server_options(5));
  auto client = start_client(agent, client_options({old_server->port(), new_server->port()}));
  ASSERT_TRUE(agent.wait_ups(1));
  const AgentSaw saw = agent.saw.get();
  EXPECT_EQ(saw.ups[0].term, 5U);
  ASSERT_EQ(saw.dial_failures.size(), 1U);
  EXPECT_THAT(saw.dial_failures[0].second, HasSubstr("has term 3, but one with term 5"));
}

TEST(Link, AControllerOfAnOlderTermRefusesTheAgentAndBothHearWhy) {
  RecordingController controller;
  RecordingAgent agent("db1");
  agent.term = 7;
  agent.term_told = 7;
  auto server = start_server(controller, server_options(3));
  auto client = start_client(agent, client_options({server->port()}));
  ASSERT_TRUE(agent.saw.wait([](const AgentSaw& saw) { return !saw.dial_failures.empty(); }));
  EXPECT_THAT(agent.saw.get().dial_failures[0].second, HasSubstr("term 7, this one has term 3"));
  const ControllerSaw saw = controller.saw.get();
  ASSERT_FALSE(saw.refused.empty());
  EXPECT_EQ(saw.refused[0].first, "db1");
  EXPECT_THAT(saw.refused[0].second, HasSubstr("muster restore"));
  EXPECT_THAT(saw.sessions, ElementsAre());
}

TEST(Link, AnAgentInTroubleSaysSoWithItsHeartbeats) {
  RecordingController controller;
  RecordingAgent agent("db1");
  agent.trouble = "disk full";
  LinkServerOptions options = server_options();
  options.welcome.heartbeat_interval = Duration::millis(100);
  auto server = start_server(controller, options);
  auto client = start_client(agent, client_options({server->port()}));
  ASSERT_TRUE(controller.saw.wait([](const ControllerSaw& saw) { return !saw.troubles.empty(); }));
  EXPECT_EQ(controller.saw.get().troubles[0], "disk full");
}

TEST(Link, TellsTheAgentWhyItsHelloWasRefused) {
  RecordingController controller;
  RecordingAgent agent("not a name");
  auto server = start_server(controller);
  auto client = start_client(agent, client_options({server->port()}));
  ASSERT_TRUE(agent.saw.wait([](const AgentSaw& saw) { return saw.dial_failures.size() >= 2; }));
  EXPECT_THAT(agent.saw.get().dial_failures[0].second, HasSubstr("agent name 'not a name'"));
  EXPECT_THAT(controller.saw.get().sessions, ElementsAre());
  EXPECT_TRUE(controller.saw.get().closed.empty());
}

TEST(Link, CloseSessionFlushesAndCarriesItsReason) {
  RecordingController controller;
  RecordingAgent agent("db1");
  auto server = start_server(controller);
  auto client = start_client(agent, client_options({server->port()}));
  const core::SessionId session = controller.session(0);
  for (std::uint32_t i = 1; i <= 500; ++i) server->send(ack(session, i));
  server->send({.session = session, .message = core::CloseSession{"replaced by a newer session"}});
  server->send(ack(session, 501));  // too late
  EXPECT_EQ(controller.close_reason(session), "replaced by a newer session");
  ASSERT_TRUE(agent.saw.wait([](const AgentSaw& saw) { return !saw.downs.empty(); }));
  EXPECT_THAT(agent.saw.get().downs, ElementsAre("replaced by a newer session"));
  EXPECT_EQ(agent.saw.get().acks.size(), 500U);
  EXPECT_TRUE(agent.wait_ups(2));  // it dials again
}

TEST(Link, AgentThatStopsSaysSo) {
  RecordingController controller;
  RecordingAgent agent("db1");
  auto server = start_server(controller);
  auto client = start_client(agent, client_options({server->port()}));
  const core::SessionId session = controller.session(0);
  ASSERT_TRUE(agent.wait_ups(1));
  client->stop();
  EXPECT_EQ(controller.close_reason(session), "closed by the agent");
  EXPECT_EQ(agent.saw.get().downs.size(), 1U);
  client->send(report(1));  // dropped, not a crash
  EXPECT_FALSE(controller.saw.get().called_after_close);
}

TEST(Link, StopOfTheServerClosesEverySessionOnce) {
  RecordingController controller;
  std::vector<std::unique_ptr<RecordingAgent>> agents;
  std::vector<std::unique_ptr<LinkClient>> clients;
  auto server = start_server(controller);
  for (int i = 0; i < 20; ++i) {
    agents.push_back(std::make_unique<RecordingAgent>("a" + std::to_string(i)));
    clients.push_back(start_client(*agents.back(), client_options({server->port()})));
  }
  ASSERT_NE(controller.session(19), 0U);
  server->stop();
  const ControllerSaw saw = controller.saw.get();
  EXPECT_EQ(saw.closed.size(), saw.sessions.size());
  EXPECT_FALSE(saw.called_after_close);
  EXPECT_EQ(server->stats().sessions, 0U);
}

TEST(Link, RefusesWhatIsNotLoopback) {
  RecordingController controller;
  RecordingAgent agent("db1");
  LinkServerOptions exposed = server_options();
  exposed.address = "0.0.0.0:0";
  const auto server = LinkServer::start(exposed, controller);
  ASSERT_FALSE(server.has_value());
  EXPECT_EQ(server.error().code, ErrorCode::Forbidden);
  LinkClientOptions far = client_options({});
  far.controllers = {"127.0.0.1:1", "192.0.2.1:8441"};
  const auto client = LinkClient::start(far, agent);
  ASSERT_FALSE(client.has_value());
  EXPECT_EQ(client.error().code, ErrorCode::Forbidden);
  EXPECT_THAT(client.error().message, HasSubstr("192.0.2.1:8441"));
}

TEST(Link, SaysThatAnAddressIsInUse) {
  RecordingController controller;
  auto server = start_server(controller);
  const auto second = LinkServer::start(server_options(3, server->port()), controller);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::Conflict);
  EXPECT_THAT(second.error().message, HasSubstr("is in use"));
}

}  // namespace
}  // namespace muster::rpc::testing
