#include "model/refusal.h"

namespace muster::model {

std::string_view name(Refusal refusal) {
  switch (refusal) {
    case Refusal::InvalidRequest:
      return "invalid_request";
    case Refusal::InvalidLocation:
      return "invalid_location";
    case Refusal::InvalidType:
      return "invalid_type";
    case Refusal::ItemExists:
      return "item_exists";
    case Refusal::MethodNotAllowed:
      return "method_not_allowed";
    case Refusal::ChildNotAllowed:
      return "child_not_allowed";
    case Refusal::InvalidChildType:
      return "invalid_child_type";
    case Refusal::InvalidReference:
      return "invalid_reference";
    case Refusal::PropertyNotAllowed:
      return "property_not_allowed";
    case Refusal::ReadOnlyProperty:
      return "read_only_property";
    case Refusal::PropertyNotSet:
      return "property_not_set";
    case Refusal::NothingToUpdate:
      return "nothing_to_update";
    case Refusal::MissingRequiredProperty:
      return "missing_required_property";
    case Refusal::MissingRequiredItem:
      return "missing_required_item";
    case Refusal::Validation:
      return "validation";
    case Refusal::Cardinality:
      return "cardinality";
  }
  return "invalid_request";
}

}  // namespace muster::model
