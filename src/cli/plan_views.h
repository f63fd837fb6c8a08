#pragma once

#include <string>

#include "base/json.h"
#include "cli/terminal.h"

// Deployment plans as text, and as graphs. Pure.

namespace muster::cli {

// "Plan 3: 5 to add, 1 to change, 0 to remove", and what it takes.
std::string plan_summary(const Json& plan, const Terminal& terminal);
// Phases with their tasks, each with the properties that it is about.
std::string plan_text(const Json& phases, const Json& tasks, const Terminal& terminal);
// What one plan has and the other has not, and what has moved.
std::string plan_diff(const Json& before, const Json& after, const Terminal& terminal);

// Phases and what comes before what, for Graphviz, or drawn.
std::string plan_dot(const Json& phases);
std::string plan_svg(const Json& phases);

}  // namespace muster::cli
