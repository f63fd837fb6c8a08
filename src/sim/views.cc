#include "sim/views.h"

#include <algorithm>

#include "base/check.h"
#include "store/record_codec.h"

namespace muster::sim {

std::vector<RecordView::Change> RecordView::apply(const store::Batch& batch) {
  std::vector<Change> changes;
  for (const store::RecordWrite& write : batch.records) {
    if (write.space != store::Space::Action) continue;
    const auto id = core::ActionId::from_bytes(write.key);
    Change change{.before = find(id), .after = nullptr, .same_bytes = false};
    if (write.value) {
      auto decoded = store::decode_action(*write.value);
      MUSTER_CHECK(decoded, "the store was given a record that cannot be decoded: {}",
                   decoded.error().message);
      change.after = std::move(*decoded);
      change.same_bytes = bytes_[id] == *write.value;
      bytes_[id] = *write.value;
      actions_[id] = change.after;
    } else {
      actions_.erase(id);
      bytes_.erase(id);
    }
    changes.push_back(std::move(change));
  }
  for (const store::EventRow& event : batch.events) last_event_ = std::max(last_event_, event.seq);
  return changes;
}

core::ActionPtr RecordView::find(const core::ActionId& id) const {
  const auto found = actions_.find(id);
  return found == actions_.end() ? nullptr : found->second;
}

void JournalView::apply(const store::Batch& batch) {
  for (const store::RecordWrite& write : batch.records) {
    if (write.space != store::Space::Journal) continue;
    const auto id = core::ActionId::from_bytes(write.key);
    if (!write.value) {
      const auto entry = find(id);
      if (entry && entry->is_final()) forgotten_[id] = entry->attempt;
      entries_.erase(id);
      continue;
    }
    auto decoded = store::decode_journal_entry(*write.value);
    MUSTER_CHECK(decoded, "a journal was given an entry that cannot be decoded: {}",
                 decoded.error().message);
    entries_[id] = std::move(*decoded);
  }
}

void JournalView::lose() {
  for (const auto& [id, entry] : entries_) lost_.insert(id);
  entries_.clear();
  forgotten_.clear();
  ++epoch_;
}

bool JournalView::was_forgotten(const core::ActionId& id, std::uint32_t attempt) const {
  const auto found = forgotten_.find(id);
  return found != forgotten_.end() && found->second >= attempt;
}

core::JournalEntryPtr JournalView::find(const core::ActionId& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second;
}

}  // namespace muster::sim
