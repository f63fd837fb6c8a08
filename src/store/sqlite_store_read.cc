#include <algorithm>
#include <limits>
#include <string_view>

#include "base/uuid.h"
#include "store/action_order.h"
#include "store/file_io.h"
#include "store/sqlite_query.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_store.h"

namespace muster::store {
namespace {

constexpr Duration kReaderTimeout = Duration::seconds(30);

std::int64_t sql_limit(std::size_t limit) {
  return static_cast<std::int64_t>(
      std::min(limit, static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())));
}

// Rows of (key, value).
Result<std::vector<Record>> collect(Statement& statement) {
  std::vector<Record> records;
  while (true) {
    MUSTER_TRY_ASSIGN(const bool row, statement.step());
    if (!row) return records;
    records.push_back(
        {std::string(statement.column_bytes(0)), std::string(statement.column_bytes(1))});
  }
}

// Where to go on after an action. One that was quarantined since still has its place.
Result<std::int64_t> seq_of(Database& database, std::string_view id) {
  if (id.empty()) return -1;
  if (id.size() != Uuid::kSize) {
    return fail(ErrorCode::InvalidMarker, "the key has {} bytes, an id has {}", id.size(),
                Uuid::kSize);
  }
  for (const std::string_view sql :
       {std::string_view("SELECT seq FROM actions WHERE id = ?1"),
        std::string_view("SELECT seq FROM quarantine WHERE space = 1 AND key = ?1")}) {
    MUSTER_TRY_ASSIGN(auto select, database.use(sql));
    select->bind_blob(1, id);
    MUSTER_TRY_ASSIGN(const bool row, select->step());
    if (row) return select->column_int(0);
  }
  return fail(unknown_marker(id));
}

Result<std::vector<Record>> load_live_actions(Database& database, std::string_view after_key,
                                              std::int64_t limit) {
  MUSTER_TRY_ASSIGN(const std::int64_t after, seq_of(database, after_key));
  MUSTER_TRY_ASSIGN(auto select,
                    database.use("SELECT id, value FROM actions INDEXED BY actions_live WHERE "
                                 "live = 1 AND seq > ?1 ORDER BY seq LIMIT ?2"));
  select->bind(1, after);
  select->bind(2, limit);
  return collect(*select);
}

Result<std::vector<Record>> load_records(Database& database, Space space,
                                         std::string_view after_key, std::int64_t limit) {
  // The empty key comes first of all, and nothing tells "from the start" from "after it": keys are
  // not empty.
  MUSTER_TRY_ASSIGN(auto select,
                    database.use("SELECT key, value FROM records WHERE space = ?1 AND key > ?2 "
                                 "ORDER BY key LIMIT ?3"));
  select->bind(1, space_code(space));
  select->bind_blob(2, after_key);
  select->bind(3, limit);
  return collect(*select);
}

}  // namespace

Result<RecordPage> SqliteStore::load(Space space, std::string_view after_key, std::size_t limit) {
  MUSTER_TRY_ASSIGN(auto lease, readers_.acquire(kReaderTimeout));
  MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_read(*lease));
  // One more than asked for tells whether there are more.
  const std::int64_t rows = sql_limit(limit) + 1;
  MUSTER_TRY_ASSIGN(auto records, space == Space::Action
                                      ? load_live_actions(*lease, after_key, rows)
                                      : load_records(*lease, space, after_key, rows));
  RecordPage page{std::move(records), false};
  if (page.records.size() > limit) {
    page.records.resize(limit);
    page.more = true;
  }
  return page;
}

Result<std::optional<std::string>> SqliteStore::get(Space space, std::string_view key) {
  MUSTER_TRY_ASSIGN(auto lease, readers_.acquire(kReaderTimeout));
  const bool action = space == Space::Action;
  MUSTER_TRY_ASSIGN(auto select,
                    (*lease).use(action ? "SELECT value FROM actions WHERE id = ?1"
                                        : "SELECT value FROM records WHERE key = ?1 AND space = "
                                          "?2"));
  select->bind_blob(1, key);
  if (!action) select->bind(2, space_code(space));
  MUSTER_TRY_ASSIGN(const bool row, select->step());
  if (!row) return std::optional<std::string>();
  return std::optional<std::string>(select->column_bytes(0));
}

Result<std::vector<Record>> SqliteStore::query_actions(const ActionQuery& query) {
  MUSTER_TRY_ASSIGN(auto lease, readers_.acquire(kReaderTimeout));
  MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_read(*lease));
  return run_action_query(*lease, query);
}

