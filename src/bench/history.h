#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "core/action/action.h"

namespace muster::bench {

// The id of the i-th action of a made history.
core::ActionId history_id(std::size_t index);

// Fills a new store with finished actions, one event each, as a controller that ran them over the
// last day would have left them. Ends early, with an error, where `interrupted` says so.
Result<void> write_history(const std::string& path, std::size_t actions, Timestamp now,
                           const std::function<bool()>& interrupted);

}  // namespace muster::bench
