#pragma once

#include <string>

#include "cli/context.h"
#include "model/schema.h"
#include "pack/shipped.h"

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

// The type as a tree for people; what ends with '*' is required.
std::string type_tree(const model::Schema& schema, const model::ItemType& type, int depth,
                      const Terminal& terminal);

}  // namespace muster::cli
