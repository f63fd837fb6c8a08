#include "model/schema.h"

#include <algorithm>

#include "base/nearest.h"

namespace muster::model {

bool ItemType::is_a(const ItemType& other) const {
  for (const ItemType* type = this; type != nullptr; type = type->base) {
    if (type == &other) return true;
  }
  return false;
}

bool ItemType::is_a(std::string_view other) const {
  for (const ItemType* type = this; type != nullptr; type = type->base) {
    if (type->id == other) return true;
  }
  return false;
}

const Property* ItemType::find_property(std::string_view name) const {
  const auto found = properties.find(name);
  return found == properties.end() ? nullptr : &found->second;
}

bool ItemType::is_secret(std::string_view property) const {
  const Property* found = find_property(property);
  return found != nullptr && found->definition.secret;
}

const Element* ItemType::find_element(std::string_view name) const {
  const auto found = std::find_if(elements.begin(), elements.end(), [&](const Element& element) {
    return element.definition.name == name;
  });
  return found == elements.end() ? nullptr : &*found;
}

const ItemType* Schema::find_item_type(std::string_view id) const {
  const auto found = item_types_.find(id);
  return found == item_types_.end() ? nullptr : found->second.get();
}

const PropertyType* Schema::find_property_type(std::string_view id) const {
  const auto found = property_types_.find(id);
  return found == property_types_.end() ? nullptr : found->second.get();
}

const Pack* Schema::find_pack(std::string_view name) const {
  const auto found = packs_.find(name);
  return found == packs_.end() ? nullptr : &found->second;
}

std::string Schema::suggest_item_type(std::string_view wrong) const {
  std::vector<std::string_view> known;
  known.reserve(item_types_.size());
  for (const auto& [id, type] : item_types_) known.push_back(id);
  return did_you_mean(wrong, known);
}

}  // namespace muster::model
