#include "sim/check_fence.h"

#include <fmt/format.h>

namespace muster::sim {

Wrong check_fence(const store::Batch& batch, store::Term highest) {
  if (batch.term == highest) return std::nullopt;
  return fmt::format("a write of the controller with term {} was applied after term {} took over",
                     batch.term, highest);
}

}  // namespace muster::sim
