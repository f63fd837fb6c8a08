#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/edit.h"
#include "model/item.h"

// Whether the properties of one item are right: each by itself, then together.

namespace muster::model {

// The values that a new item of the type has by itself. Nothing: it has a required property that
// somebody must give.
std::optional<Properties> defaults_of(const ItemType& type);

// Whether an item has what `element` is from the beginning: a collection, or a required child that
// can be made without values which only the user knows.
bool comes_by_itself(const Element& element);

struct Findings {
  std::vector<ModelError> errors;
  std::vector<Question> questions;
};

// That an item of the type has nothing called `id` below it, with the nearest name that it has.
std::string no_such_child(const ItemType& type, std::string_view id);

// The property called `name`, or null and an error that says which there are. A view has no value
// that could be given.
const Property* check_name(const Path& path, const ItemType& type, std::string_view name,
                           Findings& findings);

// `merged` are all properties that the item has; only the values of `changed` are looked at again,
// because the others were right before. Whether they go together is only asked where each of them
// is right by itself and no other property of the item was found wrong before. False: some property
// is wrong by itself.
bool check_values(const Path& path, const ItemType& type, const PropertiesPtr& merged,
                  const std::set<std::string_view>& changed, const Answers& answers,
                  Findings& findings);

// Every property at once, as when an item is made.
bool check_all_values(const Path& path, const ItemType& type, const PropertiesPtr& merged,
                      const Answers& answers, Findings& findings);

}  // namespace muster::model
