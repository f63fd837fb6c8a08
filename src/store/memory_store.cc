#include "store/memory_store.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/check.h"
#include "base/uuid.h"
#include "store/action_order.h"

namespace muster::store {

void MemoryStore::set_fault_hook(FaultHook hook) {
  const std::lock_guard lock(mutex_);
  fault_hook_ = std::move(hook);
}

Result<std::unique_ptr<MemoryStore>> MemoryStore::open_backup(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = backups_.find(path);
  if (found == backups_.end()) {
    return fail(ErrorCode::NotFound, "there is no backup '{}'", path);
  }
  auto store = std::make_unique<MemoryStore>();
  store->state_ = found->second;
  return store;
}

void MemoryStore::set_applied_hook(AppliedHook hook) {
  const std::lock_guard lock(mutex_);
  applied_hook_ = std::move(hook);
}

bool MemoryStore::settle_late(bool apply) {
  const std::lock_guard lock(mutex_);
  return settle_late_locked(apply);
}

bool MemoryStore::settle_late_locked(bool apply) {
  if (!late_) return false;
  const Batch batch = std::move(*late_);
  late_.reset();
  if (!apply || batch.term != state_.term) return false;
  apply_and_tell(batch);
  return true;
}

void MemoryStore::apply_and_tell(const Batch& batch) {
  apply(state_, batch);
  if (applied_hook_) applied_hook_(batch, state_.term);
}

Result<Term> MemoryStore::acquire_term() {
  const std::lock_guard lock(mutex_);
  settle_late_locked(false);
  return ++state_.term;
}

Result<void> MemoryStore::commit(const Batch& batch) {
  const std::lock_guard lock(mutex_);
  settle_late_locked(true);
  const CommitFault fault = fault_hook_ ? fault_hook_(batch) : CommitFault::None;
  if (fault == CommitFault::Refuse) {
    return fail(ErrorCode::StoreUnavailable, "the store refuses writes (injected fault)");
  }
  if (fault == CommitFault::TimeoutLost) {
    return fail(ErrorCode::Unavailable, "the store did not answer (injected fault)");
  }
  if (fault == CommitFault::Fence) ++state_.term;
  if (state_.term != batch.term && !planted(bug_, Bug::FenceIgnored)) {
    return fail(ErrorCode::Fenced, "the store is at term {}, this writer has term {}", state_.term,
                batch.term);
  }
  if (fault == CommitFault::ApplyLate) {
    late_ = batch;
    return fail(ErrorCode::Unavailable, "the store did not answer (injected fault)");
  }
  apply_and_tell(batch);
  if (fault == CommitFault::TimeoutApplied) {
    return fail(ErrorCode::Unavailable, "the store did not answer (injected fault)");
  }
  return {};
}

void MemoryStore::apply(State& state, const Batch& batch) const {
  for (const RecordWrite& write : batch.records) {
    if (write.space != Space::Action) {
      if (write.value) {
        state.records[{write.space, write.key}] = *write.value;
      } else {
        state.records.erase({write.space, write.key});
      }
      continue;
    }
    MUSTER_CHECK(write.key.size() == Uuid::kSize, "the key of an action has {} bytes, not {}",
                 Uuid::kSize, write.key.size());
    erase_action(state, write.key);
    if (!write.value) continue;
    MUSTER_CHECK(write.index.has_value(), "an action is written without its index entry");
    state.actions[write.key] = {*write.index, *write.value};
    const bool fresh = state.ids.emplace(write.index->seq, write.key).second;
    MUSTER_CHECK(fresh || planted(bug_, Bug::FenceIgnored),
                 "two actions have the sequence number {}", write.index->seq);
  }
  for (const EventRow& event : batch.events) state.events[event.seq] = {event.at, event.value};
}

void MemoryStore::erase_action(State& state, const std::string& id) {
  const auto found = state.actions.find(id);
  if (found == state.actions.end()) return;
  state.ids.erase(found->second.index.seq);
  state.actions.erase(found);
}

Result<RecordPage> MemoryStore::load(Space space, std::string_view after_key, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  if (space == Space::Action) return load_actions(after_key, limit);
  RecordPage page;
  auto at = state_.records.upper_bound({space, std::string(after_key)});
  for (; at != state_.records.end() && at->first.first == space; ++at) {
    if (page.records.size() == limit) {
      page.more = true;
      break;
    }
    page.records.push_back({at->first.second, at->second});
  }
  return page;
}

Result<RecordPage> MemoryStore::load_actions(std::string_view after_key, std::size_t limit) const {
  auto at = state_.ids.begin();
  if (!after_key.empty()) {
    if (after_key.size() != Uuid::kSize) {
      return fail(ErrorCode::InvalidMarker, "the key has {} bytes, an id has {}", after_key.size(),
                  Uuid::kSize);
    }
    const auto action = state_.actions.find(after_key);
    // An action that was quarantined since still has its place.
    const auto gone = std::find_if(
        state_.quarantine.begin(), state_.quarantine.end(), [&](const Quarantined& item) {
          return item.entry.space == Space::Action && item.entry.key == after_key;
        });
    if (action == state_.actions.end() && gone == state_.quarantine.end()) {
      return fail(unknown_marker(after_key));
    }
    at = state_.ids.upper_bound(action != state_.actions.end() ? action->second.index.seq
                                                               : gone->seq);
  }
  RecordPage page;
  for (; at != state_.ids.end(); ++at) {
    const StoredAction& action = state_.actions.at(at->second);
    if (!action.index.live) continue;
    if (page.records.size() == limit) {
      page.more = true;
      break;
    }
    page.records.push_back({at->second, action.value});
  }
  return page;
}

Result<std::optional<std::string>> MemoryStore::get(Space space, std::string_view key) {
  const std::lock_guard lock(mutex_);
  std::optional<std::string> value;
  if (space == Space::Action) {
    const auto found = state_.actions.find(key);
    if (found != state_.actions.end()) value = found->second.value;
  } else {
    const auto found = state_.records.find({space, std::string(key)});
    if (found != state_.records.end()) value = found->second;
  }
  return value;
}

Result<std::vector<Record>> MemoryStore::query_actions(const ActionQuery& query) {
  MUSTER_TRY(check_query(query));
  const std::lock_guard lock(mutex_);
  const std::vector<SortTerm> order = total_order(query.sort);
  const ActionIndex* marker = nullptr;
  if (!query.marker.empty()) {
    const auto found = state_.actions.find(query.marker);
    if (found == state_.actions.end()) return fail(unknown_marker(query.marker));
    marker = &found->second.index;
  }
  using Entry = std::map<std::string, StoredAction, std::less<>>::const_pointer;
  std::vector<Entry> entries;
  for (const auto& entry : state_.actions) {
    if (!matches(query.filter, entry.second.index)) continue;
    if (marker != nullptr && !comes_before(order, *marker, entry.second.index)) continue;
    entries.push_back(&entry);
  }
  const auto count = std::min(query.limit, entries.size());
  std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count),
                    entries.end(), [&](Entry left, Entry right) {
                      return comes_before(order, left->second.index, right->second.index);
                    });
  std::vector<Record> records;
  records.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const StoredAction& action = entries[i]->second;
    records.push_back({entries[i]->first, action.value, action.index.seq});
  }
  return records;
}

