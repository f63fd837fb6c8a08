#pragma once

#include <string>

#include "base/json.h"
#include "cli/context.h"

// Items and changes of the model, as text for terminals.

namespace muster::cli {

// One item: what it is, its properties, the ids below it.
std::string item_text(const Json& item, const Terminal& terminal);
// An item with the items below it that the answer has, one line each.
std::string tree_text(const Json& item, const Terminal& terminal);

// Each change with the properties that it is about. Collections come and go with their owners and
// are left out.
std::string changes_text(const Json& changes, const Terminal& terminal);
// "2 added, 1 changed", of what changes_text() shows.
std::string changes_summary(const Json& changes);

}  // namespace muster::cli
