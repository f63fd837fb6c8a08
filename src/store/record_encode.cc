#include <google/protobuf/message_lite.h>

#include <variant>

#include "base/check.h"
#include "record.pb.h"
#include "store/model_codec.h"
#include "store/plan_codec.h"
#include "store/record_codec.h"

namespace muster::store {
namespace {

namespace wire = record::v1;

// A message that is kept for the next record keeps the memory of its strings, which is the point;
// beyond this size it would only hold on to the memory of one exceptional record.
constexpr std::size_t kKeepMessageBytesMax = std::size_t{256} << 10;

template <typename Wire, typename Enum>
constexpr Wire to_wire(Enum value) {
  return static_cast<Wire>(static_cast<int>(value) + 1);
}

static_assert(to_wire<int>(core::Status::Lost) == wire::STATUS_LOST);
static_assert(to_wire<int>(core::Status::PendingSchedule) == wire::STATUS_PENDING_SCHEDULE);
static_assert(to_wire<int>(core::Signal::Resume) == wire::SIGNAL_RESUME);
static_assert(to_wire<int>(core::ExecuteResult::Timeout) == wire::EXECUTE_RESULT_TIMEOUT);
static_assert(to_wire<int>(core::Cause::DerivedAction) == wire::CAUSE_DERIVED_ACTION);
static_assert(to_wire<int>(core::Side::Agent) == wire::SIDE_AGENT);
static_assert(to_wire<int>(core::Origin::Agent) == wire::ORIGIN_AGENT);
static_assert(to_wire<int>(core::Misfire::RunOnce) == wire::MISFIRE_RUN_ONCE);
static_assert(to_wire<int>(core::AgentState::Offline) == wire::AGENT_STATE_OFFLINE);

void put_id(std::string* out, const Uuid& id) { out->assign(id.bytes().data(), id.bytes().size()); }

void put_ids(std::string* out, const std::vector<Uuid>& ids) {
  out->clear();
  out->reserve(ids.size() * Uuid::kSize);
  for (const Uuid& id : ids) out->append(id.bytes());
}

void fill(wire::ActionSpec* out, const core::ActionSpec& spec) {
  put_id(out->mutable_id(), spec.id);
  out->set_seq(spec.seq);
  out->set_name(spec.name);
  out->set_kind(spec.kind);
  out->set_target(spec.target);
  out->set_side(to_wire<wire::Side>(spec.side));
  out->set_origin(to_wire<wire::Origin>(spec.origin));
  out->set_cause(to_wire<wire::Cause>(spec.cause));
  if (spec.parent) put_id(out->mutable_parent(), *spec.parent);
  out->set_requested_by(spec.requested_by);
  out->set_inputs(spec.inputs);
  out->set_context(spec.context);
  put_ids(out->mutable_depends_on(), spec.depends_on);
  out->set_timeout(spec.timeout.us);
  out->set_queue_timeout(spec.queue_timeout.us);
  out->set_interval(spec.interval.us);
  out->set_misfire(to_wire<wire::Misfire>(spec.misfire));
  out->set_not_before(spec.not_before.us);
  out->set_not_after(spec.not_after.us);
  out->set_retry_attempts(spec.retry.attempts);
  out->set_retry_backoff_initial(spec.retry.backoff.initial.us);
  out->set_retry_backoff_max(spec.retry.backoff.max.us);
  if (spec.approval) {
    out->mutable_approval()->set_count(spec.approval->count);
    out->mutable_approval()->set_allow_requester(spec.approval->allow_requester);
    out->mutable_approval()->set_expires_in(spec.approval->expires_in.us);
  }
  out->set_plan(spec.plan);
  out->set_task(spec.task);
  out->set_created_at(spec.created_at.us);
}

void fill(wire::Action* out, const core::Action& action) {
  fill(out->mutable_spec(), *action.spec);
  out->set_revision(action.revision);
  out->set_status(to_wire<wire::Status>(action.status));
  out->set_status_reason(action.status_reason);
  out->set_status_since(action.status_since.us);
  out->set_control(to_wire<wire::Signal>(action.control));
  out->set_control_reason(action.control_reason);
  out->set_owner(action.owner);
  out->set_attempt(action.attempt);
  out->set_attempt_floor(action.attempt_floor);
  out->set_tries(action.tries);
  out->set_runs(action.runs);
  out->set_sent(action.sent);
  out->set_sent_journal(action.sent_journal);
  out->set_next_try(action.next_try.us);
  out->set_deadline(action.deadline.us);
  out->set_suspended_since(action.suspended_since.us);
  out->set_start_time(action.start_time.us);
  out->set_stop_time(action.stop_time.us);
  out->set_updated_at(action.updated_at.us);
  out->set_outputs(action.outputs);
  out->set_data(action.data);
  put_ids(out->mutable_depends_on_left(), action.depends_on_left);
  put_ids(out->mutable_depended_by(), action.depended_by);
  for (const core::ApprovalDecision& decision : action.decisions) {
    wire::ApprovalDecision* added = out->add_decisions();
    added->set_who(decision.who);
    added->set_approved(decision.approved);
    added->set_reason(decision.reason);
    added->set_at(decision.at.us);
  }
}

void fill(wire::Agent* out, const core::Agent& agent) {
  const core::AgentIdentity& identity = agent.identity;
  out->set_name(identity.name);
  out->set_journal_id(identity.journal_id);
  out->set_instance_id(identity.instance_id);
  for (const auto& [name, value] : identity.labels) {
    wire::Label* label = out->add_labels();
    label->set_name(name);
    label->set_value(value);
  }
  for (const std::string& kind : identity.kinds) out->add_kinds(kind);
  out->set_os(identity.facts.os);
  out->set_os_version(identity.facts.os_version);
  out->set_arch(identity.facts.arch);
  out->set_kernel(identity.facts.kernel);
  out->set_hostname(identity.facts.hostname);
  for (const std::string& address : identity.facts.addresses) out->add_addresses(address);
  out->set_version(identity.facts.version);
  out->set_revision(agent.revision);
  out->set_state(to_wire<wire::AgentState>(agent.state));
  out->set_state_reason(agent.state_reason);
  out->set_state_since(agent.state_since.us);
  out->set_registered_at(agent.registered_at.us);
  out->set_last_seen(agent.last_seen.us);
}

void fill(wire::Event* out, const core::Event& event) {
  out->set_seq(event.seq);
  out->set_at(event.at.us);
  out->set_type(event.type);
  out->set_subject(event.subject);
  out->set_name(event.name);
  out->set_kind(event.kind);
  out->set_target(event.target);
  out->set_status(event.status);
  out->set_reason(event.reason);
  out->set_actor(event.actor);
  out->set_revision(event.revision);
}

void fill(wire::Idempotency* out, const core::PutIdempotency& idempotency) {
  out->set_key(idempotency.key);
  out->set_digest(idempotency.digest);
  put_ids(out->mutable_actions(), idempotency.actions);
  out->set_expires_at(idempotency.expires_at.us);
  out->set_revision(idempotency.revision);
}

void fill(wire::JournalEntry* out, const core::JournalEntry& entry) {
  put_id(out->mutable_id(), entry.id);
  out->set_attempt(entry.attempt);
  out->set_seq(entry.seq);
  out->set_origin(to_wire<wire::Origin>(entry.origin));
  out->set_name(entry.name);
  out->set_kind(entry.kind);
  out->set_inputs(entry.inputs);
  out->set_timeout(entry.timeout.us);
  out->set_requested_by(entry.requested_by);
  out->set_created_at(entry.created_at.us);
  out->set_start_before(entry.start_before.us);
  out->set_status(to_wire<wire::Status>(entry.status));
  out->set_result(to_wire<wire::ExecuteResult>(entry.result));
  out->set_reason(entry.reason);
  out->set_control(to_wire<wire::Signal>(entry.control));
  out->set_control_reason(entry.control_reason);
  out->set_start_time(entry.start_time.us);
  out->set_stop_time(entry.stop_time.us);
  out->set_outputs(entry.outputs);
  out->set_acked(entry.acked);
}

template <typename Message, typename Value>
std::string encode_as(const Value& value) {
  thread_local Message message;
  message.Clear();
  fill(&message, value);
  const std::size_t size = message.ByteSizeLong();
  std::string bytes(size + 1, '\0');
  bytes[0] = static_cast<char>(kRecordFormat);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(bytes.data() + 1));
  if (size > kKeepMessageBytesMax) {
    Message fresh;
    message.Swap(&fresh);
  }
  return bytes;
}

}  // namespace

