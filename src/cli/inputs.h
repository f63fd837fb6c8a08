#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

// Reading what people type for the inputs of an action.

namespace muster::cli {

// "key=value": the value is JSON if it parses as such, else text; dots in the key nest ("\." is a
// dot). Sets it in `object`. Errors: InvalidValue, for a text without "=", an empty part of the
// key, or a key that would go through something that is no object.
Result<void> apply_input(Json& object, std::string_view text);

// JSON text, "@file" or "-" for stdin.
Result<Json> read_json_argument(std::string_view text, std::string_view option);

// The whole of a file, or of stdin for "-". Limited to 16 MiB.
Result<std::string> read_input_file(const std::string& path);

}  // namespace muster::cli
