#pragma once

#include "plan/draft.h"
#include "plan/phase_builder.h"
#include "plan/scopes.h"

namespace muster::plan {

// The plan as it is handed out. Takes the tasks out of the draft. REQUIRES: the draft has no
// errors.
PlanOutcome assemble(Draft& draft, const Slots& slots, DraftPhases phases);

}  // namespace muster::plan
