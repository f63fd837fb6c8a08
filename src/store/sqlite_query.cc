#include "store/sqlite_query.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "store/action_order.h"

namespace muster::store {
namespace {

// A filter that leaves at most so many rows is worth sorting them: some tens of milliseconds.
constexpr std::int64_t kSelectiveMax = 20'000;

constexpr std::string_view kLiveIndex = "actions_live";

std::string_view column_of(SortKey key) {
  switch (key) {
    case SortKey::Seq:
      return "seq";
    case SortKey::Name:
      return "name";
    case SortKey::Target:
      return "target";
    case SortKey::Action:
      return "action";
    case SortKey::Status:
      return "status";
    case SortKey::CreatedAt:
      return "created_at";
    case SortKey::UpdatedAt:
      return "updated_at";
    case SortKey::FinishedAt:
      return "finished_at";
  }
  MUSTER_CHECK(false, "unknown sort key {}", static_cast<int>(key));
  return {};
}

SqlValue value_of(SortKey key, const ActionIndex& index) {
  switch (key) {
    case SortKey::Seq:
      return static_cast<std::int64_t>(index.seq);
    case SortKey::Name:
      return index.name;
    case SortKey::Target:
      return index.target;
    case SortKey::Action:
      return index.action;
    case SortKey::Status:
      return index.status;
    case SortKey::CreatedAt:
      return index.created_at.us;
    case SortKey::UpdatedAt:
      return index.updated_at.us;
    case SortKey::FinishedAt:
      return index.finished_at.us;
  }
  MUSTER_CHECK(false, "unknown sort key {}", static_cast<int>(key));
  return {};
}

std::string index_of_column(std::string_view column) {
  return fmt::format("actions_by_{}", column);
}

// Puts conditions and their parameters side by side.
class SqlBuilder {
 public:
  void add(std::string_view text) { sql_.text.append(text); }

  void add_value(SqlValue value) {
    sql_.parameters.push_back(std::move(value));
    sql_.text.append("?");
  }

  void begin_condition() {
    add(conditions_ == 0 ? " WHERE " : " AND ");
    ++conditions_;
  }

  void add_condition(const QuerySlice::Condition& condition) {
    begin_condition();
    add(condition.column);
    if (condition.values.size() == 1) {
      add(" = ");
      add_value(condition.values.front());
      return;
    }
    add(" IN (");
    for (std::size_t i = 0; i < condition.values.size(); ++i) {
      if (i > 0) add(",");
      add_value(condition.values[i]);
    }
    add(")");
  }

  ActionSql take() { return std::move(sql_); }

 private:
  ActionSql sql_;
  int conditions_ = 0;
};

void bind_all(Statement& statement, const ActionSql& sql) {
  int parameter = 0;
  for (const SqlValue& value : sql.parameters) {
    ++parameter;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      statement.bind(parameter, *number);
    } else {
      statement.bind_text(parameter, std::get<std::string>(value));
    }
  }
}

Result<std::int64_t> count_some(Database& database, const ActionSql& sql) {
  MUSTER_TRY_ASSIGN(auto statement, database.prepare(sql.text));
  bind_all(statement, sql);
  MUSTER_TRY(statement.step());
  return statement.column_int(0);
}

Result<std::int64_t> count_condition(Database& database, const QuerySlice::Condition& condition) {
  SqlBuilder builder;
  builder.add(fmt::format("SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY {}",
                          index_of_column(condition.column)));
  builder.add_condition(condition);
  builder.add(fmt::format(" LIMIT {})", kSelectiveMax + 1));
  return count_some(database, builder.take());
}

Result<std::int64_t> count_live(Database& database) {
  return count_some(
      database,
      {fmt::format("SELECT count(*) FROM (SELECT 1 FROM actions INDEXED BY {} WHERE live = 1 "
                   "LIMIT {})",
                   kLiveIndex, kSelectiveMax + 1),
       {}});
}

void add_filter(QuerySlice& slice, std::string_view column,
                const std::vector<std::string>& values) {
  if (values.empty()) return;
  slice.conditions.push_back({column, {values.begin(), values.end()}});
}

Result<std::optional<ActionIndex>> find_marker(Database& database, const std::string& marker) {
  if (marker.empty()) return std::optional<ActionIndex>();
  MUSTER_TRY_ASSIGN(auto select,
                    database.use("SELECT seq, live, name, target, action, status, created_at, "
                                 "updated_at, finished_at FROM actions WHERE id = ?1"));
  select->bind_blob(1, marker);
  MUSTER_TRY_ASSIGN(const bool row, select->step());
  if (!row) return fail(unknown_marker(marker));
  return std::optional<ActionIndex>(ActionIndex{
      .seq = select->column_uint(0),
      .live = select->column_int(1) != 0,
      .name = std::string(select->column_bytes(2)),
      .target = std::string(select->column_bytes(3)),
      .action = std::string(select->column_bytes(4)),
      .status = std::string(select->column_bytes(5)),
      .created_at = Timestamp{select->column_int(6)},
      .updated_at = Timestamp{select->column_int(7)},
      .finished_at = Timestamp{select->column_int(8)},
  });
}

}  // namespace

