#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/schema.h"

// The checks that packs declare, as far as they are functions of the values alone. A plugin's
// checks and those that look at the disk are asked for elsewhere; here they always hold.

namespace muster::model {

enum class ShowValue : std::uint8_t { No, Yes };

// Why `value` is not one of `type`, or empty if it is: first its regular expression, then its
// checks in their order; the first that does not hold is told, with what is right. The value is not
// in the answer if it is not to be shown, as that of a secret.
std::string value_problem(const PropertyType& type, std::string_view value,
                          ShowValue show = ShowValue::Yes);

// Of one check.
std::string check_problem(const ValueCheck& check, std::string_view value,
                          ShowValue show = ShowValue::Yes);

// The value of a property of the item in question; null if it has none.
using PropertyLookup = std::function<const std::string*(std::string_view)>;

// Why the properties of an item do not go together, or empty if they do.
std::string item_problem(const ItemCheck& check, const PropertyLookup& lookup);

}  // namespace muster::model
