#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/planted_bug.h"
#include "base/result.h"
#include "store/store.h"

namespace muster::store {

// What happens to a commit of a MemoryStore.
enum class CommitFault : std::uint8_t {
  None,
  Refuse,          // StoreUnavailable, as with a full disk
  TimeoutApplied,  // Unavailable, but the batch was applied
  TimeoutLost,     // Unavailable, and the batch was not applied
  ApplyLate,       // Unavailable; the batch is applied by settle_late(), or never
  Fence,           // another writer takes over just before: Fenced
};

// A store in memory, for tests and the simulator: deterministic, without files or clocks, and with
// faults on demand. It forgets everything with the object; a simulated crash keeps the object and
// drops whoever used it. Lists are sorted anew each time, so it is not made for large histories.
//
// Thread-safe.
class MemoryStore final : public Store {
 public:
  // Asked before each commit, with its batch, and before each probe, with an empty one. Runs under
  // the store's lock: it must not call the store.
  using FaultHook = std::function<CommitFault(const Batch&)>;

  explicit MemoryStore(Bug bug = Bug::None) : bug_(bug) {}

  void set_fault_hook(FaultHook hook);
  // Told of each batch that is applied, with the highest term that was given out. Under the lock.
  using AppliedHook = std::function<void(const Batch&, Term)>;
  void set_applied_hook(AppliedHook hook);

  // Decides what became of a batch with CommitFault::ApplyLate: applied now, unless another writer
  // has the store since, or lost. Whatever comes after it decides as well: the next commit finds it
  // applied, a new writer finds it lost. Answers whether it was applied.
  bool settle_late(bool apply);

  // The store as it was when backup(path) ran; NotFound if there is no such backup. The new store
  // knows of no backups and has no hook.
  Result<std::unique_ptr<MemoryStore>> open_backup(const std::string& path) const;

  Result<Term> acquire_term() override;
  Result<void> commit(const Batch& batch) override;

  Result<RecordPage> load(Space space, std::string_view after_key, std::size_t limit) override;
  Result<std::optional<std::string>> get(Space space, std::string_view key) override;
  Result<std::vector<Record>> query_actions(const ActionQuery& query) override;
  Result<std::vector<Record>> find_actions_by_name(std::string_view name,
                                                   std::size_t limit) override;
  Result<std::vector<Record>> find_actions_by_prefix(std::string_view prefix,
                                                     std::size_t limit) override;
  Result<EventPage> events(std::uint64_t after, std::size_t limit) override;

  Result<std::size_t> purge(const Retention& retention, Timestamp now, std::size_t limit) override;
  Result<void> quarantine(Space space, std::string_view key, std::string_view problem,
                          Timestamp now) override;
  Result<std::vector<QuarantineEntry>> quarantined(std::size_t limit) override;

  Result<StoreStats> stats() override;
  Result<void> probe() override;
  // Kept inside this object, under `path` as a name; see open_backup().
  Result<void> backup(const std::string& path) override;

 private:
  struct StoredAction {
    ActionIndex index;
    std::string value;
  };
  struct StoredEvent {
    Timestamp at;
    std::string value;
  };
  struct Quarantined {
    QuarantineEntry entry;
    std::uint64_t seq = 0;  // of an action
  };
  struct State {
    Term term = 0;
    std::map<std::string, StoredAction, std::less<>> actions;  // by id
    std::map<std::uint64_t, std::string> ids;                  // of all actions, by seq
    std::map<std::pair<Space, std::string>, std::string> records;
    std::map<std::uint64_t, StoredEvent> events;
    std::vector<Quarantined> quarantine;
  };

  void apply(State& state, const Batch& batch) const;
  static void erase_action(State& state, const std::string& id);
  static std::size_t purge_actions(State& state, const Retention& retention, Timestamp oldest_kept,
                                   std::size_t limit);
  static std::size_t purge_events(State& state, const Retention& retention, Timestamp oldest_kept,
                                  std::size_t limit);
  Result<RecordPage> load_actions(std::string_view after_key, std::size_t limit) const;
  void apply_and_tell(const Batch& batch);
  bool settle_late_locked(bool apply);

  const Bug bug_;
  mutable std::mutex mutex_;
  // Protected by mutex_.
  State state_;
  std::map<std::string, State> backups_;
  FaultHook fault_hook_;
  AppliedHook applied_hook_;
  std::optional<Batch> late_;
};

}  // namespace muster::store
