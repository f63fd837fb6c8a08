#pragma once

#include <vector>

#include "core/state.h"

// How the controller's record of an action follows the agent's. The agent wins while the
// controller's record is not final; a final record stays, but that a Lost one takes the true
// outcome.

namespace muster::core {

// Applies one state that an agent told. An action that is not live goes to `unknown`: only the
// store can tell whether it has ended, or was never heard of.
void apply_agent_action(Step& step, const AgentName& agent, SessionId session,
                        const AgentAction& told, std::vector<AgentAction>& unknown);

void look_up_unknown(Step& step, const AgentName& agent, SessionId session,
                     std::vector<AgentAction> unknown);

// The store has answered which of these the history knows.
void resume_reports(Step& step, LookupId lookup, const PendingReports& pending,
                    const std::vector<ActionPtr>& found);

}  // namespace muster::core
