#pragma once

#include <cstdint>
#include <string_view>

namespace muster::model {

// Why a model is not changed, or a plan of it not made: one for each thing that somebody would do
// about it. The names are those that the users of LITP know.
enum class Refusal : std::uint8_t {
  InvalidRequest,
  InvalidLocation,  // no item at that path
  InvalidType,      // no such item type
  ItemExists,
  MethodNotAllowed,  // the item is in a place or a state where this cannot be done to it
  ChildNotAllowed,   // the parent has no such slot, or not for such an item
  InvalidChildType,  // an item of this type does not fit the slot
  InvalidReference,  // it cannot inherit from there
  PropertyNotAllowed,
  ReadOnlyProperty,
  PropertyNotSet,
  NothingToUpdate,
  MissingRequiredProperty,
  MissingRequiredItem,
  Validation,   // a value, or values together, that the type refuses
  Cardinality,  // too few or too many items in a collection
};

// "item_exists", as it stands in answers.
std::string_view name(Refusal refusal);

}  // namespace muster::model
