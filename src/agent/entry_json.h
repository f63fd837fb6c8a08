#pragma once

#include "base/json.h"
#include "core/agent/journal_entry.h"

// Journal entries as the local API shows them: the names of the controller's API, times in RFC 3339
// or null, durations in seconds.

namespace muster::agent {

Json time_json(Timestamp time);
// A row of a list.
Json entry_row_json(const core::JournalEntry& entry);
// Everything, inputs and outputs too.
Json entry_json(const core::JournalEntry& entry);

}  // namespace muster::agent
