#pragma once

#include <string>

#include "cli/context.h"
#include "pack/shipped.h"

// Types of items and properties: those of the controller, or of folders (catalog.h).

namespace muster::cli {

struct TypeListOptions {
  std::string pack = {};        // only of this pack; empty: of all
  std::string extends = {};     // only this type and what extends it; empty: all
  bool property_types = false;  // list these instead
};

Outcome<ExitCode> list_types(Context& context, const pack::PackOptions& packs,
                             const TypeListOptions& options);

// An item type, a property type, or both of one name. `depth` levels of its children are shown.
Outcome<ExitCode> show_type(Context& context, const pack::PackOptions& packs, const std::string& id,
                            int depth);

}  // namespace muster::cli
