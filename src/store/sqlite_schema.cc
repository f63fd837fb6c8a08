#include "store/sqlite_schema.h"

#include <array>
#include <string_view>

#include "base/check.h"
#include "store/file_io.h"

namespace muster::store {
namespace {

// An index entry ends in the row's seq by itself, so that each index below yields the order
// (column, seq) in both directions, which is what a page of a sorted list needs.
//
// The column `value` comes last: everything that filters and sorts lies before it, so that large
// records do not have to be read for either.
constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE meta(
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO meta(name, value) VALUES('term', 0), ('probe', 0);

CREATE TABLE actions(
  seq INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  live INTEGER NOT NULL,
  name TEXT NOT NULL,
  target TEXT NOT NULL,
  action TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  value BLOB NOT NULL
);
CREATE INDEX actions_live ON actions(seq) WHERE live = 1;
CREATE INDEX actions_by_name ON actions(name);
CREATE INDEX actions_by_target ON actions(target);
CREATE INDEX actions_by_action ON actions(action);
CREATE INDEX actions_by_status ON actions(status);
CREATE INDEX actions_by_created_at ON actions(created_at);
CREATE INDEX actions_by_updated_at ON actions(updated_at);
CREATE INDEX actions_by_finished_at ON actions(finished_at);

CREATE TABLE records(
  space INTEGER NOT NULL,
  key BLOB NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY(space, key)
) WITHOUT ROWID;

CREATE TABLE events(
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  value BLOB NOT NULL
);

CREATE TABLE quarantine(
  entry INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,
  key BLOB NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  problem TEXT NOT NULL,
  value BLOB NOT NULL
);
CREATE INDEX quarantine_by_key ON quarantine(space, key);

CREATE TABLE scratch(
  id INTEGER PRIMARY KEY,
  value BLOB NOT NULL
);
)sql";

// Entry n takes a store from version n to version n + 1. Entries are only ever added.
constexpr std::array<std::string_view, static_cast<std::size_t>(kSchemaVersion)> kMigrations = {
    kVersion1,
};

// With the zero byte at its end.
constexpr std::string_view kDatabaseMagic("SQLite format 3\0", 16);

tl::unexpected<Error> corrupt(const std::string& path, std::string_view problem) {
  return fail(ErrorCode::StoreCorrupt, "store '{}' {}; {}", path, problem, kRestoreAdvice);
}

Result<void> fill_new_file(const std::string& path) {
  MUSTER_TRY_ASSIGN(auto database, Database::open(path, OpenMode::ReadWriteCreate));
  MUSTER_TRY(database.exec("PRAGMA synchronous = FULL"));
  MUSTER_TRY(migrate(database, 0));
  return {};
}

}  // namespace

Result<void> create_store_file(const std::string& path) {
  const std::string fresh = path + ".new";
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    MUSTER_TRY(remove_file(fresh + suffix));
  }
  if (auto filled = fill_new_file(fresh); !filled) {
    return fail(describe_open_error(std::move(filled.error()), path));
  }
  MUSTER_TRY(sync_file(fresh));
  return move_to_new_file(fresh, path);
}

bool looks_like_database(const std::string& path) {
  return read_beginning(path, kDatabaseMagic.size()) == kDatabaseMagic;
}

Result<std::int64_t> check_identity(Database& database, const std::string& path) {
  auto application = database.scalar("PRAGMA application_id");
  if (!application) return fail(describe_open_error(std::move(application.error()), path));
  if (*application != kApplicationId) {
    return corrupt(path, "is an SQLite database, but not a store of muster");
  }
  auto version = database.scalar("PRAGMA user_version");
  if (!version) return fail(describe_open_error(std::move(version.error()), path));
  if (*version > kSchemaVersion) {
    return fail(ErrorCode::StoreNewer,
                "store '{}' has schema version {}, this program reads up to version {}; use the "
                "newer muster that wrote it, or restore a backup of this version",
                path, *version, kSchemaVersion);
  }
  if (*version < 1) {
    return corrupt(path, fmt::format("has the impossible schema version {}", *version));
  }
  return *version;
}

