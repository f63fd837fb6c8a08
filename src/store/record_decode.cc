#include <limits>
#include <memory>
#include <utility>

#include "record.pb.h"
#include "store/record_codec.h"
#include "store/record_decoder.h"

namespace muster::store {
namespace {

namespace wire = record::v1;

core::ActionSpec take_spec(Decoder& decoder, wire::ActionSpec& in) {
  core::ActionSpec spec;
  spec.id = decoder.id(in.id(), "id");
  spec.seq = decoder.sequence(in.seq(), "seq");
  spec.name = std::move(*in.mutable_name());
  spec.kind = std::move(*in.mutable_kind());
  spec.target = std::move(*in.mutable_target());
  spec.side = decoder.enumeration(in.side(), core::Side::Agent, "side");
  spec.origin = decoder.enumeration(in.origin(), core::Origin::Agent, "origin");
  spec.cause = decoder.enumeration(in.cause(), core::Cause::DerivedAction, "cause");
  if (in.has_parent()) spec.parent = decoder.id(in.parent(), "parent");
  spec.requested_by = std::move(*in.mutable_requested_by());
  spec.inputs = std::move(*in.mutable_inputs());
  spec.context = std::move(*in.mutable_context());
  spec.depends_on = decoder.ids(in.depends_on(), "depends_on");
  spec.timeout = Duration{in.timeout()};
  spec.queue_timeout = Duration{in.queue_timeout()};
  spec.interval = Duration{in.interval()};
  spec.misfire = decoder.enumeration(in.misfire(), core::Misfire::RunOnce, "misfire");
  spec.not_before = Timestamp{in.not_before()};
  spec.not_after = Timestamp{in.not_after()};
  spec.retry.attempts = in.retry_attempts();
  spec.retry.backoff.initial = Duration{in.retry_backoff_initial()};
  spec.retry.backoff.max = Duration{in.retry_backoff_max()};
  if (in.has_approval()) {
    spec.approval = core::ApprovalPolicy{.count = in.approval().count(),
                                         .allow_requester = in.approval().allow_requester(),
                                         .expires_in = Duration{in.approval().expires_in()}};
  }
  spec.plan = std::move(*in.mutable_plan());
  spec.task = std::move(*in.mutable_task());
  spec.created_at = Timestamp{in.created_at()};
  return spec;
}

core::Action take_action(Decoder& decoder, wire::Action& in) {
  core::Action action;
  action.revision = in.revision();
  action.status = decoder.enumeration(in.status(), core::Status::Lost, "status");
  action.status_reason = std::move(*in.mutable_status_reason());
  action.status_since = Timestamp{in.status_since()};
  action.control = decoder.enumeration(in.control(), core::Signal::Resume, "control");
  action.control_reason = std::move(*in.mutable_control_reason());
  action.owner = std::move(*in.mutable_owner());
  action.attempt = in.attempt();
  action.attempt_floor = in.attempt_floor();
  action.tries = in.tries();
  action.runs = in.runs();
  action.sent = in.sent();
  action.sent_journal = std::move(*in.mutable_sent_journal());
  action.next_try = Timestamp{in.next_try()};
  action.deadline = Timestamp{in.deadline()};
  action.suspended_since = Timestamp{in.suspended_since()};
  action.start_time = Timestamp{in.start_time()};
  action.stop_time = Timestamp{in.stop_time()};
  action.updated_at = Timestamp{in.updated_at()};
  action.outputs = std::move(*in.mutable_outputs());
  action.data = std::move(*in.mutable_data());
  action.depends_on_left = decoder.ids(in.depends_on_left(), "depends_on_left");
  action.depended_by = decoder.ids(in.depended_by(), "depended_by");
  action.decisions.reserve(static_cast<std::size_t>(in.decisions_size()));
  for (wire::ApprovalDecision& decision : *in.mutable_decisions()) {
    action.decisions.push_back({.who = std::move(*decision.mutable_who()),
                                .approved = decision.approved(),
                                .reason = std::move(*decision.mutable_reason()),
                                .at = Timestamp{decision.at()}});
  }
  return action;
}

core::AgentIdentity take_identity(wire::Agent& in) {
  core::AgentIdentity identity;
  identity.name = std::move(*in.mutable_name());
  identity.journal_id = std::move(*in.mutable_journal_id());
  identity.instance_id = std::move(*in.mutable_instance_id());
  for (wire::Label& label : *in.mutable_labels()) {
    identity.labels.emplace(std::move(*label.mutable_name()), std::move(*label.mutable_value()));
  }
  for (std::string& kind : *in.mutable_kinds()) identity.kinds.push_back(std::move(kind));
  identity.facts.os = std::move(*in.mutable_os());
  identity.facts.os_version = std::move(*in.mutable_os_version());
  identity.facts.arch = std::move(*in.mutable_arch());
  identity.facts.kernel = std::move(*in.mutable_kernel());
  identity.facts.hostname = std::move(*in.mutable_hostname());
  for (std::string& address : *in.mutable_addresses()) {
    identity.facts.addresses.push_back(std::move(address));
  }
  identity.facts.version = std::move(*in.mutable_version());
  return identity;
}

}  // namespace

Result<core::ActionPtr> decode_action(std::string_view bytes) {
  Decoder decoder("action");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::Action>(bytes));
  if (!message.has_spec()) {
    return fail(ErrorCode::DecodeFailed, "action record, spec: is missing");
  }
  auto action = std::make_shared<core::Action>(take_action(decoder, message));
  action->spec =
      std::make_shared<const core::ActionSpec>(take_spec(decoder, *message.mutable_spec()));
  return decoder.finish<core::ActionPtr>(std::move(action));
}

