#pragma once

#include "base/json.h"
#include "model/schema.h"

namespace muster::cli {

Json item_type_json(const model::Schema& schema, const model::ItemType& type);
Json property_type_json(const model::PropertyType& type);

// "child", "collection", "reference", "ref_collection".
std::string_view kind_word(model::ElementKind kind);
// A check in the words of a pack: "integer_range 1..9".
std::string check_text(const model::ValueCheck& check);
std::string check_text(const model::ItemCheck& check);

}  // namespace muster::cli