std::vector<QuerySlice> slice_query(const ActionQuery& query,
                                    const std::optional<ActionIndex>& marker) {
  QuerySlice whole;
  add_filter(whole, "name", query.filter.names);
  add_filter(whole, "target", query.filter.targets);
  add_filter(whole, "action", query.filter.actions);
  add_filter(whole, "status", query.filter.statuses);
  whole.live = query.filter.live;
  whole.order = total_order(query.sort);
  if (!marker) return {whole};

  std::vector<QuerySlice> slices;
  for (std::size_t fixed = whole.order.size(); fixed-- > 0;) {
    QuerySlice slice = whole;
    for (std::size_t i = 0; i < fixed; ++i) {
      const SortKey key = whole.order[i].key;
      slice.conditions.push_back({column_of(key), {value_of(key, *marker)}});
    }
    const SortTerm& term = whole.order[fixed];
    slice.bound = QuerySlice::Bound{term, value_of(term.key, *marker)};
    slice.order.erase(slice.order.begin(),
                      slice.order.begin() + static_cast<std::ptrdiff_t>(fixed));
    slices.push_back(std::move(slice));
  }
  return slices;
}

Result<std::string> choose_index(Database& database, const QuerySlice& slice) {
  std::string best;
  std::int64_t best_count = kSelectiveMax + 1;
  std::string ordered_by_seq;
  for (const QuerySlice::Condition& condition : slice.conditions) {
    MUSTER_TRY_ASSIGN(const std::int64_t count, count_condition(database, condition));
    if (count < best_count) {
      best_count = count;
      best = index_of_column(condition.column);
    }
    // The entries of one value lie in seq order already.
    if (condition.values.size() == 1) ordered_by_seq = index_of_column(condition.column);
  }
  if (slice.live.value_or(false)) {
    MUSTER_TRY_ASSIGN(const std::int64_t count, count_live(database));
    if (count < best_count) best = kLiveIndex;
    ordered_by_seq = kLiveIndex;
  }
  if (!best.empty()) return best;
  const SortKey first_key = slice.order.front().key;
  if (first_key == SortKey::Seq) return ordered_by_seq;
  return index_of_column(column_of(first_key));
}

ActionSql build_slice_sql(const QuerySlice& slice, const std::string& index, std::size_t limit) {
  SqlBuilder builder;
  builder.add("SELECT seq FROM actions ");
  builder.add(index.empty() ? "NOT INDEXED" : "INDEXED BY " + index);
  for (const QuerySlice::Condition& condition : slice.conditions) {
    builder.add_condition(condition);
  }
  if (slice.live) {
    builder.begin_condition();
    // A literal, because only that lets SQLite see that the index of live rows applies.
    builder.add(*slice.live ? "live = 1" : "live = 0");
  }
  if (slice.bound) {
    builder.begin_condition();
    builder.add(column_of(slice.bound->term.key));
    builder.add(slice.bound->term.descending ? " < " : " > ");
    builder.add_value(slice.bound->beyond);
  }
  builder.add(" ORDER BY ");
  for (std::size_t i = 0; i < slice.order.size(); ++i) {
    if (i > 0) builder.add(", ");
    builder.add(column_of(slice.order[i].key));
    builder.add(slice.order[i].descending ? " DESC" : " ASC");
  }
  builder.add(" LIMIT ");
  builder.add_value(static_cast<std::int64_t>(
      std::min(limit, static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))));
  return builder.take();
}

Result<std::vector<Record>> run_action_query(Database& database, const ActionQuery& query) {
  MUSTER_TRY(check_query(query));
  MUSTER_TRY_ASSIGN(const auto marker, find_marker(database, query.marker));
  MUSTER_TRY_ASSIGN(auto fetch, database.use("SELECT id, value FROM actions WHERE seq = ?1"));
  std::vector<Record> records;
  for (const QuerySlice& slice : slice_query(query, marker)) {
    if (records.size() >= query.limit) break;
    MUSTER_TRY_ASSIGN(const std::string index, choose_index(database, slice));
    const ActionSql sql = build_slice_sql(slice, index, query.limit - records.size());
    MUSTER_TRY_ASSIGN(auto page, database.prepare(sql.text));
    bind_all(page, sql);
    while (true) {
      MUSTER_TRY_ASSIGN(const bool row, page.step());
      if (!row) break;
      fetch->bind(1, page.column_int(0));
      MUSTER_TRY_ASSIGN(const bool found, fetch->step());
      if (!found) {
        return fail(ErrorCode::StoreCorrupt,
                    "index '{}' names action {}, which is not in the table", index,
                    page.column_int(0));
      }
      records.push_back({std::string(fetch->column_bytes(0)), std::string(fetch->column_bytes(1)),
                         page.column_uint(0)});
      fetch->reset();
    }
  }
  return records;
}

}  // namespace muster::store
