#pragma once

#include "sim/check_durable.h"
#include "sim/views.h"

namespace muster::sim {

// Promise 4: an action starts only after every action that it depends on has succeeded, after
// everybody whom it needs has approved it, and once it is no longer held. An attempt that the
// controller has given up for the next one, while its agent was away, may still start there: what
// it was made to depend on since is not asked of it.
Wrong check_order(const RecordView& records, const core::ActionId& id, std::uint32_t attempt);

}  // namespace muster::sim
