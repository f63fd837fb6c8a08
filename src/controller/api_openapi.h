#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace muster::controller {

// YAML as JSON: plain scalars take the type that YAML 1.2's core schema gives them, quoted ones are
// strings. Error: DecodeFailed, with line and column.
Result<Json> yaml_to_json(std::string_view yaml);

}  // namespace muster::controller