Result<core::AgentPtr> decode_agent(std::string_view bytes) {
  Decoder decoder("agent");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::Agent>(bytes));
  auto agent = std::make_shared<core::Agent>();
  agent->identity = take_identity(message);
  agent->revision = message.revision();
  agent->state = decoder.enumeration(message.state(), core::AgentState::Offline, "state");
  agent->state_reason = std::move(*message.mutable_state_reason());
  agent->state_since = Timestamp{message.state_since()};
  agent->registered_at = Timestamp{message.registered_at()};
  agent->last_seen = Timestamp{message.last_seen()};
  return decoder.finish<core::AgentPtr>(std::move(agent));
}

Result<core::Event> decode_event(std::string_view bytes) {
  Decoder decoder("event");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::Event>(bytes));
  core::Event event;
  event.seq = decoder.sequence(message.seq(), "seq");
  event.at = Timestamp{message.at()};
  event.type = std::move(*message.mutable_type());
  event.subject = std::move(*message.mutable_subject());
  event.name = std::move(*message.mutable_name());
  event.kind = std::move(*message.mutable_kind());
  event.target = std::move(*message.mutable_target());
  event.status = std::move(*message.mutable_status());
  event.reason = std::move(*message.mutable_reason());
  event.actor = std::move(*message.mutable_actor());
  event.revision = message.revision();
  return decoder.finish(std::move(event));
}

Result<core::PutIdempotency> decode_idempotency(std::string_view bytes) {
  Decoder decoder("idempotency");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::Idempotency>(bytes));
  core::PutIdempotency idempotency;
  idempotency.key = std::move(*message.mutable_key());
  idempotency.digest = std::move(*message.mutable_digest());
  idempotency.actions = decoder.ids(message.actions(), "actions");
  idempotency.expires_at = Timestamp{message.expires_at()};
  idempotency.revision = message.revision();
  return decoder.finish(std::move(idempotency));
}

Result<core::JournalEntryPtr> decode_journal_entry(std::string_view bytes) {
  Decoder decoder("journal");
  MUSTER_TRY_ASSIGN(auto message, decoder.parse<wire::JournalEntry>(bytes));
  auto entry = std::make_shared<core::JournalEntry>();
  entry->id = decoder.id(message.id(), "id");
  entry->attempt = message.attempt();
  entry->seq = decoder.sequence(message.seq(), "seq");
  entry->origin = decoder.enumeration(message.origin(), core::Origin::Agent, "origin");
  entry->name = std::move(*message.mutable_name());
  entry->kind = std::move(*message.mutable_kind());
  entry->inputs = std::move(*message.mutable_inputs());
  entry->timeout = Duration{message.timeout()};
  entry->requested_by = std::move(*message.mutable_requested_by());
  entry->created_at = Timestamp{message.created_at()};
  entry->start_before = Timestamp{message.start_before()};
  entry->status = decoder.enumeration(message.status(), core::Status::Lost, "status");
  entry->result = decoder.enumeration(message.result(), core::ExecuteResult::Timeout, "result");
  entry->reason = std::move(*message.mutable_reason());
  entry->control = decoder.enumeration(message.control(), core::Signal::Resume, "control");
  entry->control_reason = std::move(*message.mutable_control_reason());
  entry->start_time = Timestamp{message.start_time()};
  entry->stop_time = Timestamp{message.stop_time()};
  entry->outputs = std::move(*message.mutable_outputs());
  entry->acked = message.acked();
  return decoder.finish<core::JournalEntryPtr>(std::move(entry));
}

}  // namespace muster::store
