#pragma once

#include <string>

#include "base/json.h"
#include "cli/context.h"
#include "cli/table.h"
#include "cli/watch_set.h"

// How actions are shown to people. Programs take -o json, which is what the API answered.

namespace muster::cli {

TableOptions table_options(const Context& context);

// A table of slim rows.
Table action_table(const Json& actions, Timestamp now, bool wide, bool utf8);
// Everything about one action, as lines of "name  value".
std::string action_details(const Json& action, Timestamp now, const Terminal& terminal);
// How awaited actions ended.
void print_action_results(Context& context, const WatchSet& set);

// One action as the answer of a command that changed or fetched it, in the asked format.
void print_action(Context& context, const Json& answer);

// Lines of "name  value" with the values aligned; pairs with an empty value are left out.
std::string detail_lines(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace muster::cli
