#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/agent/agent_io.h"
#include "store/store.h"

namespace muster::agent {

// The agent's memory: its entries in Space::Journal under their 16-byte ids, and in Space::Meta the
// journal's own id and the highest term of a controller that was seen.
//
// The id is made with the journal. It tells a controller whether the agent still remembers what it
// was sent: with a new id, what the old journal had is lost.
//
// Owned by one thread; `store` is borrowed. A record that cannot be decoded is quarantined and
// logged: one bad record must not keep a host from working.
class Journal {
 public:
  // Takes the store over and loads everything. Errors are the store's.
  static Result<Journal> open(store::Store& store, Timestamp now,
                              const std::function<std::uint64_t()>& random);

  const std::string& id() const { return id_; }
  std::uint64_t controller_term() const { return controller_term_; }
  std::size_t quarantined() const { return quarantined_; }
  // What was loaded, until it is taken.
  const std::vector<core::JournalEntryPtr>& entries() const { return entries_; }
  std::vector<core::JournalEntryPtr> take_entries() { return std::move(entries_); }

  // Applies the writes in order, and the new term if there is one, all or nothing; durable when it
  // returns. Errors as Store::commit.
  Result<void> commit(const std::vector<core::agent::JournalWrite>& writes,
                      std::optional<std::uint64_t> controller_term);

 private:
  Journal(store::Store& store, store::Term term) : store_(&store), term_(term) {}

  Result<void> load_settings(const std::function<std::uint64_t()>& random);
  Result<void> load_entries(Timestamp now);

  store::Store* store_;
  store::Term term_;
  std::string id_;
  std::uint64_t controller_term_ = 0;
  std::size_t quarantined_ = 0;
  std::vector<core::JournalEntryPtr> entries_;
};

}  // namespace muster::agent
