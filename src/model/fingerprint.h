#pragma once

#include <string>

#include "model/tree.h"

namespace muster::model {

// Tells two versions of an item apart: a text that changes whenever what can be read of the item
// does, its own values, those that it inherits, its state, and which items stand directly below it.
std::string fingerprint(const Node& node);

}  // namespace muster::model
