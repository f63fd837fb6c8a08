#pragma once

#include <vector>

#include "core/state.h"

namespace muster::core {

// Creates the actions of a request, all or none. Where a reference may be to the history, the store
// is asked first and the request goes on in resume_submit.
void handle_submit(Step& step, const Submit& submit);
void resume_submit(Step& step, const PendingSubmit& pending, const std::vector<ActionPtr>& found);

}  // namespace muster::core
