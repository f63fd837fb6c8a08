#pragma once

#include "base/json.h"
#include "core/action/action.h"
#include "core/action/explain.h"

// Actions as the API shows them. Times are RFC 3339 or null, durations numbers of seconds.

namespace muster::controller {

Json time_json(Timestamp time);         // null: not set
Json duration_json(Duration duration);  // seconds; a whole number where it is one

// A row of a list; action_text.h has every property.
Json action_row_json(const core::Action& action);

// {"id", "name", "status", "summary", "blockers", ...}
Json explanation_json(const core::Explanation& explanation);
// The same of an action that has ended, which nothing holds up any more.
Json explanation_of_final_json(const core::Action& action);

}  // namespace muster::controller