Result<void> check_integrity(Database& database, const std::string& path) {
  const auto check = [&]() -> Result<std::string> {
    MUSTER_TRY_ASSIGN(auto statement, database.prepare("PRAGMA quick_check(1)"));
    MUSTER_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return std::string("no answer");
    return std::string(statement.column_bytes(0));
  };
  auto answer = check();
  if (!answer) return fail(describe_open_error(std::move(answer.error()), path));
  if (*answer != "ok") return corrupt(path, fmt::format("is damaged ({})", *answer));
  return {};
}

Result<void> migrate(Database& database, std::int64_t version) {
  if (version >= kSchemaVersion) return {};
  MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_write(database));
  for (auto step = static_cast<std::size_t>(version); step < kMigrations.size(); ++step) {
    MUSTER_TRY(database.exec(std::string(kMigrations[step])));
  }
  MUSTER_TRY(database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId)));
  MUSTER_TRY(database.exec(fmt::format("PRAGMA user_version = {}", kSchemaVersion)));
  return transaction.commit();
}

Result<void> configure_writer(Database& database) {
  {
    MUSTER_TRY_ASSIGN(auto mode, database.prepare("PRAGMA journal_mode = WAL"));
    MUSTER_TRY_ASSIGN(const bool row, mode.step());
    if (!row || mode.column_bytes(0) != "wal") {
      return fail(ErrorCode::StoreUnavailable,
                  "the file system does not support a write-ahead log; put the store on a local "
                  "disk");
    }
  }
  // The log is copied into the file every 16 MiB instead of every 4: fewer, longer pauses of the
  // committing thread and less writing in all. After a burst the log shrinks to 64 MiB again.
  return database.exec(
      "PRAGMA synchronous = FULL;"
      "PRAGMA wal_autocheckpoint = 4096;"
      "PRAGMA journal_size_limit = 67108864;"
      "PRAGMA cache_size = -65536;"
      "PRAGMA temp_store = MEMORY;");
}

Result<void> configure_reader(Database& database) {
  return database.exec(
      "PRAGMA query_only = ON;"
      "PRAGMA cache_size = -8192;"
      "PRAGMA temp_store = MEMORY;");
}

Result<Term> read_term(Database& database) {
  MUSTER_TRY_ASSIGN(auto select, database.use("SELECT value FROM meta WHERE name = 'term'"));
  MUSTER_TRY_ASSIGN(const bool row, select->step());
  if (!row) return fail(ErrorCode::StoreCorrupt, "the store has no term; {}", kRestoreAdvice);
  return select->column_uint(0);
}

Result<void> write_term(Database& database, Term term) {
  MUSTER_TRY_ASSIGN(auto update, database.use("UPDATE meta SET value = ?1 WHERE name = 'term'"));
  update->bind(1, term);
  return update->run();
}

std::int64_t space_code(Space space) {
  switch (space) {
    case Space::Action:
      return 1;
    case Space::Agent:
      return 2;
    case Space::Idempotency:
      return 3;
    case Space::Journal:
      return 4;
    case Space::Meta:
      return 5;
    case Space::Item:
      return 6;
    case Space::Revision:
      return 7;
    case Space::RevisionPart:
      return 8;
    case Space::Plan:
      return 9;
    case Space::PlanPart:
      return 10;
  }
  MUSTER_CHECK(false, "unknown space {}", static_cast<int>(space));
  return 0;
}

Result<Space> space_of_code(std::int64_t code) {
  for (const Space space :
       {Space::Action, Space::Agent, Space::Idempotency, Space::Journal, Space::Meta, Space::Item,
        Space::Revision, Space::RevisionPart, Space::Plan, Space::PlanPart}) {
    if (space_code(space) == code) return space;
  }
  return fail(ErrorCode::StoreCorrupt, "the store has a record in the unknown space {}", code);
}

Error describe_open_error(Error error, const std::string& path) {
  const std::string subject = fmt::format("store '{}'", path);
  switch (error.code) {
    case ErrorCode::StoreCorrupt:
      error.message = fmt::format("{} is damaged or not a store ({}); {}", subject, error.message,
                                  kRestoreAdvice);
      return error;
    case ErrorCode::StoreLocked:
      error.message = fmt::format("{} is locked by another program ({}); close that program",
                                  subject, error.message);
      return error;
    default:
      return std::move(error).wrap(subject);
  }
}

}  // namespace muster::store
