#pragma once

#include <string>
#include <string_view>

namespace muster::model {

// Why `version` is none, or empty if it is one: one to four numbers with dots between them.
std::string version_problem(std::string_view version);

// -1, 0, 1 as `a` is older than, equal to, or newer than `b`. Missing numbers count as 0, and so
// does what is no number.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace muster::model
