#pragma once

#include <vector>

#include "model/edit.h"
#include "model/tree.h"

namespace muster::model {

// What the types say about several items of a model: values that only one of them may have, and
// lists of ids that must be those of others. What waits for removal does not count.
void check_across(const Tree& tree, std::vector<ModelError>& errors);

}  // namespace muster::model
