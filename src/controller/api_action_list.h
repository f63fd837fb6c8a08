#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "http/router.h"
#include "store/store.h"

namespace muster::controller {

inline constexpr std::size_t kListLimitDefault = 50;
inline constexpr std::size_t kListLimitMax = 500;

// The query of a list of actions: name, target, action and status (each repeatable), filters (the
// same as one JSON map), limit, marker, sort. All that is wrong is reported at once; whether the
// marker exists is not looked at.
Result<store::ActionQuery> decode_action_query(std::string_view raw);

// The ids of a list that asks for certain actions (ids=ID,ID,...); nothing where it does not ask
// so. Such a query has no other parameter.
Result<std::optional<std::vector<Uuid>>> decode_action_ids(std::string_view raw);

}  // namespace muster::controller