std::string encode(const core::Action& action) {
  MUSTER_CHECK(action.spec != nullptr, "an action without a spec cannot be stored");
  return encode_as<wire::Action>(action);
}

std::string encode(const core::Agent& agent) { return encode_as<wire::Agent>(agent); }

std::string encode(const core::Event& event) { return encode_as<wire::Event>(event); }

std::string encode(const core::PutIdempotency& idempotency) {
  return encode_as<wire::Idempotency>(idempotency);
}

std::string encode(const core::JournalEntry& entry) { return encode_as<wire::JournalEntry>(entry); }

ActionIndex index_of(const core::Action& action) {
  const core::ActionSpec& spec = *action.spec;
  ActionIndex index{
      .seq = spec.seq,
      .live = !action.is_final(),
      .name = spec.name,
      .target = spec.target,
      .action = spec.kind,
      .status = std::string(core::name(action.status)),
      .created_at = spec.created_at,
      .updated_at = action.updated_at,
      .finished_at = {},
  };
  if (index.live) return index;
  for (const Timestamp candidate : {action.status_since, action.updated_at, spec.created_at}) {
    if (!candidate.is_set()) continue;
    index.finished_at = candidate;
    return index;
  }
  // Retention only sees actions that have an end.
  index.finished_at = Timestamp{1};
  return index;
}

