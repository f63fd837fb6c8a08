#include "sim/check_final.h"

#include <fmt/format.h>

namespace muster::sim {

using core::Status;

namespace {

// An action of the agent's own under the same id says nothing of the one in the record.
bool is_another(const core::ActionSpec& spec, const core::JournalEntry& entry) {
  if (entry.origin != core::Origin::Agent) return false;
  return spec.origin != core::Origin::Agent || spec.kind != entry.kind ||
         spec.inputs != entry.inputs;
}

}  // namespace

Wrong check_final(const RecordView::Change& change) {
  if (!change.before || !change.before->is_final() || change.same_bytes) return std::nullopt;
  if (!change.after) return std::nullopt;
  const bool found_again = change.before->status == Status::Lost && change.after->is_final();
  if (found_again) return std::nullopt;
  return fmt::format("action {} was {} and is now {} ({})", change.before->id().to_string(),
                     core::name(change.before->status), core::name(change.after->status),
                     change.after->status_reason);
}

Wrong check_lost(const RecordView::Change& change, const JournalView& journal) {
  if (!change.after || change.after->status != Status::Lost || change.same_bytes) {
    return std::nullopt;
  }
  const auto entry = journal.find(change.after->id());
  if (!entry || entry->attempt != change.after->attempt || entry->acked) return std::nullopt;
  if (journal.was_lost(change.after->id())) return std::nullopt;
  if (is_another(*change.after->spec, *entry)) return std::nullopt;
  return fmt::format("action {} is LOST, but the journal of agent '{}' has it as {}",
                     change.after->id().to_string(), change.after->spec->target,
                     core::name(entry->status));
}

}  // namespace muster::sim