Result<std::vector<Record>> SqliteStore::find_actions_by_name(std::string_view name,
                                                              std::size_t limit) {
  MUSTER_TRY_ASSIGN(auto lease, readers_.acquire(kReaderTimeout));
  MUSTER_TRY_ASSIGN(auto select,
                    (*lease).use("SELECT id, value FROM actions INDEXED BY actions_by_name WHERE "
                                 "name = ?1 ORDER BY seq DESC LIMIT ?2"));
  select->bind_text(1, name);
  select->bind(2, sql_limit(limit));
  return collect(*select);
}

Result<std::vector<Record>> SqliteStore::find_actions_by_prefix(std::string_view prefix,
                                                                std::size_t limit) {
  const std::optional<IdRange> range = id_range_of_prefix(prefix);
  if (!range) return std::vector<Record>();
  MUSTER_TRY_ASSIGN(auto lease, readers_.acquire(kReaderTimeout));
  MUSTER_TRY_ASSIGN(auto select,
                    (*lease).use("SELECT id, value FROM actions WHERE id BETWEEN ?1 AND ?2 ORDER "
                                 "BY id LIMIT ?3"));
  select->bind_blob(1, range->first);
  select->bind_blob(2, range->last);
  select->bind(3, sql_limit(limit));
  return collect(*select);
}

Result<EventPage> SqliteStore::events(std::uint64_t after, std::size_t limit) {
  MUSTER_TRY_ASSIGN(auto lease, readers_.acquire(kReaderTimeout));
  MUSTER_TRY_ASSIGN(auto transaction, Transaction::begin_read(*lease));
  EventPage page;
  {
    // Two look-ups instead of one min-and-max, which would walk the table.
    MUSTER_TRY_ASSIGN(auto bounds,
                      (*lease).use("SELECT coalesce((SELECT min(seq) FROM events), 0), "
                                   "coalesce((SELECT max(seq) FROM events), 0)"));
    MUSTER_TRY(bounds->step());
    page.first_kept = bounds->column_uint(0);
    page.last = bounds->column_uint(1);
  }
  if (after >= page.last) return page;
  MUSTER_TRY_ASSIGN(auto select, (*lease).use("SELECT seq, at, value FROM events WHERE seq > ?1 "
                                              "ORDER BY seq LIMIT ?2"));
  select->bind(1, after);
  select->bind(2, sql_limit(limit));
  while (true) {
    MUSTER_TRY_ASSIGN(const bool row, select->step());
    if (!row) return page;
    page.events.push_back({select->column_uint(0), Timestamp{select->column_int(1)},
                           std::string(select->column_bytes(2))});
  }
}

Result<std::vector<QuarantineEntry>> SqliteStore::quarantined(std::size_t limit) {
  MUSTER_TRY_ASSIGN(auto lease, readers_.acquire(kReaderTimeout));
  MUSTER_TRY_ASSIGN(auto select, (*lease).use("SELECT space, key, value, problem, at FROM "
                                              "quarantine ORDER BY entry LIMIT ?1"));
  select->bind(1, sql_limit(limit));
  std::vector<QuarantineEntry> entries;
  while (true) {
    MUSTER_TRY_ASSIGN(const bool row, select->step());
    if (!row) return entries;
    MUSTER_TRY_ASSIGN(const Space space, space_of_code(select->column_int(0)));
    entries.push_back({space, std::string(select->column_bytes(1)),
                       std::string(select->column_bytes(2)), std::string(select->column_bytes(3)),
                       Timestamp{select->column_int(4)}});
  }
}

Result<StoreStats> SqliteStore::stats() {
  MUSTER_TRY_ASSIGN(auto lease, readers_.acquire(kReaderTimeout));
  MUSTER_TRY_ASSIGN(
      auto select,
      (*lease).use("SELECT (SELECT count(*) FROM actions INDEXED BY actions_live WHERE live = 1), "
                   "(SELECT count(*) FROM quarantine)"));
  MUSTER_TRY(select->step());
  StoreStats stats;
  stats.actions_live = select->column_uint(0);
  stats.quarantined = select->column_uint(1);
  // A commit between the two reads must not make the difference negative.
  const auto total = static_cast<std::uint64_t>(std::max<std::int64_t>(actions_total_, 0));
  stats.actions_finished = total - std::min(total, stats.actions_live);
  stats.events = static_cast<std::uint64_t>(std::max<std::int64_t>(events_total_, 0));
  stats.bytes = file_size(options_.path) + file_size(options_.path + "-wal");
  return stats;
}

}  // namespace muster::store
