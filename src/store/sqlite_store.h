#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/sqlite.h"
#include "store/sqlite_pool.h"
#include "store/store.h"
#include "store/store_lock.h"

namespace muster::store {

struct SqliteStoreOptions {
  std::string path;
  bool create = true;       // if there is none yet; otherwise NotFound
  bool check = true;        // read the whole file at the start and refuse a damaged one
  std::size_t readers = 4;  // reads that can go on at the same time
};

// The embedded store: one SQLite file with a write-ahead log. A commit is one transaction and
// returns after the log was synced to the disk; reads go on meanwhile on connections of their own.
//
// Ownership: the object holds the lock of the file (StoreLock) for its whole life; nobody else can
// open the store meanwhile. Threading: as Store says; what writes without being the committer
// (probe, quarantine, acquire_term) may be called from any thread and waits for its turn.
//
// Failure: an error leaves the store as it was before the call, and usable once its cause is gone.
//
// stats() counts live actions in their own small index; the other numbers are kept in memory, from
// one count at the start.
class SqliteStore final : public Store {
 public:
  // Errors: NotFound, StoreLocked, StoreCorrupt, StoreNewer, StoreUnavailable, IoError, all with
  // what to do.
  static Result<std::unique_ptr<SqliteStore>> open(SqliteStoreOptions options);
  ~SqliteStore() override;

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
  Result<void> backup(const std::string& path) override;

  // For tests: refuses to let the file grow beyond this many pages, as a full disk would. 0: no
  // bound.
  Result<void> limit_pages(std::uint64_t pages);

 private:
  SqliteStore(SqliteStoreOptions options, StoreLock lock);

  Result<void> open_connections();
  Result<void> apply_records(Database& database, const Batch& batch, std::int64_t& actions_added);
  Result<void> apply_events(Database& database, const Batch& batch, std::int64_t& events_added);
  Result<std::size_t> purge_actions(Database& database, const Retention& retention, Timestamp now,
                                    std::size_t limit);
  Result<std::size_t> purge_events(Database& database, const Retention& retention, Timestamp now,
                                   std::size_t limit);

  // Constant after open().
  const SqliteStoreOptions options_;
  StoreLock lock_;

  ConnectionPool writer_;  // one connection: the one writer
  ConnectionPool readers_;

  // Written while the writer is held, read at any time.
  std::atomic<std::int64_t> actions_total_ = 0;
  std::atomic<std::int64_t> events_total_ = 0;
  std::atomic<std::uint64_t> events_last_ = 0;
};

}  // namespace muster::store
