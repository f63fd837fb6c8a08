#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

// What lists and look-ups of actions mean, the same for every backend. Pure.

namespace muster::store {

// Alternatives in one field of a filter.
inline constexpr std::size_t kFilterValuesMax = 1000;

// The sort terms that decide, ending in Seq, so that the order is total: terms after a Seq and
// repeated keys go, and a missing Seq is added in the direction of the last term.
std::vector<SortTerm> total_order(const std::vector<SortTerm>& sort);

// Whether `left` comes before `right` in an order from total_order().
bool comes_before(const std::vector<SortTerm>& order, const ActionIndex& left,
                  const ActionIndex& right);

bool matches(const ActionFilter& filter, const ActionIndex& index);

// InvalidMarker for a marker that is no id, InvalidValue for too many values in a filter.
Result<void> check_query(const ActionQuery& query);
// The answer to a marker that names no action.
Error unknown_marker(std::string_view marker);

// The ids, as 16 bytes each and both included, whose text starts with a prefix.
struct IdRange {
  std::string first;
  std::string last;
};

// The text of a UUID up to any digit, in any case, with its dashes in place or without any. None if
// no UUID starts like this.
std::optional<IdRange> id_range_of_prefix(std::string_view prefix);

}  // namespace muster::store
