#include "sim/check_durable.h"

#include <fmt/format.h>

namespace muster::sim {
namespace {

using core::Status;

Wrong check_revision(const RecordView& records, const core::Action& told, std::string_view what) {
  const auto stored = records.find(told.id());
  if (!stored) {
    return fmt::format("{} of action {} left before the action was stored", what,
                       told.id().to_string());
  }
  if (stored->revision >= told.revision) return std::nullopt;
  return fmt::format("{} of action {} left at revision {}, the store has {}", what,
                     told.id().to_string(), told.revision, stored->revision);
}

Wrong check_ack(const RecordView& records, const std::string& agent, const core::SendAck& ack) {
  const auto stored = records.find(ack.id);
  if (!stored) {
    return fmt::format("the end of action {} was acknowledged to its agent, the store has nothing",
                       ack.id.to_string());
  }
  // An id of two owners: what the agent has is not what is recorded here.
  if (stored->spec->side != core::Side::Agent || stored->spec->target != agent) return std::nullopt;
  if (stored->is_final() || stored->attempt > ack.attempt) return std::nullopt;
  return fmt::format("the end of attempt {} of action {} was acknowledged, the store has {}",
                     ack.attempt, ack.id.to_string(), core::name(stored->status));
}

Wrong check_told(const JournalView& journal, const core::AgentAction& told) {
  const auto entry = journal.find(told.id);
  if (journal.was_forgotten(told.id, told.attempt)) return std::nullopt;
  if (!entry || entry->attempt < told.attempt) {
    return fmt::format("attempt {} of action {} was reported as {}, the journal does not have it",
                       told.attempt, told.id.to_string(), core::name(told.status));
  }
  if (entry->attempt > told.attempt) return std::nullopt;
  const bool behind = (core::is_final(told.status) && entry->status != told.status) ||
                      (told.status != Status::New && entry->status == Status::New);
  if (!behind) return std::nullopt;
  return fmt::format("attempt {} of action {} was reported as {}, the journal has {}", told.attempt,
                     told.id.to_string(), core::name(told.status), core::name(entry->status));
}

}  // namespace

Wrong check_durable(const RecordView& records, const core::Reply& reply) {
  if (const auto* submit = std::get_if<core::SubmitReply>(&reply.body)) {
    for (const auto& action : submit->actions) {
      if (auto wrong = check_revision(records, *action, "the acknowledgement")) return wrong;
    }
    for (const auto& id : submit->replayed) {
      if (!records.find(id)) {
        return fmt::format("an answer repeats action {}, which is not stored", id.to_string());
      }
    }
  }
  if (const auto* one = std::get_if<core::ActionReply>(&reply.body)) {
    return check_revision(records, *one->action, "the acknowledgement");
  }
  return std::nullopt;
}

Wrong check_durable(const RecordView& records, const std::string& agent,
                    const core::AgentSend& send) {
  if (const auto* schedule = std::get_if<core::SendSchedule>(&send.message)) {
    return check_revision(records, *schedule->action, "a schedule");
  }
  if (const auto* ack = std::get_if<core::SendAck>(&send.message))
    return check_ack(records, agent, *ack);
  return std::nullopt;
}

Wrong check_durable(const RecordView& records, const core::StartJob& job) {
  return check_revision(records, *job.action, "a job");
}

Wrong check_durable(const RecordView& records, const core::Event& event) {
  if (event.seq <= records.last_event()) return std::nullopt;
  return fmt::format("event {} was published, the last that is stored is {}", event.seq,
                     records.last_event());
}

Wrong check_durable(const JournalView& journal, const core::agent::AgentMessage& message) {
  if (const auto* report = std::get_if<core::agent::SendReport>(&message)) {
    return check_told(journal, report->action);
  }
  for (const auto& told : std::get<core::agent::SendSyncPage>(message).actions) {
    if (auto wrong = check_told(journal, told)) return wrong;
  }
  return std::nullopt;
}

Wrong check_durable(const JournalView& journal, const core::agent::LocalReply& reply) {
  const auto* entry = std::get_if<core::JournalEntryPtr>(&reply.body);
  if (entry == nullptr || journal.find((*entry)->id)) return std::nullopt;
  return fmt::format("the agent's own action {} was acknowledged, the journal does not have it",
                     (*entry)->id.to_string());
}

Wrong check_durable_start(const JournalView& journal, const core::ActionId& id,
                          std::uint32_t attempt) {
  const auto entry = journal.find(id);
  if (entry && entry->attempt == attempt && entry->status != Status::New) return std::nullopt;
  return fmt::format("attempt {} of action {} started, the journal has {}", attempt, id.to_string(),
                     entry ? core::name(entry->status) : "nothing");
}

}  // namespace muster::sim
