#pragma once

#include "base/json.h"
#include "model/schema.h"

namespace muster::model {

// A JSON Schema (draft 2020-12) of a model file, for editors: what may stand where, with
// descriptions. It accepts every file that the types accept; the checks that JSON Schema has no
// words for are left to Muster.
Json json_schema_of(const Schema& schema);

}  // namespace muster::model
