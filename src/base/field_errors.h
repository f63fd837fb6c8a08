#pragma once

#include <vector>

#include "base/error.h"

namespace muster {

// One error for all wrong fields of a request. If they are all of one kind it keeps their code, so
// that a caller can act on it; otherwise it is InvalidRequest. REQUIRES: not empty.
Error gather(std::vector<FieldError> errors);

}  // namespace muster
