#pragma once

#include "base/json.h"
#include "model/schema.h"

namespace muster::model {

Json item_type_json(const Schema& schema, const ItemType& type);
Json property_type_json(const PropertyType& type);
// With the names of its types.
Json pack_json(const Schema& schema, const Pack& pack);

// "child", "collection", "reference", "ref_collection".
std::string_view kind_word(ElementKind kind);
// A check in the words of a pack: "integer_range 1..9".
std::string check_text(const ValueCheck& check);
std::string check_text(const ItemCheck& check);
std::string check_text(const ModelCheck& check);

}  // namespace muster::model
