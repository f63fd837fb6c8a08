#pragma once

#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "model/declaration.h"

// A declaration as a model file has it, in JSON: an item's `type`, `inherit` and `properties`, and
// everything else that stands in it is an item below it.

namespace muster::model {

Json to_json(const Declaration& declaration);

// What is not as it should be is added to `errors`, each with a pointer that starts with `pointer`,
// at most kDeclarationErrorsMax of them.
Declaration declaration_from_json(const Json& json, const std::string& pointer,
                                  std::vector<FieldError>& errors);

inline constexpr std::size_t kDeclarationErrorsMax = 100;

}  // namespace muster::model
