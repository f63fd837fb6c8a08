#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/action/action.h"
#include "core/agent/journal_entry.h"
#include "store/store.h"

// What is on the simulated disks, as the checkers see it. Fed with the batches that the disks have
// applied and with nothing else, so that no error of the system can reach into it.

namespace muster::sim {

// The actions in the controller's store.
class RecordView {
 public:
  struct Change {
    core::ActionPtr before;  // null: new
    core::ActionPtr after;   // null: deleted
    bool same_bytes = false;
  };
  // Applies a batch and answers how each action in it changed.
  std::vector<Change> apply(const store::Batch& batch);

  core::ActionPtr find(const core::ActionId& id) const;
  const std::map<core::ActionId, core::ActionPtr>& all() const { return actions_; }
  std::uint64_t last_event() const { return last_event_; }

 private:
  std::map<core::ActionId, core::ActionPtr> actions_;
  std::map<core::ActionId, std::string> bytes_;
  std::uint64_t last_event_ = 0;
};

// The journal of one agent.
class JournalView {
 public:
  void apply(const store::Batch& batch);
  // The journal is gone; a new one begins.
  void lose();

  core::JournalEntryPtr find(const core::ActionId& id) const;
  // It was acknowledged, and the agent has forgotten it since.
  bool was_forgotten(const core::ActionId& id, std::uint32_t attempt) const;
  // A journal that is gone had it, whatever the one of now has.
  bool was_lost(const core::ActionId& id) const { return lost_.contains(id); }
  const std::map<core::ActionId, core::JournalEntryPtr>& all() const { return entries_; }
  std::uint64_t epoch() const { return epoch_; }  // grows with each lost journal

 private:
  std::map<core::ActionId, core::JournalEntryPtr> entries_;
  std::map<core::ActionId, std::uint32_t> forgotten_;  // the newest attempt
  std::set<core::ActionId> lost_;
  std::uint64_t epoch_ = 0;
};

}  // namespace muster::sim
