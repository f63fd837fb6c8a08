#include "store/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>

#include "base/check.h"
#include "store/sqlite_wal_file.h"

namespace muster::store {
namespace {

// How long a statement waits for a lock that another connection holds. Inside one server only
// checkpoints get in each other's way; beyond that it is a foreign process.
constexpr int kBusyTimeoutMs = 1000;

ErrorCode error_code(int extended) {
  if (extended == SQLITE_IOERR_FSYNC || extended == SQLITE_IOERR_DIR_FSYNC) {
    return ErrorCode::Unavailable;
  }
  switch (extended & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
      return ErrorCode::StoreUnavailable;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::StoreLocked;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::StoreCorrupt;
    default:
      return ErrorCode::Internal;
  }
}

// The store holds what actions are given and print. SQLite gives its other files the mode of this
// one. Done by name: closing a descriptor of a file that SQLite has open would drop its locks.
void keep_private(const std::string& path, bool create) {
  constexpr mode_t kPrivate = 0600;
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISREG(info.st_mode) && (info.st_mode & 077) != 0) ::chmod(path.c_str(), kPrivate);
    return;
  }
  if (!create || path.empty() || path == ":memory:") return;
  // What fails here fails again, with its reason, when SQLite opens the file.
  const int fresh = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kPrivate);
  if (fresh >= 0) ::close(fresh);
}

tl::unexpected<Error> sqlite_fail(sqlite3* database, int result) {
  const int extended = database != nullptr ? sqlite3_extended_errcode(database) : result;
  const char* message = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(result);
  return fail(error_code(extended), "sqlite: {} (code {})", message, extended);
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int parameter, std::int64_t value) {
  const int result = sqlite3_bind_int64(statement_.get(), parameter, value);
  MUSTER_CHECK(result == SQLITE_OK, "parameter {}: {}", parameter, sqlite3_errstr(result));
}

void Statement::bind(int parameter, std::uint64_t value) {
  MUSTER_CHECK(value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()),
               "number {} does not fit a signed column", value);
  bind(parameter, static_cast<std::int64_t>(value));
}

void Statement::bind_text(int parameter, std::string_view value) {
  const char* data = value.data() != nullptr ? value.data() : "";
  const int result = sqlite3_bind_text64(statement_.get(), parameter, data, value.size(),
                                         SQLITE_STATIC, SQLITE_UTF8);
  MUSTER_CHECK(result == SQLITE_OK, "parameter {}: {}", parameter, sqlite3_errstr(result));
}

void Statement::bind_blob(int parameter, std::string_view value) {
  // A null pointer would bind NULL instead of an empty blob.
  const char* data = value.data() != nullptr ? value.data() : "";
  const int result =
      sqlite3_bind_blob64(statement_.get(), parameter, data, value.size(), SQLITE_STATIC);
  MUSTER_CHECK(result == SQLITE_OK, "parameter {}: {}", parameter, sqlite3_errstr(result));
}

Result<bool> Statement::step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  auto error = sqlite_fail(database_, result);
  reset();
  return error;
}

Result<void> Statement::run() {
  while (true) {
    MUSTER_TRY_ASSIGN(const bool row, step());
    if (!row) break;
  }
  reset();
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::column_int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::uint64_t Statement::column_uint(int column) const {
  return static_cast<std::uint64_t>(column_int(column));
}

std::string_view Statement::column_bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<Database> Database::open(const std::string& path, OpenMode mode) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (mode == OpenMode::ReadWriteCreate) flags |= SQLITE_OPEN_CREATE;
  keep_private(path, mode == OpenMode::ReadWriteCreate);
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(path.c_str(), &handle, flags, gathering_file_system());
  Database database(handle);
  if (result != SQLITE_OK) return sqlite_fail(handle, result);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

Result<void> Database::exec(const std::string& sql) {
  const int result = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return sqlite_fail(database_.get(), result);
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        0, &statement, nullptr);
  if (result != SQLITE_OK) return sqlite_fail(database_.get(), result);
  return Statement(database_.get(), statement);
}

Result<UsedStatement> Database::use(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    MUSTER_TRY_ASSIGN(auto statement, prepare(sql));
    found = statements_.emplace(sql, std::move(statement)).first;
  }
  return UsedStatement(found->second);
}

Result<std::int64_t> Database::scalar(std::string_view sql) {
  MUSTER_TRY_ASSIGN(auto statement, prepare(sql));
  MUSTER_TRY_ASSIGN(const bool row, statement.step());
  if (!row) return fail(ErrorCode::Internal, "sqlite: no row from '{}'", sql);
  return statement.column_int(0);
}

std::int64_t Database::changes() const { return sqlite3_changes64(database_.get()); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

Result<void> Database::copy_from(Database& source) {
  sqlite3_backup* backup =
      sqlite3_backup_init(database_.get(), "main", source.database_.get(), "main");
  if (backup == nullptr) return sqlite_fail(database_.get(), SQLITE_ERROR);
  // One step: a single read transaction on the source, so writers that go on meanwhile neither
  // wait nor make the copy start again.
  const int stepped = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (stepped != SQLITE_DONE) {
    return fail(error_code(stepped), "sqlite: {} (code {})", sqlite3_errstr(stepped), stepped);
  }
  if (finished != SQLITE_OK) return sqlite_fail(database_.get(), finished);
  return {};
}

Result<Transaction> Transaction::begin_write(Database& database) {
  MUSTER_TRY_ASSIGN(auto begin, database.use("BEGIN IMMEDIATE"));
  MUSTER_TRY(begin->run());
  return Transaction(database);
}

Result<Transaction> Transaction::begin_read(Database& database) {
  MUSTER_TRY_ASSIGN(auto begin, database.use("BEGIN DEFERRED"));
  MUSTER_TRY(begin->run());
  return Transaction(database);
}

Transaction::~Transaction() {
  // After some errors (a full disk among them) SQLite has rolled back by itself.
  if (database_ == nullptr || !database_->in_transaction()) return;
  auto rollback = database_->use("ROLLBACK");
  if (rollback) (void)(*rollback)->run();
}

Result<void> Transaction::commit() {
  MUSTER_TRY_ASSIGN(auto commit, database_->use("COMMIT"));
  MUSTER_TRY(commit->run());
  database_ = nullptr;
  return {};
}

}  // namespace muster::store
