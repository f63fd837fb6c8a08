#pragma once

#include <string>

#include "core/state.h"

// Deployment plans as the engine keeps them: their records, what makes them invalid, and how many
// are kept. Making one is the shell's work, because plugins take part in it.

namespace muster::core {

void handle_keep_plan(Step& step, const KeepPlan& keep);
void handle_remove_plan(Step& step, const RemovePlan& remove);

// Plans that could be run no longer can. The reason tells what has changed.
void invalidate_plans(Step& step, const std::string& reason);

}  // namespace muster::core