Result<std::vector<Record>> MemoryStore::find_actions_by_name(std::string_view name,
                                                              std::size_t limit) {
  ActionQuery query;
  query.filter.names = {std::string(name)};
  query.sort = {{SortKey::Seq, true}};
  query.limit = limit;
  return query_actions(query);
}

Result<std::vector<Record>> MemoryStore::find_actions_by_prefix(std::string_view prefix,
                                                                std::size_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<Record> records;
  const std::optional<IdRange> range = id_range_of_prefix(prefix);
  if (!range) return records;
  const auto end = state_.actions.upper_bound(range->last);
  for (auto at = state_.actions.lower_bound(range->first); at != end && records.size() < limit;
       ++at) {
    records.push_back({at->first, at->second.value});
  }
  return records;
}

Result<EventPage> MemoryStore::events(std::uint64_t after, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  EventPage page;
  if (state_.events.empty()) return page;
  page.first_kept = state_.events.begin()->first;
  page.last = state_.events.rbegin()->first;
  for (auto at = state_.events.upper_bound(after);
       at != state_.events.end() && page.events.size() < limit; ++at) {
    page.events.push_back({at->first, at->second.at, at->second.value});
  }
  return page;
}

Result<std::size_t> MemoryStore::purge(const Retention& retention, Timestamp now,
                                       std::size_t limit) {
  const std::lock_guard lock(mutex_);
  const Timestamp oldest_kept = now - retention.age_max;
  const std::size_t actions = purge_actions(state_, retention, oldest_kept, limit);
  return actions + purge_events(state_, retention, oldest_kept, limit - actions);
}

