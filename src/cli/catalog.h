#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/context.h"
#include "pack/shipped.h"

// Packs and their types as the API tells them, whether a controller was asked or folders were read:
// whoever shows them need not know.

namespace muster::cli {

struct Catalog {
  Json packs = Json::array();
  Json types = Json::array();           // of items, by id
  Json property_types = Json::array();  // by id
};

// Of the folders that the options name; if they name none, of the controller. Where no controller
// was named either and none is there, of the packs that came with the program, and says so.
Outcome<Catalog> find_catalog(Context& context, const pack::PackOptions& options);

// The JSON Schema of a model file, found in the same way.
Outcome<Json> find_model_schema(Context& context, const pack::PackOptions& options);

// Null: there is none.
const Json* find_pack(const Catalog& catalog, std::string_view name);
const Json* find_type(const Catalog& catalog, std::string_view id);
const Json* find_property_type(const Catalog& catalog, std::string_view id);

// "; did you mean 'web'?", or empty.
std::string suggest(std::string_view name, const std::vector<std::string>& known);

// Whether the item type is the other or extends it.
bool is_a(const Catalog& catalog, std::string_view id, std::string_view other);

}  // namespace muster::cli
