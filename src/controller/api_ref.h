#pragma once

#include <string_view>

#include "base/result.h"
#include "core/action/action.h"
#include "store/store.h"

namespace muster::controller {

// The action that `ref` names, as it was last committed. A UUID is looked up as an id, then as a
// name; anything else as a name, then, from four hex digits on, as the start of an id. Reads the
// store. Errors: NotFound, Ambiguous (lists up to five that match), and those of the store.
Result<core::ActionPtr> resolve_action(store::Store& store, std::string_view ref);

}  // namespace muster::controller
