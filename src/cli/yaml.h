#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

// YAML in and out, as the JSON value that it means. The one file that knows yaml-cpp.

namespace muster::cli {

// YAML reads JSON too. Several documents make an array of them. A duplicate key, a key that is no
// scalar, and a text that aliases blow up beyond the limits are refused. Error: InvalidValue, with
// line and column.
Result<Json> parse_yaml(std::string_view text);

// Block style; a string that would read back as something else is quoted. Ends with a newline.
std::string dump_yaml(const Json& value);

}  // namespace muster::cli
