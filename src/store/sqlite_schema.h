#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/sqlite.h"
#include "store/store.h"

// What a store file looks like inside, how one comes to be, how an older one becomes a current one,
// and how a file that is none of ours, damaged or newer is told apart. All errors name the file and
// say what to do.

namespace muster::store {

// Ends the message of an error StoreCorrupt. Whoever keeps something without backups in a store
// puts advice of its own in its place.
inline constexpr std::string_view kRestoreAdvice =
    "restore a backup with 'muster restore FILE --data-dir DIR'";

// "Must" in the header of the file, where file(1) and sqlite3(1) show it.
inline constexpr std::int64_t kApplicationId = 0x4d757374;
inline constexpr std::int64_t kSchemaVersion = 1;

// Makes a complete, empty store at `path` in one step: after a crash there is either none or all of
// it. REQUIRES: there is no file at `path`.
Result<void> create_store_file(const std::string& path);

// Whether the file begins like an SQLite database. Asked before SQLite opens a file: SQLite would
// already begin to settle the log beside it. REQUIRES: no connection to the file in this process.
bool looks_like_database(const std::string& path);

// Whether this is a store that this program can read; answers its schema version. Errors:
// StoreCorrupt (no store of ours), StoreNewer.
Result<std::int64_t> check_identity(Database& database, const std::string& path);

// Reads the whole file and checks its structure. Errors: StoreCorrupt.
Result<void> check_integrity(Database& database, const std::string& path);

// Takes the store step by step from `version` to kSchemaVersion, in one transaction.
Result<void> migrate(Database& database, std::int64_t version);

// Journal and durability of a connection that writes.
Result<void> configure_writer(Database& database);
// A connection that refuses to write.
Result<void> configure_reader(Database& database);

Result<Term> read_term(Database& database);
// REQUIRES: inside a write transaction.
Result<void> write_term(Database& database, Term term);

// The number under which a space lies in the file.
std::int64_t space_code(Space space);
Result<Space> space_of_code(std::int64_t code);

// Adds the path, and for damage the advice, to an error of opening.
Error describe_open_error(Error error, const std::string& path);

}  // namespace muster::store
