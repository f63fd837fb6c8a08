#include "model/schema.h"

#include <fmt/format.h>

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

std::vector<const ItemType*> Schema::concrete_types(const ItemType& base) const {
  std::vector<const ItemType*> found;
  for (const auto& [id, type] : item_types_) {
    if (!type->is_abstract && type->is_a(base)) found.push_back(type.get());
  }
  return found;
}

std::string Schema::abstract_problem(const ItemType& type) const {
  constexpr std::size_t kNamed = 5;
  const std::vector<const ItemType*> types = concrete_types(type);
  if (types.empty()) {
    return fmt::format("type {} is only a base of others, and no loaded pack extends it", type.id);
  }
  std::string names;
  for (std::size_t i = 0; i < types.size() && i < kNamed; ++i) {
    const bool is_last = i + 1 == types.size();
    names += (i == 0 ? "" : is_last ? " or " : ", ") + types[i]->id;
  }
  if (types.size() > kNamed) names += fmt::format(" or one of {} more", types.size() - kNamed);
  return fmt::format("type {} is only a base of others; use {}", type.id, names);
}

}  // namespace muster::model
