#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/path.h"
#include "model/refusal.h"
#include "model/tree.h"

// Changing a model: some operations, all or none of them.

namespace muster::model {

// Given by name; whether the item's type has such a property is for the edit to say.
using GivenProperties = std::map<std::string, std::string, std::less<>>;

struct CreateItem {
  Path parent;
  std::string id;
  std::string type;
  GivenProperties properties;
};
struct InheritItem {
  Path parent;
  std::string id;
  Path source;
  GivenProperties properties;  // overrides
};
struct UpdateItem {
  Path path;
  GivenProperties set;
  // Back to the default; of an inherited item back to the value of its source.
  std::vector<std::string> unset;
};
struct RemoveItem {
  Path path;
};
using Operation = std::variant<CreateItem, InheritItem, UpdateItem, RemoveItem>;

enum class Actor : std::uint8_t {
  User,
  Plugin,  // may only update, and only what its type lets plugins update
};

struct ModelError {
  Refusal code = Refusal::InvalidRequest;
  Path path;
  std::string property = {};  // empty: the item itself
  std::string message;

  bool operator==(const ModelError&) const = default;
};

// Something that only the world outside knows. An edit that depends on it is computed again with
// the answer.
struct Question {
  enum class Kind : std::uint8_t {
    Directory,    // is `value` a directory of the controller's host
    PluginValue,  // does the plugin of `pack` find `value` right
    PluginItem,   // does the plugin of `pack` find these properties right together
  };
  Kind kind = Kind::Directory;
  std::string pack = {};
  std::string method = {};
  Path path;
  std::string property = {};
  std::string value = {};
  GivenProperties properties = {};  // PluginItem: all of the item

  auto operator<=>(const Question&) const = default;
};
// What is wrong, or empty if it is right.
using Answers = std::map<Question, std::string>;

// Exactly one of them has anything in it, or none: then there was nothing to change.
struct EditOutcome {
  ChangeSet changes;
  std::vector<ModelError> errors;   // all of the request; the tree is as it was
  std::vector<Question> questions;  // to be answered first; the tree is as it was

  bool ok() const { return errors.empty() && questions.empty(); }
};

EditOutcome edit(Tree& tree, const Schema& schema, const std::vector<Operation>& operations,
                 Actor actor, const Answers& answers = {});

// The model of somebody who has declared nothing yet: the root and what its type says is always
// there. REQUIRES: the schema's root type can be made without properties.
Tree empty_model(const Schema& schema);

}  // namespace muster::model
