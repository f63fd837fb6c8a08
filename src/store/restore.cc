#include "store/restore.h"

#include <algorithm>
#include <utility>

#include "store/file_io.h"
#include "store/sqlite.h"
#include "store/sqlite_schema.h"
#include "store/store_lock.h"

namespace muster::store {
namespace {

constexpr int kKeptStoresMax = 1000;

void remove_database(const std::string& path) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) (void)remove_file(path + suffix);
}

// Folds the log of the old store into its file, so that the file alone is all of it, and answers
// its term. A store that is too damaged for that keeps its log beside it; its term is unknown, 0.
Term settle_old_store(const std::string& path) {
  if (!looks_like_database(path)) return 0;
  auto database = Database::open(path, OpenMode::ReadWrite);
  if (!database || !check_identity(*database, path)) return 0;
  const auto term = read_term(*database);
  (void)database->exec("PRAGMA wal_checkpoint(TRUNCATE)");
  return term.value_or(0);
}

Result<void> prepare_copy(const std::string& copy, const std::string& backup_file, Term old_term,
                          Timestamp now) {
  auto opened = Database::open(copy, OpenMode::ReadWrite);
  if (!opened) return fail(describe_open_error(std::move(opened.error()), backup_file));
  Database database = std::move(*opened);
  MUSTER_TRY_ASSIGN(const std::int64_t version, check_identity(database, backup_file));
  MUSTER_TRY(check_integrity(database, backup_file));
  MUSTER_TRY(database.exec("PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE"));
  MUSTER_TRY(migrate(database, version));
  MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_write(database));
  MUSTER_TRY_ASSIGN(const Term term, read_term(database));
  // Terms grow by one with each start, so that seconds are always ahead of them.
  const Term clock = now.us > 0 ? static_cast<Term>(now.us / 1'000'000) : 0;
  MUSTER_TRY(write_term(database, std::max(std::max(term, old_term) + 1, clock)));
  return transaction.commit();
}

// A second name for the old store; its own name is then taken over in one step.
Result<void> keep_old_store(const std::string& path) {
  for (int n = 1; n <= kKeptStoresMax; ++n) {
    const std::string kept = fmt::format("{}.before-restore-{}", path, n);
    if (file_exists(kept) || file_exists(kept + "-wal")) continue;
    if (file_exists(path)) MUSTER_TRY(link_file(path, kept));
    if (file_size(path + "-wal") > 0) MUSTER_TRY(link_file(path + "-wal", kept + "-wal"));
    return {};
  }
  return fail(ErrorCode::Conflict, "there are {} files '{}.before-restore-N' already; remove some",
              kKeptStoresMax, path);
}

Result<void> exchange(const std::string& backup_file, const std::string& copy,
                      const std::string& path, Timestamp now) {
  const Term old_term = settle_old_store(path);
  if (auto prepared = prepare_copy(copy, backup_file, old_term, now); !prepared) {
    return fail(std::move(prepared.error()).wrap("this backup cannot be used, take another one"));
  }
  MUSTER_TRY(sync_file(copy));
  MUSTER_TRY(keep_old_store(path));
  // The log of the old store must not be replayed into the new one.
  for (const char* suffix : {"-wal", "-shm", "-journal"}) MUSTER_TRY(remove_file(path + suffix));
  return replace_file(copy, path);
}

}  // namespace

Result<void> restore_store(const std::string& backup_file, const std::string& store_path,
                           Timestamp now) {
  if (!file_exists(backup_file)) {
    return fail(ErrorCode::NotFound, "backup '{}' does not exist", backup_file);
  }
  MUSTER_TRY_ASSIGN(const auto lock, StoreLock::take(store_path));
  const std::string copy = store_path + ".restoring";
  remove_database(copy);
  Result<void> done = copy_file(backup_file, copy);
  if (done) done = exchange(backup_file, copy, store_path, now);
  if (!done) remove_database(copy);
  return done;
}

}  // namespace muster::store
