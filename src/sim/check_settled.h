#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/check_durable.h"
#include "sim/views.h"

namespace muster::sim {

// Promise 6: nothing waits for ever. What still does not rest, in words; empty: all is final, and
// agents have nothing that the controller does not know. Agents in `gone` never came back.
std::vector<std::string> unsettled(const RecordView& records,
                                   const std::vector<JournalView>& journals,
                                   const std::set<std::size_t>& gone);

}  // namespace muster::sim
