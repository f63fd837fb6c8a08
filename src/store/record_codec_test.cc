#include "store/record_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <tuple>

#include "record.pb.h"

namespace muster::store {
namespace {

using core::Action;
using core::ActionSpec;

Uuid any_id() {
  return Uuid::v4(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>());
}

std::vector<Uuid> any_ids() {
  std::vector<Uuid> ids(*rc::gen::inRange<std::size_t>(0, 4));
  for (Uuid& id : ids) id = any_id();
  return ids;
}

// Any bytes at all, not only UTF-8.
std::string any_bytes() { return *rc::gen::arbitrary<std::string>(); }

std::vector<std::string> any_texts() { return *rc::gen::arbitrary<std::vector<std::string>>(); }

Timestamp any_time() { return Timestamp{*rc::gen::arbitrary<std::int64_t>()}; }
Duration any_duration() { return Duration{*rc::gen::arbitrary<std::int64_t>()}; }
std::uint32_t any_u32() { return *rc::gen::arbitrary<std::uint32_t>(); }
std::uint64_t any_seq() { return *rc::gen::arbitrary<std::uint64_t>() >> 1U; }

template <typename Enum>
Enum any_enum(Enum last) {
  return static_cast<Enum>(*rc::gen::inRange(0, static_cast<int>(last) + 1));
}

ActionSpec any_spec() {
  ActionSpec spec;
  spec.id = any_id();
  spec.seq = any_seq();
  spec.name = any_bytes();
  spec.kind = any_bytes();
  spec.target = any_bytes();
  spec.side = any_enum(core::Side::Agent);
  spec.origin = any_enum(core::Origin::Agent);
  spec.cause = any_enum(core::Cause::DerivedAction);
  if (*rc::gen::arbitrary<bool>()) spec.parent = any_id();
  spec.requested_by = any_bytes();
  spec.inputs = any_bytes();
  spec.context = any_bytes();
  spec.depends_on = any_ids();
  spec.timeout = any_duration();
  spec.queue_timeout = any_duration();
  spec.interval = any_duration();
  spec.misfire = any_enum(core::Misfire::RunOnce);
  spec.not_before = any_time();
  spec.not_after = any_time();
  spec.retry = {any_u32(), {any_duration(), any_duration()}};
  if (*rc::gen::arbitrary<bool>()) {
    spec.approval = core::ApprovalPolicy{any_u32(), *rc::gen::arbitrary<bool>(), any_duration()};
  }
  spec.plan = any_bytes();
  spec.task = any_bytes();
  spec.created_at = any_time();
  return spec;
}

Action any_action() {
  Action action;
  action.spec = std::make_shared<const ActionSpec>(any_spec());
  action.revision = *rc::gen::arbitrary<std::uint64_t>();
  action.status = any_enum(core::Status::Lost);
  action.status_reason = any_bytes();
  action.status_since = any_time();
  action.control = any_enum(core::Signal::Resume);
  action.control_reason = any_bytes();
  action.owner = any_bytes();
  action.attempt = any_u32();
  action.attempt_floor = any_u32();
  action.tries = any_u32();
  action.runs = any_u32();
  action.sent = *rc::gen::arbitrary<bool>();
  action.sent_journal = any_bytes();
  action.next_try = any_time();
  action.deadline = any_time();
  action.suspended_since = any_time();
  action.start_time = any_time();
  action.stop_time = any_time();
  action.updated_at = any_time();
  action.outputs = any_bytes();
  action.data = any_bytes();
  action.depends_on_left = any_ids();
  action.depended_by = any_ids();
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    action.decisions.push_back({any_bytes(), *rc::gen::arbitrary<bool>(), any_bytes(), any_time()});
  }
  return action;
}

auto fields_of(const Action& a) {
  return std::tie(a.revision, a.status, a.status_reason, a.status_since, a.control,
                  a.control_reason, a.owner, a.attempt, a.attempt_floor, a.tries, a.runs, a.sent,
                  a.sent_journal, a.next_try, a.deadline, a.suspended_since, a.start_time,
                  a.stop_time, a.updated_at, a.outputs, a.data, a.depends_on_left, a.depended_by,
                  a.decisions);
}

auto fields_of(const core::Agent& a) {
  return std::tie(a.identity, a.revision, a.state, a.state_reason, a.state_since, a.registered_at,
                  a.last_seen);
}

auto fields_of(const core::PutIdempotency& i) {
  return std::tie(i.key, i.digest, i.actions, i.expires_at);
}

core::Agent any_agent() {
  core::Agent agent;
  agent.identity.name = any_bytes();
  agent.identity.journal_id = any_bytes();
  agent.identity.instance_id = any_bytes();
  agent.identity.labels = *rc::gen::arbitrary<std::map<std::string, std::string>>();
  agent.identity.kinds = any_texts();
  agent.identity.facts = {any_bytes(), any_bytes(), any_bytes(), any_bytes(),
                          any_bytes(), any_texts(), any_bytes()};
  agent.revision = *rc::gen::arbitrary<std::uint64_t>();
  agent.state = any_enum(core::AgentState::Offline);
  agent.state_reason = any_bytes();
  agent.state_since = any_time();
  agent.registered_at = any_time();
  agent.last_seen = any_time();
  return agent;
}

core::JournalEntry any_entry() {
  core::JournalEntry entry;
  entry.id = any_id();
  entry.attempt = any_u32();
  entry.seq = any_seq();
  entry.origin = any_enum(core::Origin::Agent);
  entry.name = any_bytes();
  entry.kind = any_bytes();
  entry.inputs = any_bytes();
  entry.timeout = any_duration();
  entry.requested_by = any_bytes();
  entry.created_at = any_time();
  entry.start_before = any_time();
  entry.status = any_enum(core::Status::Lost);
  entry.result = any_enum(core::ExecuteResult::Timeout);
  entry.reason = any_bytes();
  entry.control = any_enum(core::Signal::Resume);
  entry.control_reason = any_bytes();
  entry.start_time = any_time();
  entry.stop_time = any_time();
  entry.outputs = any_bytes();
  entry.acked = *rc::gen::arbitrary<bool>();
  return entry;
}

RC_GTEST_PROP(RecordCodec, EveryFieldOfAnActionComesBack, ()) {
  const Action action = any_action();
  const auto decoded = decode_action(encode(action));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*(*decoded)->spec == *action.spec);
  RC_ASSERT(fields_of(**decoded) == fields_of(action));
}

