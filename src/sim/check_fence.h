#pragma once

#include "sim/check_durable.h"
#include "store/store.h"

namespace muster::sim {

// Promise 8: a controller that was replaced cannot write.
Wrong check_fence(const store::Batch& batch, store::Term highest);

}  // namespace muster::sim
