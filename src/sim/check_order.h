#pragma once

#include "sim/check_durable.h"
#include "sim/views.h"

namespace muster::sim {

// Promise 4: an action starts only after every action that it depends on has succeeded, after
// everybody whom it needs has approved it, and once it is no longer held.
Wrong check_order(const RecordView& records, const core::ActionId& id);

}  // namespace muster::sim