std::size_t MemoryStore::purge_actions(State& state, const Retention& retention,
                                       Timestamp oldest_kept, std::size_t limit) {
  std::vector<std::pair<Timestamp, std::uint64_t>> finished;
  std::uint64_t count = 0;
  for (const auto& [id, action] : state.actions) {
    if (action.index.live) continue;
    ++count;
    if (action.index.finished_at > Timestamp{}) {
      finished.emplace_back(action.index.finished_at, action.index.seq);
    }
  }
  std::sort(finished.begin(), finished.end());
  const std::uint64_t surplus = count > retention.count_max ? count - retention.count_max : 0;
  std::size_t removed = 0;
  for (const auto& [finished_at, seq] : finished) {
    if (removed == limit || (finished_at >= oldest_kept && removed >= surplus)) break;
    erase_action(state, std::string(state.ids.at(seq)));
    ++removed;
  }
  return removed;
}

std::size_t MemoryStore::purge_events(State& state, const Retention& retention,
                                      Timestamp oldest_kept, std::size_t limit) {
  const std::uint64_t total = state.events.size();
  const std::uint64_t surplus = total > retention.events_max ? total - retention.events_max : 0;
  std::size_t removed = 0;
  // The newest event stays, because it tells the next controller how to number on.
  while (removed < limit && state.events.size() > 1) {
    const auto oldest = state.events.begin();
    if (oldest->second.at >= oldest_kept && removed >= surplus) break;
    state.events.erase(oldest);
    ++removed;
  }
  return removed;
}

Result<void> MemoryStore::quarantine(Space space, std::string_view key, std::string_view problem,
                                     Timestamp now) {
  const std::lock_guard lock(mutex_);
  Quarantined item{{space, std::string(key), {}, std::string(problem), now}, 0};
  const auto action = state_.actions.find(key);
  const auto record = state_.records.find({space, std::string(key)});
  if (space == Space::Action && action != state_.actions.end()) {
    item.entry.value = action->second.value;
    item.seq = action->second.index.seq;
    erase_action(state_, std::string(key));
  } else if (space != Space::Action && record != state_.records.end()) {
    item.entry.value = record->second;
    state_.records.erase(record);
  } else {
    return fail(ErrorCode::NotFound, "there is no record with this key to quarantine");
  }
  state_.quarantine.push_back(std::move(item));
  return {};
}

Result<std::vector<QuarantineEntry>> MemoryStore::quarantined(std::size_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<QuarantineEntry> entries;
  for (const Quarantined& item : state_.quarantine) {
    if (entries.size() == limit) break;
    entries.push_back(item.entry);
  }
  return entries;
}

Result<StoreStats> MemoryStore::stats() {
  const std::lock_guard lock(mutex_);
  StoreStats stats;
  for (const auto& [id, action] : state_.actions) {
    ++(action.index.live ? stats.actions_live : stats.actions_finished);
    stats.bytes += action.value.size();
  }
  for (const auto& [key, value] : state_.records) stats.bytes += value.size();
  for (const auto& [seq, event] : state_.events) stats.bytes += event.value.size();
  stats.events = state_.events.size();
  stats.quarantined = state_.quarantine.size();
  return stats;
}

Result<void> MemoryStore::probe() {
  const std::lock_guard lock(mutex_);
  const CommitFault fault = fault_hook_ ? fault_hook_(Batch{}) : CommitFault::None;
  switch (fault) {
    case CommitFault::None:
      return {};
    case CommitFault::Refuse:
      return fail(ErrorCode::StoreUnavailable, "the store refuses writes (injected fault)");
    case CommitFault::TimeoutApplied:
    case CommitFault::TimeoutLost:
    case CommitFault::ApplyLate:
      return fail(ErrorCode::Unavailable, "the store did not answer (injected fault)");
    case CommitFault::Fence:
      ++state_.term;
      return {};
  }
  return {};
}

Result<void> MemoryStore::backup(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!backups_.emplace(path, state_).second) {
    return fail(ErrorCode::Conflict, "backup '{}' exists already; choose another name", path);
  }
  return {};
}

}  // namespace muster::store
