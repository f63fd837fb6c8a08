#include "rpc/wire_codec.h"

#include <agent.pb.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json.h"
#include "base/utf8.h"
#include "rpc/endpoint.h"
#include "rpc/outbox.h"

namespace muster::rpc {
namespace {

namespace pb = ::muster::agent::v1;
using ::testing::HasSubstr;

const std::string kId(16, '\x07');

// --- Generators of values that the cores can produce. ---

rc::Gen<std::string> any_text() {
  return rc::gen::map(rc::gen::arbitrary<std::string>(),
                      [](const std::string& bytes) { return to_utf8(bytes); });
}

rc::Gen<std::string> any_json_object() {
  return rc::gen::map(rc::gen::arbitrary<std::map<std::string, std::string>>(),
                      [](const std::map<std::string, std::string>& fields) {
                        Json object = Json::object();
                        for (const auto& [key, value] : fields)
                          object[to_utf8(key)] = to_utf8(value);
                        return dump_json(object);
                      });
}

rc::Gen<Uuid> any_id() {
  return rc::gen::apply([](std::uint64_t a, std::uint64_t b) { return Uuid::v4(a, b); },
                        rc::gen::arbitrary<std::uint64_t>(), rc::gen::arbitrary<std::uint64_t>());
}

rc::Gen<std::int64_t> any_micros() {
  return rc::gen::inRange<std::int64_t>(0, Duration::days(36'500).us);
}

core::AgentAction pick_action() {
  core::AgentAction action;
  action.id = *any_id();
  action.attempt = *rc::gen::inRange<std::uint32_t>(1, 1'000'000);
  action.origin = *rc::gen::element(core::Origin::Controller, core::Origin::Agent);
  action.status =
      *rc::gen::element(core::Status::New, core::Status::Running, core::Status::Suspended,
                        core::Status::Succeeded, core::Status::Failed, core::Status::Cancelled);
  if (core::is_final(action.status)) {
    action.result = *rc::gen::element(core::ExecuteResult::Ok, core::ExecuteResult::Error,
                                      core::ExecuteResult::Retry, core::ExecuteResult::Cancel,
                                      core::ExecuteResult::Timeout);
  }
  action.reason = *any_text();
  action.start_time = {*any_micros()};
  action.stop_time = {*any_micros()};
  action.outputs = *any_json_object();
  action.name = *any_text();
  action.kind = *any_text();
  action.inputs = *any_json_object();
  action.timeout = {*any_micros()};
  action.requested_by = *any_text();
  action.created_at = {*any_micros()};
  return action;
}

core::AgentAction plain_action() {
  core::AgentAction action;
  action.id = Uuid::from_bytes(kId);
  return action;
}

// --- Shorthands. ---

FromAgent agent_round_trip(const std::string& message) {
  Result<AgentFrame> frame = decode_agent_frame(encode_frame(1, {&message, 1}));
  RC_ASSERT(frame.has_value());
  RC_ASSERT(frame->messages.size() == 1U);
  return frame->messages.front();
}

FromController controller_round_trip(const std::string& message) {
  Result<ControllerFrame> frame = decode_controller_frame(encode_frame(1, {&message, 1}));
  RC_ASSERT(frame.has_value());
  RC_ASSERT(frame->messages.size() == 1U);
  return frame->messages.front();
}

std::string decode_error(const pb::AgentMessage& message) {
  const std::string encoded = message.SerializeAsString();
  const Result<AgentFrame> frame = decode_agent_frame(encode_frame(1, {&encoded, 1}));
  if (frame) return "no error";
  EXPECT_EQ(frame.error().code, ErrorCode::DecodeFailed);
  return frame.error().message;
}

std::string decode_error(const pb::ControllerMessage& message) {
  const std::string encoded = message.SerializeAsString();
  const Result<ControllerFrame> frame = decode_controller_frame(encode_frame(1, {&encoded, 1}));
  if (frame) return "no error";
  EXPECT_EQ(frame.error().code, ErrorCode::DecodeFailed);
  return frame.error().message;
}

pb::AgentMessage valid_hello() {
  pb::AgentMessage message;
  message.mutable_hello()->set_protocol(1);
  message.mutable_hello()->set_name("db1");
  message.mutable_hello()->set_journal_id("j");
  return message;
}

pb::AgentMessage valid_report() {
  pb::AgentMessage message;
  pb::ActionState& state = *message.mutable_report()->mutable_action();
  state.set_id(kId);
  state.set_attempt(1);
  state.set_status(pb::DONE);
  state.set_result(pb::OK);
  return message;
}

pb::ControllerMessage valid_schedule() {
  pb::ControllerMessage message;
  message.mutable_schedule()->set_id(kId);
  message.mutable_schedule()->set_attempt(1);
  return message;
}

// --- Round trips. ---

RC_GTEST_PROP(WireCodec, HelloSurvivesTheWire, ()) {
  core::AgentIdentity identity;
  identity.name = *rc::gen::element<std::string>("a", "db-1", "X_9.example");
  identity.journal_id = "j" + std::to_string(*rc::gen::arbitrary<std::uint64_t>());
  identity.instance_id = std::to_string(*rc::gen::arbitrary<std::uint64_t>());
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) identity.labels[*any_text()] = *any_text();
  identity.kinds = *rc::gen::container<std::vector<std::string>>(any_text());
  identity.facts.os = *any_text();
  identity.facts.os_version = *any_text();
  identity.facts.arch = *any_text();
  identity.facts.kernel = *any_text();
  identity.facts.hostname = *any_text();
  identity.facts.addresses = *rc::gen::container<std::vector<std::string>>(any_text());
  identity.facts.version = *any_text();
  RC_ASSERT(std::get<core::AgentIdentity>(agent_round_trip(encode_hello(identity))) == identity);
}

RC_GTEST_PROP(WireCodec, ReportSurvivesTheWire, ()) {
  const core::AgentAction action = pick_action();
  const auto encoded = encode_agent_message(core::agent::SendReport{action});
  RC_ASSERT(encoded.size() == 1U);
  RC_ASSERT(std::get<core::AgentAction>(agent_round_trip(encoded.front())) == action);
}

RC_GTEST_PROP(WireCodec, SyncPageSurvivesTheWire, ()) {
  core::agent::SendSyncPage page;
  page.sync = *rc::gen::arbitrary<std::uint64_t>();
  page.last = *rc::gen::arbitrary<bool>();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) page.actions.push_back(pick_action());
  const auto encoded = encode_agent_message(page);
  RC_ASSERT(encoded.size() == 1U);
  const auto decoded = std::get<core::AgentSyncPage>(agent_round_trip(encoded.front()));
  RC_ASSERT(decoded.sync == page.sync);
  RC_ASSERT(decoded.last == page.last);
  RC_ASSERT(decoded.actions == page.actions);
}

RC_GTEST_PROP(WireCodec, LogChunkAndRequestSurviveTheWire, ()) {
  const LogChunk chunk{.request = *rc::gen::arbitrary<std::uint64_t>(),
                       .offset = *rc::gen::arbitrary<std::uint64_t>(),
                       .data = *rc::gen::arbitrary<std::string>(),
                       .end = *rc::gen::arbitrary<bool>(),
                       .known = *rc::gen::arbitrary<bool>(),
                       .truncated = *rc::gen::arbitrary<bool>()};
  const auto got = std::get<LogChunk>(agent_round_trip(encode_log_chunk(chunk)));
  RC_ASSERT(got.request == chunk.request && got.offset == chunk.offset && got.data == chunk.data);
  RC_ASSERT(got.end == chunk.end && got.known == chunk.known && got.truncated == chunk.truncated);

  const LogRequest request{.request = *rc::gen::arbitrary<std::uint64_t>(),
                           .id = *any_id(),
                           .attempt = *rc::gen::arbitrary<std::uint32_t>(),
                           .offset = *rc::gen::arbitrary<std::uint64_t>(),
                           .limit = *rc::gen::inRange<std::uint32_t>(1, 262'145),
                           .wait = *rc::gen::arbitrary<bool>()};
  const auto asked = std::get<LogRequest>(controller_round_trip(encode_log_request(request)));
  RC_ASSERT(asked.request == request.request && asked.id == request.id);
  RC_ASSERT(asked.attempt == request.attempt && asked.offset == request.offset);
  RC_ASSERT(asked.limit == request.limit && asked.wait == request.wait);
}

RC_GTEST_PROP(WireCodec, ScheduleSurvivesTheWire, ()) {
  core::ActionSpec spec;
  spec.id = *any_id();
  spec.name = *any_text();
  spec.kind = *any_text();
  spec.inputs = *any_json_object();
  spec.timeout = {*any_micros()};
  spec.requested_by = *any_text();
  spec.created_at = {*any_micros()};
  core::Action action;
  action.spec = std::make_shared<const core::ActionSpec>(spec);
  action.attempt = *rc::gen::inRange<std::uint32_t>(1, 100);
  const Duration start_within{*any_micros()};
  const auto encoded = encode_send(
      {.session = 1,
       .message = core::SendSchedule{std::make_shared<const core::Action>(action), start_within}});
  RC_ASSERT(encoded.has_value());
  const auto got = std::get<core::agent::Schedule>(controller_round_trip(*encoded));
  RC_ASSERT(got.id == spec.id && got.attempt == action.attempt && got.name == spec.name);
  RC_ASSERT(got.kind == spec.kind && got.inputs == spec.inputs && got.timeout == spec.timeout);
  RC_ASSERT(got.requested_by == spec.requested_by && got.created_at == spec.created_at);
  RC_ASSERT(got.start_within == start_within);
}

RC_GTEST_PROP(WireCodec, SignalAckAndSyncRequestSurviveTheWire, ()) {
  const core::SendSignal signal{
      .id = *any_id(),
      .attempt = *rc::gen::inRange<std::uint32_t>(1, 100),
      .signal =
          *rc::gen::element(core::Signal::Cancel, core::Signal::Suspend, core::Signal::Resume),
      .reason = *any_text()};
  const auto got = std::get<core::agent::SignalFromController>(
      controller_round_trip(*encode_send({.session = 1, .message = signal})));
  RC_ASSERT(got.id == signal.id && got.attempt == signal.attempt);
  RC_ASSERT(got.signal == signal.signal && got.reason == signal.reason);

  const core::SendAck ack{.id = signal.id, .attempt = signal.attempt};
  const auto acked = std::get<core::agent::Ack>(
      controller_round_trip(*encode_send({.session = 1, .message = ack})));
  RC_ASSERT(acked.id == ack.id && acked.attempt == ack.attempt);

  const core::SendSyncRequest sync{.sync = *rc::gen::arbitrary<std::uint64_t>()};
  RC_ASSERT(std::get<core::agent::SyncRequest>(
                controller_round_trip(*encode_send({.session = 1, .message = sync})))
                .sync == sync.sync);
}

RC_GTEST_PROP(WireCodec, ArbitraryBytesNeverCrashTheDecoder, ()) {
  const auto bytes = *rc::gen::arbitrary<std::string>();
  (void)decode_agent_frame(bytes);
  (void)decode_controller_frame(bytes);
}

TEST(WireCodec, WelcomeAndHeartbeatsSurviveTheWire) {
  const Welcome welcome{
      .term = 7, .controller_id = "c1", .heartbeat_interval = Duration::millis(250)};
  const std::vector<std::string> messages = {encode_welcome(welcome),
                                             encode_controller_heartbeat()};
  const auto frame = decode_controller_frame(encode_frame(3, messages));
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->seq, 3U);
  const auto& got = std::get<Welcome>(frame->messages.at(0));
  EXPECT_EQ(got.term, 7U);
  EXPECT_EQ(got.controller_id, "c1");
  EXPECT_EQ(got.heartbeat_interval, Duration::millis(250));
  EXPECT_TRUE(std::holds_alternative<Heartbeat>(frame->messages.at(1)));
  const std::string heartbeat = encode_agent_heartbeat();
  const auto from_agent = decode_agent_frame(encode_frame(1, {&heartbeat, 1}));
  ASSERT_TRUE(from_agent.has_value());
  EXPECT_EQ(std::get<Heartbeat>(from_agent->messages.at(0)).problem, "");
  const std::string troubled = encode_agent_heartbeat("disk full");
  const auto in_trouble = decode_agent_frame(encode_frame(1, {&troubled, 1}));
  ASSERT_TRUE(in_trouble.has_value());
  EXPECT_EQ(std::get<Heartbeat>(in_trouble->messages.at(0)).problem, "disk full");
}

TEST(WireCodec, FrameIsWhatProtobufItselfWouldWrite) {
  pb::AgentFrame frame;
  frame.set_seq(300);
  *frame.add_messages() = valid_hello();
  *frame.add_messages() = valid_report();
  const std::vector<std::string> messages = {valid_hello().SerializeAsString(),
                                             valid_report().SerializeAsString()};
  EXPECT_EQ(encode_frame(300, messages), frame.SerializeAsString());
}

TEST(WireCodec, CloseSessionIsNoMessage) {
  EXPECT_EQ(encode_send({.session = 1, .message = core::CloseSession{"x"}}), std::nullopt);
}

TEST(WireCodec, LargeSyncPageIsSplitAndMarkedOnce) {
  core::agent::SendSyncPage page{.sync = 9, .actions = {}, .last = true};
  for (int i = 0; i < 5; ++i) {
    core::AgentAction action = plain_action();
    action.attempt = static_cast<std::uint32_t>(i + 1);
    action.reason.assign(400'000, 'x');
    page.actions.push_back(action);
  }
  const auto encoded = encode_agent_message(page);
  ASSERT_EQ(encoded.size(), 3U);
  std::uint32_t next = 1;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    const auto got = decode_agent_frame(encode_frame(1, {&encoded[i], 1}));
    ASSERT_TRUE(got.has_value());
    const auto& part = std::get<core::AgentSyncPage>(got->messages.at(0));
    EXPECT_EQ(part.sync, 9U);
    EXPECT_EQ(part.last, i + 1 == encoded.size());
    for (const auto& action : part.actions) EXPECT_EQ(action.attempt, next++);
  }
  EXPECT_EQ(next, 6U);
}

TEST(WireCodec, TextThatIsNotUtf8IsRepairedBeforeItIsSent) {
  core::AgentAction action = plain_action();
  action.reason = "bad \xFF byte";
  const auto encoded = encode_agent_message(core::agent::SendReport{action});
  const auto frame = decode_agent_frame(encode_frame(1, encoded));
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(std::get<core::AgentAction>(frame->messages.at(0)).reason, "bad \xEF\xBF\xBD byte");
}

TEST(WireCodec, MessageOfANewerVersionIsPassedOver) {
  const std::string newer = "\x9A\x06\x02hi";  // field 99, two bytes
  const auto frame = decode_agent_frame(encode_frame(1, {&newer, 1}));
  ASSERT_TRUE(frame.has_value());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(frame->messages.at(0)));
}

// --- Refusals. ---

TEST(WireCodec, HelloIsValidated) {
  EXPECT_EQ(decode_error(valid_hello()), "no error");
  auto other_protocol = valid_hello();
  other_protocol.mutable_hello()->set_protocol(2);
  EXPECT_THAT(decode_error(other_protocol), HasSubstr("protocol version 2 is not supported"));
  auto no_journal = valid_hello();
  no_journal.mutable_hello()->clear_journal_id();
  EXPECT_THAT(decode_error(no_journal), HasSubstr("journal_id has 0 bytes"));
  auto large = valid_hello();
  large.mutable_hello()->add_kinds(std::string(300'000, 'k'));
  EXPECT_THAT(decode_error(large), HasSubstr("at most 262144 are allowed"));
  for (const std::string& name : {std::string(), std::string("-a"), std::string("a b"),
                                  std::string(64, 'a'), std::string("ä")}) {
    auto bad_name = valid_hello();
    bad_name.mutable_hello()->set_name(name);
    EXPECT_THAT(decode_error(bad_name), HasSubstr("agent name")) << name;
  }
  EXPECT_TRUE(is_agent_name(std::string(63, 'a')));
}

TEST(WireCodec, ActionStateIsValidated) {
  EXPECT_EQ(decode_error(valid_report()), "no error");
  const auto error_of = [](auto change) {
    pb::AgentMessage message = valid_report();
    change(*message.mutable_report()->mutable_action());
    return decode_error(message);
  };
  using State = pb::ActionState;
  EXPECT_THAT(error_of([](State& s) { s.set_id("short"); }), HasSubstr("action id has 5 bytes"));
  EXPECT_THAT(error_of([](State& s) { s.set_attempt(0); }), HasSubstr("attempt is 0"));
  EXPECT_THAT(error_of([](State& s) { s.clear_status(); }), HasSubstr("action status 0"));
  EXPECT_THAT(error_of([](State& s) { s.set_status(static_cast<pb::ActionStatus>(77)); }),
              HasSubstr("action status 77"));
  EXPECT_THAT(error_of([](State& s) { s.clear_result(); }), HasSubstr("execute result 0"));
  EXPECT_THAT(error_of([](State& s) { s.set_origin(static_cast<pb::Origin>(5)); }),
              HasSubstr("origin 5"));
  EXPECT_THAT(error_of([](State& s) { s.set_start_time(-1); }), HasSubstr("start_time is -1"));
  EXPECT_THAT(error_of([](State& s) { s.set_timeout(INT64_MAX); }), HasSubstr("timeout is"));
  EXPECT_THAT(error_of([](State& s) { s.set_outputs("[1]"); }),
              HasSubstr("outputs is a JSON array"));
  EXPECT_THAT(error_of([](State& s) { s.set_inputs("{"); }), HasSubstr("inputs"));
  EXPECT_THAT(error_of([](State& s) { s.set_outputs("{\"a\":\"\xFF\"}"); }),
              HasSubstr("are not a AgentFrame"));
}

TEST(WireCodec, ControllerMessagesAreValidated) {
  EXPECT_EQ(decode_error(valid_schedule()), "no error");
  auto no_id = valid_schedule();
  no_id.mutable_schedule()->clear_id();
  EXPECT_THAT(decode_error(no_id), HasSubstr("schedule: action id has 0 bytes"));
  pb::ControllerMessage signal;
  signal.mutable_signal()->set_id(kId);
  signal.mutable_signal()->set_attempt(1);
  EXPECT_THAT(decode_error(signal), HasSubstr("signal 0 is not known"));
  pb::ControllerMessage ack;
  ack.mutable_ack()->set_id(kId);
  EXPECT_THAT(decode_error(ack), HasSubstr("attempt is 0"));
  pb::ControllerMessage welcome;
  welcome.mutable_welcome()->set_term(1);
  EXPECT_THAT(decode_error(welcome), HasSubstr("heartbeat_interval is 0"));
  pb::ControllerMessage log;
  log.mutable_log_request()->set_id(kId);
  log.mutable_log_request()->set_limit(262'145);
  EXPECT_THAT(decode_error(log), HasSubstr("at most 262144"));
}

TEST(FrameSequence, TakesTheNextIgnoresTheSeenRefusesAGap) {
  FrameSequence sequence;
  EXPECT_FALSE(sequence.accept(0).has_value());
  EXPECT_FALSE(sequence.accept(2).has_value());
  EXPECT_EQ(sequence.accept(1).value(), true);
  EXPECT_EQ(sequence.accept(2).value(), true);
  EXPECT_EQ(sequence.accept(1).value(), false);
  EXPECT_EQ(sequence.accept(2).value(), false);
  EXPECT_FALSE(sequence.accept(4).has_value());
  EXPECT_EQ(sequence.accept(3).value(), true);
  EXPECT_EQ(sequence.last(), 3U);
}

// --- What the sessions are built of. ---

RC_GTEST_PROP(Outbox, FramesCarryEveryMessageOnceAndInOrder, ()) {
  Outbox outbox(std::size_t{1} << 30);
  const int total = *rc::gen::inRange(1, 3000);
  int pushed = 0;
  int taken = 0;
  FrameSequence sequence;
  while (taken < total) {
    for (int n = *rc::gen::inRange(1, 1500); n > 0 && pushed < total; --n, ++pushed) {
      const auto request = static_cast<std::uint64_t>(pushed);
      RC_ASSERT(outbox.push(encode_log_chunk({.request = request, .offset = 0, .data = ""})));
    }
    const Outbox::Frame frame = outbox.take_frame();
    RC_ASSERT(frame.messages <= kFrameMessagesMax);
    const auto decoded = decode_agent_frame(frame.bytes);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(decoded->messages.size() == frame.messages);
    RC_ASSERT(sequence.accept(decoded->seq).value());
    for (const FromAgent& message : decoded->messages) {
      RC_ASSERT(std::get<LogChunk>(message).request == static_cast<std::uint64_t>(taken));
      ++taken;
    }
  }
  RC_ASSERT(outbox.empty());
  RC_ASSERT(outbox.bytes() == 0U);
}

TEST(Outbox, FramesStayNearTheByteLimitAndALargeMessageTravelsAlone) {
  Outbox outbox(std::size_t{64} << 20);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(outbox.push(std::string(400'000, 'x')).has_value());
  }
  ASSERT_TRUE(outbox.push(std::string(3'000'000, 'y')).has_value());
  std::vector<std::size_t> counts;
  while (!outbox.empty()) counts.push_back(outbox.take_frame().messages);
  EXPECT_THAT(counts, ::testing::ElementsAre(2, 2, 1));
}

TEST(Outbox, IsBounded) {
  Outbox outbox(1000);
  ASSERT_TRUE(outbox.push(std::string(800, 'x')).has_value());
  const auto over = outbox.push(std::string(200, 'x'));
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, ErrorCode::Overloaded);
  Outbox large(std::size_t{1} << 30);
  EXPECT_FALSE(large.push(std::string(kFrameAcceptedMax, 'x')).has_value());
}

TEST(Utf8, ReplacesOnlyWhatIsNoCharacter) {
  EXPECT_EQ(to_utf8("plain é 漢 🙂"), "plain é 漢 🙂");
  for (const std::string bad :
       {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_FALSE(is_utf8(bad));
    EXPECT_TRUE(is_utf8(to_utf8("a" + bad + "b")));
  }
}

TEST(Endpoint, ParsesAndTellsLoopback) {
  for (const char* good : {"127.0.0.1:1", "127.9.9.9:80", "localhost:0", "[::1]:8441"}) {
    const auto endpoint = parse_endpoint(good);
    ASSERT_TRUE(endpoint.has_value()) << good;
    EXPECT_TRUE(endpoint->is_loopback()) << good;
    EXPECT_EQ(endpoint->to_string(), good);
  }
  for (const char* exposed : {"0.0.0.0:1", "192.0.2.1:80", "[::]:80", "db1.example:9"}) {
    const auto endpoint = parse_endpoint(exposed);
    ASSERT_TRUE(endpoint.has_value()) << exposed;
    EXPECT_FALSE(endpoint->is_loopback()) << exposed;
    EXPECT_EQ(check_exposure(*endpoint, false).error().code, ErrorCode::Forbidden);
    EXPECT_TRUE(check_exposure(*endpoint, true).has_value());
  }
  for (const char* bad :
       {"", "x", ":1", "h:", "h:65536", "h:1x", "unix:/run/x", "::1:80", "h:-1"}) {
    EXPECT_FALSE(parse_endpoint(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace muster::rpc
