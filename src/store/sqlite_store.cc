#include "store/sqlite_store.h"

#include <algorithm>
#include <utility>

#include "store/file_io.h"
#include "store/sqlite_schema.h"

namespace muster::store {
namespace {

Result<void> check_files(const SqliteStoreOptions& options) {
  const std::string& path = options.path;
  if (file_exists(path)) {
    if (looks_like_database(path)) return {};
    if (file_size(path) > 0) {
      return fail(describe_open_error({ErrorCode::StoreCorrupt, "no SQLite header"}, path));
    }
    return fail(ErrorCode::StoreCorrupt,
                "store '{}' is an empty file; restore a backup with 'muster restore FILE "
                "--data-dir DIR', or "
                "remove the file to begin with an empty store",
                path);
  }
  if (!options.create) return fail(ErrorCode::NotFound, "store '{}' does not exist", path);
  // A log without its file would be replayed into whatever file is put there next.
  if (file_size(path + "-wal") > 0) {
    return fail(ErrorCode::StoreCorrupt,
                "store '{}' is missing, but its write-ahead log '{}-wal' is there; put the file "
                "back, or restore a backup with 'muster restore FILE --data-dir DIR'",
                path, path);
  }
  return create_store_file(path);
}

}  // namespace

SqliteStore::SqliteStore(SqliteStoreOptions options, StoreLock lock)
    : options_(std::move(options)), lock_(std::move(lock)) {}

SqliteStore::~SqliteStore() {
  // The last connection to close folds the log into the file, so it should be the one that can
  // write.
  readers_.clear();
  writer_.clear();
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteStoreOptions options) {
  if (options.path.empty()) {
    return fail(ErrorCode::InvalidValue, "the path of the store is empty");
  }
  MUSTER_TRY_ASSIGN(auto lock, StoreLock::take(options.path));
  MUSTER_TRY(check_files(options));
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(options), std::move(lock)));
  MUSTER_TRY(store->open_connections());
  return store;
}

Result<void> SqliteStore::open_connections() {
  const std::string& path = options_.path;
  const auto describe = [&](Result<void> result) -> Result<void> {
    if (!result) return fail(describe_open_error(std::move(result.error()), path));
    return {};
  };
  auto opened = Database::open(path, OpenMode::ReadWrite);
  if (!opened) return fail(describe_open_error(std::move(opened.error()), path));
  Database writer = std::move(*opened);
  MUSTER_TRY_ASSIGN(const std::int64_t version, check_identity(writer, path));
  MUSTER_TRY(describe(configure_writer(writer)));
  if (options_.check) MUSTER_TRY(check_integrity(writer, path));
  MUSTER_TRY(describe(migrate(writer, version)));
  MUSTER_TRY(describe([&]() -> Result<void> {
    MUSTER_TRY_ASSIGN(actions_total_, writer.scalar("SELECT count(*) FROM actions"));
    MUSTER_TRY_ASSIGN(events_total_, writer.scalar("SELECT count(*) FROM events"));
    MUSTER_TRY_ASSIGN(const std::int64_t last,
                      writer.scalar("SELECT coalesce(max(seq), 0) FROM events"));
    events_last_ = static_cast<std::uint64_t>(last);
    return {};
  }()));
  writer_.add(std::move(writer));
  for (std::size_t i = 0; i < std::max<std::size_t>(options_.readers, 1); ++i) {
    auto reader = Database::open(path, OpenMode::ReadWrite);
    if (!reader) return fail(describe_open_error(std::move(reader.error()), path));
    MUSTER_TRY(describe(configure_reader(*reader)));
    readers_.add(std::move(*reader));
  }
  return {};
}

Result<void> SqliteStore::backup(const std::string& path) {
  if (file_exists(path)) {
    return fail(ErrorCode::Conflict, "file '{}' exists already; choose another name", path);
  }
  const std::string partial = path + ".partial";
  const auto remove_partial = [&] {
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
      (void)remove_file(partial + suffix);
    }
  };
  const auto copy = [&]() -> Result<void> {
    MUSTER_TRY_ASSIGN(auto source, Database::open(options_.path, OpenMode::ReadWrite));
    MUSTER_TRY(configure_reader(source));
    MUSTER_TRY_ASSIGN(auto target, Database::open(partial, OpenMode::ReadWriteCreate));
    // The copy is synced as a whole below, and worthless until then.
    MUSTER_TRY(target.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF"));
    MUSTER_TRY(target.copy_from(source));
    // One plain file, without a log that could be left behind. The copy says of itself that it has
    // one; the connection must have noticed that to end it.
    MUSTER_TRY(target.scalar("SELECT count(*) FROM sqlite_schema"));
    return target.exec("PRAGMA journal_mode = DELETE");
  };
  remove_partial();
  Result<void> done = copy();
  if (done) done = sync_file(partial);
  if (done) done = move_to_new_file(partial, path);
  if (!done) {
    remove_partial();
    return fail(std::move(done.error()).wrap(fmt::format("backup to '{}'", path)));
  }
  return {};
}

}  // namespace muster::store
