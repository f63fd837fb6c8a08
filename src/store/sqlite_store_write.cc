#include <algorithm>
#include <limits>
#include <string_view>

#include "base/check.h"
#include "base/uuid.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_store.h"

namespace muster::store {
namespace {

constexpr Duration kWriterTimeout = Duration::seconds(30);
// A readiness check should rather say "no" than wait long.
constexpr Duration kProbeTimeout = Duration::seconds(3);

// SQLite's own bound on the size of a file.
constexpr std::uint64_t kPagesMax = 1'073'741'823;

// What changes in the life of an action. The other columns are compared instead of set, because
// SQLite rewrites the index of every column that is set, changed or not.
constexpr std::string_view kUpdateState =
    "UPDATE actions SET live = ?1, status = ?2, updated_at = ?3, finished_at = ?4, value = ?5 "
    "WHERE seq = ?6 AND id = ?7 AND name = ?8 AND target = ?9 AND action = ?10 "
    "AND created_at = ?11";
constexpr std::string_view kInsertAction =
    "INSERT INTO actions(live, status, updated_at, finished_at, value, seq, id, name, target, "
    "action, created_at) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) "
    "ON CONFLICT(id) DO NOTHING";
constexpr std::string_view kReplaceAction =
    "UPDATE actions SET live = ?1, status = ?2, updated_at = ?3, finished_at = ?4, value = ?5, "
    "seq = ?6, name = ?8, target = ?9, action = ?10, created_at = ?11 WHERE id = ?7";
constexpr std::string_view kDeleteAction = "DELETE FROM actions WHERE id = ?1";
constexpr std::string_view kPutRecord =
    "INSERT INTO records(space, key, value) VALUES(?1, ?2, ?3) "
    "ON CONFLICT(space, key) DO UPDATE SET value = excluded.value";
constexpr std::string_view kDeleteRecord = "DELETE FROM records WHERE space = ?1 AND key = ?2";
constexpr std::string_view kPutEvent =
    "INSERT OR REPLACE INTO events(seq, at, value) VALUES(?1, ?2, ?3)";

// While the store is open, a lock can only be that of a foreign program that looks into the file:
// a passing trouble, like a full disk.
Error as_runtime_error(Error error) {
  if (error.code == ErrorCode::StoreLocked) error.code = ErrorCode::StoreUnavailable;
  return error;
}

template <typename T>
Result<T> at_runtime(Result<T> result) {
  if (!result) return fail(as_runtime_error(std::move(result.error())));
  return result;
}

void bind_action(Statement& statement, std::string_view id, std::string_view value,
                 const ActionIndex& index) {
  statement.bind(1, std::int64_t{index.live ? 1 : 0});
  statement.bind_text(2, index.status);
  statement.bind(3, index.updated_at.us);
  statement.bind(4, index.finished_at.us);
  statement.bind_blob(5, value);
  statement.bind(6, index.seq);
  statement.bind_blob(7, id);
  statement.bind_text(8, index.name);
  statement.bind_text(9, index.target);
  statement.bind_text(10, index.action);
  statement.bind(11, index.created_at.us);
}

// Answers the change in the number of actions.
Result<std::int64_t> apply_action(Database& database, const RecordWrite& write) {
  MUSTER_CHECK(write.key.size() == Uuid::kSize, "the key of an action has {} bytes, not {}",
               Uuid::kSize, write.key.size());
  if (!write.value) {
    MUSTER_TRY_ASSIGN(auto remove, database.use(kDeleteAction));
    remove->bind_blob(1, write.key);
    MUSTER_TRY(remove->run());
    return -database.changes();
  }
  MUSTER_CHECK(write.index.has_value(), "an action is written without its index entry");
  for (const std::string_view sql : {kUpdateState, kInsertAction, kReplaceAction}) {
    MUSTER_TRY_ASSIGN(auto statement, database.use(sql));
    bind_action(*statement, write.key, *write.value, *write.index);
    MUSTER_TRY(statement->run());
    if (database.changes() == 0) continue;
    return std::int64_t{sql == kInsertAction ? 1 : 0};
  }
  return fail(ErrorCode::Internal, "action {} could be neither inserted nor updated",
              Uuid::from_bytes(write.key).to_string());
}

Result<void> apply_record(Database& database, const RecordWrite& write) {
  if (!write.value) {
    MUSTER_TRY_ASSIGN(auto remove, database.use(kDeleteRecord));
    remove->bind(1, space_code(write.space));
    remove->bind_blob(2, write.key);
    return remove->run();
  }
  MUSTER_TRY_ASSIGN(auto put, database.use(kPutRecord));
  put->bind(1, space_code(write.space));
  put->bind_blob(2, write.key);
  put->bind_blob(3, *write.value);
  return put->run();
}

Result<bool> event_exists(Database& database, std::uint64_t seq) {
  MUSTER_TRY_ASSIGN(auto select, database.use("SELECT 1 FROM events WHERE seq = ?1"));
  select->bind(1, seq);
  return select->step();
}

std::int64_t sql_rows(std::uint64_t limit) {
  return static_cast<std::int64_t>(
      std::min(limit, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

}  // namespace

Result<Term> SqliteStore::acquire_term() {
  const auto acquire = [this]() -> Result<Term> {
    MUSTER_TRY_ASSIGN(auto lease, writer_.acquire(kWriterTimeout));
    MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_write(*lease));
    MUSTER_TRY_ASSIGN(const Term stored, read_term(*lease));
    MUSTER_TRY(write_term(*lease, stored + 1));
    MUSTER_TRY(transaction.commit());
    return stored + 1;
  };
  return at_runtime(acquire());
}

Result<void> SqliteStore::commit(const Batch& batch) {
  const auto apply = [&]() -> Result<void> {
    MUSTER_TRY_ASSIGN(auto lease, writer_.acquire(kWriterTimeout));
    MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_write(*lease));
    MUSTER_TRY_ASSIGN(const Term stored, read_term(*lease));
    if (stored != batch.term) {
      return fail(ErrorCode::Fenced, "the store is at term {}, this writer has term {}", stored,
                  batch.term);
    }
    std::int64_t actions_added = 0;
    std::int64_t events_added = 0;
    MUSTER_TRY(apply_records(*lease, batch, actions_added));
    MUSTER_TRY(apply_events(*lease, batch, events_added));
    MUSTER_TRY(transaction.commit());
    actions_total_ += actions_added;
    events_total_ += events_added;
    if (!batch.events.empty()) {
      events_last_ = std::max(events_last_.load(), batch.events.back().seq);
    }
    return {};
  };
  return at_runtime(apply());
}

Result<void> SqliteStore::apply_records(Database& database, const Batch& batch,
                                        std::int64_t& actions_added) {
  for (const RecordWrite& write : batch.records) {
    if (write.space == Space::Action) {
      MUSTER_TRY_ASSIGN(const std::int64_t added, apply_action(database, write));
      actions_added += added;
    } else {
      MUSTER_TRY(apply_record(database, write));
    }
  }
  return {};
}

Result<void> SqliteStore::apply_events(Database& database, const Batch& batch,
                                       std::int64_t& events_added) {
  std::uint64_t last = events_last_;
  for (const EventRow& event : batch.events) {
    // Only a batch that is applied again has events that are there already.
    bool replaces = false;
    if (event.seq <= last) {
      MUSTER_TRY_ASSIGN(replaces, event_exists(database, event.seq));
    }
    MUSTER_TRY_ASSIGN(auto put, database.use(kPutEvent));
    put->bind(1, event.seq);
    put->bind(2, event.at.us);
    put->bind_blob(3, event.value);
    MUSTER_TRY(put->run());
    events_added += replaces ? 0 : 1;
    last = std::max(last, event.seq);
  }
  return {};
}

Result<std::size_t> SqliteStore::purge(const Retention& retention, Timestamp now,
                                       std::size_t limit) {
  const auto apply = [&]() -> Result<std::size_t> {
    MUSTER_TRY_ASSIGN(auto lease, writer_.acquire(kWriterTimeout));
    MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_write(*lease));
    MUSTER_TRY_ASSIGN(const std::size_t actions, purge_actions(*lease, retention, now, limit));
    MUSTER_TRY_ASSIGN(const std::size_t events,
                      purge_events(*lease, retention, now, limit - actions));
    if (actions + events == 0) return 0;
    MUSTER_TRY(transaction.commit());
    actions_total_ -= static_cast<std::int64_t>(actions);
    events_total_ -= static_cast<std::int64_t>(events);
    return actions + events;
  };
  return at_runtime(apply());
}

Result<std::size_t> SqliteStore::purge_actions(Database& database, const Retention& retention,
                                               Timestamp now, std::size_t limit) {
  MUSTER_TRY_ASSIGN(auto live, database.use("SELECT count(*) FROM actions INDEXED BY actions_live "
                                            "WHERE live = 1"));
  MUSTER_TRY(live->step());
  const auto finished = static_cast<std::uint64_t>(actions_total_ - live->column_int(0));
  const std::uint64_t surplus = finished > retention.count_max ? finished - retention.count_max : 0;

  // Walks the finished ones from the oldest: a live action has no end and sorts before all of them.
  std::vector<std::int64_t> expired;
  {
    MUSTER_TRY_ASSIGN(
        auto select,
        database.use("SELECT seq, finished_at FROM actions INDEXED BY actions_by_finished_at WHERE "
                     "finished_at > 0 AND live = 0 ORDER BY finished_at, seq LIMIT ?1"));
    select->bind(1, sql_rows(limit));
    const Timestamp oldest_kept = now - retention.age_max;
    while (true) {
      MUSTER_TRY_ASSIGN(const bool row, select->step());
      if (!row) break;
      const bool aged = Timestamp{select->column_int(1)} < oldest_kept;
      if (!aged && expired.size() >= surplus) break;
      expired.push_back(select->column_int(0));
    }
  }
  MUSTER_TRY_ASSIGN(auto remove, database.use("DELETE FROM actions WHERE seq = ?1"));
  for (const std::int64_t seq : expired) {
    remove->bind(1, seq);
    MUSTER_TRY(remove->run());
  }
  return expired.size();
}

Result<std::size_t> SqliteStore::purge_events(Database& database, const Retention& retention,
                                              Timestamp now, std::size_t limit) {
  const auto total = static_cast<std::uint64_t>(events_total_.load());
  const std::uint64_t surplus = total > retention.events_max ? total - retention.events_max : 0;
  std::size_t count = 0;
  std::int64_t last_removed = 0;
  {
    MUSTER_TRY_ASSIGN(auto select,
                      database.use("SELECT seq, at FROM events ORDER BY seq LIMIT ?1"));
    select->bind(1, sql_rows(limit));
    const Timestamp oldest_kept = now - retention.age_max;
    while (true) {
      MUSTER_TRY_ASSIGN(const bool row, select->step());
      if (!row) break;
      const bool expired = Timestamp{select->column_int(1)} < oldest_kept || count < surplus;
      // The newest event stays, because it tells the next controller how to number on. Stopping at
      // the first event that is kept leaves no gaps, whatever the clock did.
      if (!expired || select->column_uint(0) == events_last_) break;
      last_removed = select->column_int(0);
      ++count;
    }
  }
  if (count == 0) return 0;
  MUSTER_TRY_ASSIGN(auto remove, database.use("DELETE FROM events WHERE seq <= ?1"));
  remove->bind(1, last_removed);
  MUSTER_TRY(remove->run());
  return count;
}

Result<void> SqliteStore::quarantine(Space space, std::string_view key, std::string_view problem,
                                     Timestamp now) {
  const bool action = space == Space::Action;
  const auto apply = [&]() -> Result<void> {
    MUSTER_TRY_ASSIGN(auto lease, writer_.acquire(kWriterTimeout));
    MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_write(*lease));
    MUSTER_TRY_ASSIGN(
        auto insert,
        (*lease).use(action
                         ? "INSERT INTO quarantine(space, key, seq, at, problem, value) SELECT ?1, "
                           "id, seq, ?3, ?4, value FROM actions WHERE id = ?2"
                         : "INSERT INTO quarantine(space, key, seq, at, problem, value) SELECT "
                           "space, key, 0, ?3, ?4, value FROM records WHERE space = ?1 AND key = "
                           "?2"));
    insert->bind(1, space_code(space));
    insert->bind_blob(2, key);
    insert->bind(3, now.us);
    insert->bind_text(4, problem);
    MUSTER_TRY(insert->run());
    if ((*lease).changes() == 0) {
      return fail(ErrorCode::NotFound, "there is no record with this key to quarantine");
    }
    if (action) {
      MUSTER_TRY_ASSIGN(auto remove, (*lease).use(kDeleteAction));
      remove->bind_blob(1, key);
      MUSTER_TRY(remove->run());
    } else {
      MUSTER_TRY_ASSIGN(auto remove, (*lease).use(kDeleteRecord));
      remove->bind(1, space_code(space));
      remove->bind_blob(2, key);
      MUSTER_TRY(remove->run());
    }
    MUSTER_TRY(transaction.commit());
    if (action) --actions_total_;
    return {};
  };
  return at_runtime(apply());
}

Result<void> SqliteStore::probe() {
  const auto apply = [this]() -> Result<void> {
    MUSTER_TRY_ASSIGN(auto lease, writer_.acquire(kProbeTimeout));
    MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_write(*lease));
    // The scratch row makes the file find room, the counter makes the log write and sync.
    MUSTER_TRY_ASSIGN(auto fill,
                      (*lease).use("INSERT INTO scratch(id, value) VALUES(1, zeroblob(65536))"));
    MUSTER_TRY(fill->run());
    MUSTER_TRY_ASSIGN(auto clear, (*lease).use("DELETE FROM scratch"));
    MUSTER_TRY(clear->run());
    MUSTER_TRY_ASSIGN(auto count,
                      (*lease).use("UPDATE meta SET value = value + 1 WHERE name = 'probe'"));
    MUSTER_TRY(count->run());
    return transaction.commit();
  };
  return at_runtime(apply());
}

Result<void> SqliteStore::limit_pages(std::uint64_t pages) {
  MUSTER_TRY_ASSIGN(auto lease, writer_.acquire(kWriterTimeout));
  return (*lease).exec(fmt::format("PRAGMA max_page_count = {}", pages == 0 ? kPagesMax : pages));
}

}  // namespace muster::store
