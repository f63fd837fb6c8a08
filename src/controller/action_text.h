#pragma once

#include <string>

#include "core/action/action.h"

namespace muster::controller {

// Every property of an action as the API shows it: a JSON object with sorted keys, without spaces,
// appended to `out`. Written directly, because a tree of forty nodes per action costs more than
// everything else that a request for thousands of actions does.
void append_action(std::string& out, const core::Action& action);

// {"action": ...}
std::string action_document(const core::Action& action);

}  // namespace muster::controller
