#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/edit.h"
#include "model/tree.h"

// The wanted items of a subtree, as a model file declares them, and the edit that gets there.

namespace muster::model {

struct Declaration {
  std::optional<std::string> type;  // not needed where the slot says it, nor with `inherit`
  std::optional<Path> inherit;
  GivenProperties properties;
  std::map<std::string, Declaration> children;

  bool operator==(const Declaration&) const = default;
};

enum class Prune : std::uint8_t {
  // What is not declared stays as it is.
  Nothing,
  // Of what is declared, nothing else stays: items below a declared item or in a declared
  // collection go, properties of a declared item go back to their defaults. Children of the root
  // that are not declared stay, and so do what an inherited item takes over, values that only
  // plugins write, and secrets.
  Undeclared,
  // As before, and what an inherited item takes over is declared too: a whole model, as declare()
  // tells it with Detail::Full.
  Everything,
};

// The edit that makes the items at and below `at` what is declared: all or nothing. An item that is
// declared, but would go because it inherits from one that is not, is an error.
EditOutcome apply(Tree& tree, const Schema& schema, const Path& at, const Declaration& wanted,
                  Prune prune, const Answers& answers = {});

enum class Detail : std::uint8_t {
  Brief,  // what a person would write: nothing that follows from the types or from inheritance
  Full,   // every item and property, secrets included
};

// What would have to be declared to have the items at and below `node`. What waits for removal is
// not declared.
Declaration declare(const Node& node, Detail detail);

}  // namespace muster::model
