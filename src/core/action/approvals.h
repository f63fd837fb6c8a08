#pragma once

#include "core/state.h"

namespace muster::core {

// Approve or reject: compare-and-set on PENDING_APPROVE, with who, why and when.
void handle_decision(Step& step, const DecideRequest& request);

// The approval has expired.
void approval_expired(Step& step, const Action& action);

}  // namespace muster::core