RC_GTEST_PROP(RecordCodec, EveryFieldOfAnAgentComesBack, ()) {
  const core::Agent agent = any_agent();
  const auto decoded = decode_agent(encode(agent));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(fields_of(**decoded) == fields_of(agent));
}

RC_GTEST_PROP(RecordCodec, EveryFieldOfAnEventComesBack, ()) {
  const core::Event event{any_seq(),
                          any_time(),
                          any_bytes(),
                          any_bytes(),
                          any_bytes(),
                          any_bytes(),
                          any_bytes(),
                          any_bytes(),
                          any_bytes(),
                          any_bytes(),
                          *rc::gen::arbitrary<std::uint64_t>()};
  const auto decoded = decode_event(encode(event));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == event);
}

RC_GTEST_PROP(RecordCodec, EveryFieldOfAnIdempotencyKeyComesBack, ()) {
  const core::PutIdempotency idempotency{any_bytes(), any_bytes(), any_ids(), any_time()};
  const auto decoded = decode_idempotency(encode(idempotency));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(fields_of(*decoded) == fields_of(idempotency));
}

RC_GTEST_PROP(RecordCodec, EveryFieldOfAJournalEntryComesBack, ()) {
  const core::JournalEntry entry = any_entry();
  const auto decoded = decode_journal_entry(encode(entry));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(**decoded == entry);
}

RC_GTEST_PROP(RecordCodec, DamagedBytesAreAnErrorOrARecordAndNeverACrash, ()) {
  std::string bytes = encode(any_action());
  const std::size_t cut = *rc::gen::inRange<std::size_t>(0, bytes.size() + 1);
  if (*rc::gen::arbitrary<bool>()) {
    bytes.resize(cut);
  } else if (cut < bytes.size()) {
    bytes[cut] = *rc::gen::arbitrary<char>();
  }
  const auto decoded = decode_action(bytes);
  RC_ASSERT(decoded.has_value() || decoded.error().code == ErrorCode::DecodeFailed);
  RC_ASSERT(decoded.has_value() || !decoded.error().message.empty());
}

Action small_action(core::Status status) {
  ActionSpec spec;
  spec.id = Uuid::v4(1, 2);
  spec.seq = 7;
  spec.name = "deploy";
  spec.kind = "exec";
  spec.target = "host-1";
  spec.created_at = Timestamp{100};
  Action action;
  action.spec = std::make_shared<const ActionSpec>(spec);
  action.status = status;
  action.status_since = Timestamp{300};
  action.updated_at = Timestamp{400};
  return action;
}

std::string problem_of(const record::v1::Action& message) {
  const auto decoded =
      decode_action(std::string(1, static_cast<char>(kRecordFormat)) + message.SerializeAsString());
  EXPECT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().code, ErrorCode::DecodeFailed);
  return decoded.error().message;
}

record::v1::Action message_of(const Action& action) {
  record::v1::Action message;
  EXPECT_TRUE(message.ParseFromString(encode(action).substr(1)));
  return message;
}

