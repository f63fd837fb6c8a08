#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/place.h"

// How a model that was made with an older version of a pack becomes one of its current version.

namespace muster::model {

// Items of `type`, and of what extends it, get the property: with `value`, or with the default of
// the property if there is no value here.
struct AddProperty {
  std::string type;
  std::string property;
  std::optional<std::string> value;
};
struct RemoveProperty {
  std::string type;
  std::string property;
};
struct RenameProperty {
  std::string type;
  std::string from;
  std::string to;
};
struct RenameType {
  std::string from;
  std::string to;
};
// Items of `type`, and of what extends it, get the empty collection.
struct AddCollection {
  std::string type;
  std::string collection;
};

// Items of `type`, and of what extends it, lose what is called so, with everything that stands in
// it; no plan takes that off its hosts.
struct RemoveElement {
  std::string type;
  std::string element;
  bool is_collection = false;  // otherwise a child or a reference
};

struct MigrationStep {
  std::variant<AddProperty, RemoveProperty, RenameProperty, RenameType, AddCollection,
               RemoveElement>
      change;
  Place place;
};

// What to do with a model that was made with a version before `version`.
struct Migration {
  std::string version;
  std::vector<MigrationStep> steps;
  Place place;
};

}  // namespace muster::model