namespace {

struct Appender {
  Batch& batch;

  void operator()(const core::PutAction& put) const {
    batch.records.push_back({.space = Space::Action,
                             .key = std::string(put.action->id().bytes()),
                             .value = encode(*put.action),
                             .index = index_of(*put.action)});
  }
  void operator()(const core::PutAgent& put) const {
    batch.records.push_back({.space = Space::Agent,
                             .key = put.agent->identity.name,
                             .value = encode(*put.agent),
                             .index = std::nullopt});
  }
  void operator()(const core::PutIdempotency& put) const {
    batch.records.push_back(
        {.space = Space::Idempotency, .key = put.key, .value = encode(put), .index = std::nullopt});
  }
  void operator()(const core::DropIdempotency& drop) const {
    batch.records.push_back({.space = Space::Idempotency,
                             .key = drop.key,
                             .value = std::nullopt,
                             .index = std::nullopt});
  }
  void operator()(const core::AppendEvent& append) const {
    batch.events.push_back(
        {.seq = append.event.seq, .at = append.event.at, .value = encode(append.event)});
  }
  void operator()(const core::PutPlan& write) const { append_plan(batch, write); }
  void operator()(const core::DropPlan& write) const { append_plan(batch, write); }
  template <typename ModelWrite>
  void operator()(const ModelWrite& write) const {
    append_model(batch, write);
  }
};

}  // namespace

void append(Batch& batch, const core::Write& write) { std::visit(Appender{batch}, write); }

void append(Batch& batch, const core::agent::JournalWrite& write) {
  if (const auto* put = std::get_if<core::agent::PutEntry>(&write)) {
    batch.records.push_back({.space = Space::Journal,
                             .key = std::string(put->entry->id.bytes()),
                             .value = encode(*put->entry),
                             .index = std::nullopt});
    return;
  }
  batch.records.push_back({.space = Space::Journal,
                           .key = std::string(std::get<core::agent::DropEntry>(write).id.bytes()),
                           .value = std::nullopt,
                           .index = std::nullopt});
}

}  // namespace muster::store
