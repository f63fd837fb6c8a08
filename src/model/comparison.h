#pragma once

#include <vector>

#include "model/declaration.h"

// Compares a declaration with a model. Internal to apply().

namespace muster::model {

struct Comparison {
  std::vector<Operation> operations;  // in an order in which they can be run
  std::vector<ModelError> errors;     // of the declaration itself
};

// What takes the tree nearer to what is declared. What an item will take over from a source is only
// known once it inherits, so after such operations the comparison has to be made again.
Comparison compare(const Tree& tree, const Schema& schema, const Path& at,
                   const Declaration& wanted, Prune prune);

}  // namespace muster::model
