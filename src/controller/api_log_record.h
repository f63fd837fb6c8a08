#pragma once

#include <cstdint>
#include <string>

#include "core/action/action.h"

namespace muster::controller {

// A part of an action's output.
struct OutputPart {
  std::string data;
  std::uint64_t next = 0;  // the offset after it
  bool end = false;        // nothing will follow
  bool truncated = false;  // bytes are missing: before it, or dropped at the limit of output
};

// What the record itself has of the output: the tail that the agent reported at the end of an
// execution, or all outputs of an engine action as JSON. `attempt` 0: the newest that ended.
OutputPart recorded_output(const core::Action& action, std::uint32_t attempt, std::uint64_t offset,
                           std::size_t limit);

}  // namespace muster::controller
