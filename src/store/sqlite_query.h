#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "store/sqlite.h"
#include "store/store.h"

// Lists of actions from SQLite, by keyset: a marker becomes bounds on the sort keys, so that the
// last page costs what the first one does.
//
// "After the marker" in the order (a, b, seq) means: the rest of the marker's own (a, b) beyond its
// seq, then the rest of its a beyond its b, then everything beyond its a. Each of these slices is a
// query of its own that one index can answer; they are asked in turn until the page is full.
//
// Which index is walked is decided here and not left to SQLite's guesses: the conditions are
// counted, up to a bound, in their own indexes. If one of them leaves few rows, these are fetched
// and sorted. Otherwise the index of the first sort key is walked in order and the conditions are
// applied on the way, which soon fills a page because they match many. Either way a page needs at
// most some ten thousand rows, unless the matches of a broad filter all lie at the far end of the
// order, or a sort by several keys begins with one that has few different values.

namespace muster::store {

using SqlValue = std::variant<std::int64_t, std::string>;

struct ActionSql {
  std::string text;  // yields seq
  std::vector<SqlValue> parameters;
};

// A part of the actions that are asked for, in the order that they are asked for.
struct QuerySlice {
  struct Condition {
    std::string_view column;
    std::vector<SqlValue> values;  // alternatives
  };
  struct Bound {
    SortTerm term;
    SqlValue beyond;
  };

  std::vector<Condition> conditions;
  std::optional<bool> live;
  std::optional<Bound> bound;
  std::vector<SortTerm> order;
};

// The slices that make up the answer, in order. `marker` is the index entry of the query's marker.
std::vector<QuerySlice> slice_query(const ActionQuery& query,
                                    const std::optional<ActionIndex>& marker);

// The name of the index to walk; empty for the table itself, which is ordered by seq.
Result<std::string> choose_index(Database& database, const QuerySlice& slice);

ActionSql build_slice_sql(const QuerySlice& slice, const std::string& index, std::size_t limit);

// REQUIRES: `database` is inside a transaction.
Result<std::vector<Record>> run_action_query(Database& database, const ActionQuery& query);

}  // namespace muster::store
