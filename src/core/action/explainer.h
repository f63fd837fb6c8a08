#pragma once

#include "core/action/explain.h"
#include "core/state.h"

namespace muster::core {

Explanation explain(const State& state, const ActionPtr& action, Timestamp now);

}  // namespace muster::core
