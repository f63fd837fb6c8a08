#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

// The one place that calls SQLite: connections and statements as values that close themselves,
// and errors as Result. Neither class is thread-safe; a connection belongs to one thread at a time.
//
// Errors: StoreUnavailable for a full disk, I/O errors and files that cannot be opened or written;
// Unavailable when the disk failed to confirm a commit, so that its outcome is unknown; StoreLocked
// when another connection holds the lock; StoreCorrupt for a damaged file or no database at all;
// Internal for everything that only a wrong statement can cause.

namespace muster::store {

// One prepared statement. Parameters and columns count from 1 and from 0, as in SQLite. Bound text
// and blobs are not copied: they must live until the statement was stepped to its end or reset.
class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}

  void bind(int parameter, std::int64_t value);
  void bind(int parameter, std::uint64_t value);  // REQUIRES: value < 2^63
  void bind_text(int parameter, std::string_view value);
  void bind_blob(int parameter, std::string_view value);

  // True: there is a row. False: done.
  Result<bool> step();
  // For a statement without rows: steps to the end and resets.
  Result<void> run();
  // Ready to be bound and stepped again.
  void reset();

  std::int64_t column_int(int column) const;
  std::uint64_t column_uint(int column) const;
  // Valid until the next step or reset.
  std::string_view column_bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  sqlite3* database_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// A cached statement in use; resets it at the end, because a statement in the middle of its rows
// keeps its read transaction open.
class UsedStatement {
 public:
  explicit UsedStatement(Statement& statement) : statement_(&statement) {}
  UsedStatement(UsedStatement&& other) noexcept : statement_(std::exchange(other.statement_, {})) {}
  UsedStatement& operator=(UsedStatement&&) = delete;
  ~UsedStatement() {
    if (statement_ != nullptr) statement_->reset();
  }

  Statement* operator->() const { return statement_; }
  Statement& operator*() const { return *statement_; }

 private:
  Statement* statement_;
};

enum class OpenMode : std::uint8_t { ReadWrite, ReadWriteCreate };

class Database {
 public:
  static Result<Database> open(const std::string& path, OpenMode mode);

  Result<void> exec(const std::string& sql);
  // For statements whose text is made for one use.
  Result<Statement> prepare(std::string_view sql);
  // For statements with a constant text: prepared once per connection. REQUIRES: `sql` lives for
  // ever, and no other use of the same text is going on.
  Result<UsedStatement> use(std::string_view sql);
  // The first column of the first row; an error if there is no row.
  Result<std::int64_t> scalar(std::string_view sql);

  // Rows that the last INSERT, UPDATE or DELETE changed.
  std::int64_t changes() const;
  bool in_transaction() const;
  // Copies all of `source`, as it is now, over this database.
  Result<void> copy_from(Database& source);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  explicit Database(sqlite3* database) : database_(database) {}

  std::unique_ptr<sqlite3, Close> database_;
  // After the connection, so that they are finalized before it is closed.
  std::unordered_map<std::string_view, Statement> statements_;
};

// Rolls back unless commit() succeeded.
class Transaction {
 public:
  // BEGIN IMMEDIATE takes the write lock at once, so that what is read inside is still true at the
  // commit. Deferred is for a consistent view over several reads.
  static Result<Transaction> begin_write(Database& database);
  static Result<Transaction> begin_read(Database& database);

  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, {})) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace muster::store