TEST(RecordCodec, SaysWhatIsWrong) {
  const record::v1::Action good = message_of(small_action(core::Status::Running));

  auto bad = good;
  bad.set_status(static_cast<record::v1::Status>(14));
  EXPECT_EQ(problem_of(bad), "action record, status: value 14 is not between 1 and 13");
  bad = good;
  bad.clear_control();
  EXPECT_EQ(problem_of(bad), "action record, control: value 0 is not between 1 and 4");
  bad = good;
  bad.mutable_spec()->set_id("short");
  EXPECT_EQ(problem_of(bad), "action record, id: an id has 16 bytes, not 5");
  bad = good;
  bad.set_depended_by(std::string(17, 'x'));
  EXPECT_EQ(problem_of(bad),
            "action record, depended_by: 17 bytes are no whole number of 16-byte ids");
  bad = good;
  bad.mutable_spec()->set_seq(std::numeric_limits<std::uint64_t>::max());
  EXPECT_NE(problem_of(bad).find("seq: sequence number"), std::string::npos);
  bad = good;
  bad.clear_spec();
  EXPECT_EQ(problem_of(bad), "action record, spec: is missing");
}

TEST(RecordCodec, RefusesAnotherFormatVersion) {
  std::string bytes = encode(small_action(core::Status::Running));
  bytes[0] = 2;
  const auto decoded = decode_action(bytes);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().message, "action record has format 2, this program reads format 1");
  EXPECT_EQ(decode_event("").error().message, "event record is empty");
  EXPECT_EQ(decode_agent("\x01\xff\xff").error().code, ErrorCode::DecodeFailed);
}

TEST(RecordCodec, AFinalActionIsIndexedAsFinishedSinceItsStatus) {
  const ActionIndex live = index_of(small_action(core::Status::Running));
  EXPECT_EQ(live, (ActionIndex{7, true, "deploy", "host-1", "exec", "RUNNING", Timestamp{100},
                               Timestamp{400}, Timestamp{}}));
  const ActionIndex done = index_of(small_action(core::Status::Failed));
  EXPECT_FALSE(done.live);
  EXPECT_EQ(done.status, "FAILED");
  EXPECT_EQ(done.finished_at, Timestamp{300});
}

TEST(RecordCodec, AFinalActionWithoutTimesStillHasAnEnd) {
  Action action;
  action.spec = std::make_shared<const ActionSpec>();
  action.status = core::Status::Cancelled;
  EXPECT_TRUE(index_of(action).finished_at.is_set());
}

TEST(RecordCodec, EveryWriteBecomesItsRecord) {
  Batch batch;
  const auto action = std::make_shared<const Action>(small_action(core::Status::Ready));
  core::Agent agent;
  agent.identity.name = "host-1";
  const core::PutIdempotency idempotency{"alice/1", "digest", {Uuid::v4(1, 2)}, Timestamp{5}};
  core::Event event;
  event.seq = 9;
  event.at = Timestamp{10};

  append(batch, core::PutAction{action});
  append(batch, core::PutAgent{std::make_shared<const core::Agent>(agent)});
  append(batch, idempotency);
  append(batch, core::DropIdempotency{"bob/2"});
  append(batch, core::AppendEvent{event});
  core::JournalEntry entry;
  entry.id = Uuid::v4(3, 4);
  append(batch, core::agent::JournalWrite(
                    core::agent::PutEntry{std::make_shared<core::JournalEntry>(entry)}));
  append(batch, core::agent::JournalWrite(core::agent::DropEntry{entry.id, 1}));

  ASSERT_EQ(batch.records.size(), 6U);
  EXPECT_EQ(batch.records[0].space, Space::Action);
  EXPECT_EQ(batch.records[0].key, action->id().bytes());
  EXPECT_EQ(batch.records[0].value, encode(*action));
  EXPECT_EQ(batch.records[0].index, index_of(*action));
  EXPECT_EQ(batch.records[1].space, Space::Agent);
  EXPECT_EQ(batch.records[1].key, "host-1");
  EXPECT_EQ(batch.records[2].key, "alice/1");
  EXPECT_EQ(batch.records[2].value, encode(idempotency));
  EXPECT_EQ(batch.records[3].space, Space::Idempotency);
  EXPECT_EQ(batch.records[3].key, "bob/2");
  EXPECT_FALSE(batch.records[3].value.has_value());
  EXPECT_EQ(batch.records[4].space, Space::Journal);
  EXPECT_EQ(batch.records[4].value, encode(entry));
  EXPECT_EQ(batch.records[5].key, entry.id.bytes());
  EXPECT_FALSE(batch.records[5].value.has_value());
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_EQ(batch.events[0].seq, 9U);
  EXPECT_EQ(batch.events[0].at, Timestamp{10});
}

TEST(RecordCodec, ALargeRecordBetweenSmallOnesLeavesNoTrace) {
  Action large = small_action(core::Status::Running);
  large.outputs = std::string(std::size_t{1} << 20, 'x');
  const std::string before = encode(small_action(core::Status::Running));
  EXPECT_GT(encode(large).size(), large.outputs.size());
  EXPECT_EQ(encode(small_action(core::Status::Running)), before);
}

}  // namespace
}  // namespace muster::store
