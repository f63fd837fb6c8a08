#pragma once

#include "base/result.h"
#include "http/router.h"
#include "store/store.h"

namespace muster::controller {

inline constexpr std::size_t kListLimitDefault = 50;
inline constexpr std::size_t kListLimitMax = 500;

// The query of a list of actions: name, target, action and status (each repeatable), filters (the
// same as one JSON map), limit, marker, sort. All that is wrong is reported at once; whether the
// marker exists is not looked at.
Result<store::ActionQuery> decode_action_query(std::string_view raw);

}  // namespace muster::controller
