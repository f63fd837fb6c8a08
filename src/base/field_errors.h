#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

// What those who read the fields of a request say about wrong ones.

namespace muster {

// One error for all wrong fields of a request. If they are all of one kind it keeps their code, so
// that a caller can act on it; otherwise it is InvalidRequest. `unnamed` more were found than are
// in the list. REQUIRES: not empty.
Error gather(std::vector<FieldError> errors, std::size_t unnamed = 0);

// "'abc'", cut where it is long.
std::string in_quotes(std::string_view text);

// "a list", "a string".
std::string_view type_of(const Json& value);

// The pointer (RFC 6901) to `field` of what `pointer` points to.
std::string pointer_to_field(std::string_view pointer, std::string_view field);

}  // namespace muster
