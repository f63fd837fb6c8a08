#pragma once

#include "sim/check_durable.h"
#include "sim/views.h"

namespace muster::sim {

// Promise 5: a final status never changes, but that a LOST action takes its true outcome.
Wrong check_final(const RecordView::Change& change);

// What LOST means: the agent's journal does not have it. An agent that cannot be reached has lost
// nothing. `journal` is that of the action's agent. One that was lost with a journal may be in the
// next one too, from a client of the agent that got no answer and asked again: then it is lost, and
// takes the outcome of what came after. Nor is one found that is the agent's own under the same id.
Wrong check_lost(const RecordView::Change& change, const JournalView& journal);

}  // namespace muster::sim
