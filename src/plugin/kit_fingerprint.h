#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "plan/planner.h"

// Answers of plugins in a form that tells whether two are the same. Functions of their inputs.

namespace muster::plugin {

Json fingerprint(const plan::Task& task);
Json fingerprint(const plan::LockPair& pair);

// How two lists of answers differ; empty: they do not. `what` is the word for one of them.
std::string difference(const std::vector<Json>& first, const std::vector<Json>& second,
                       std::string_view what);

}  // namespace muster::plugin
