#include "model/complete.h"

#include "model/item_checks.h"

namespace muster::model {
namespace {

ItemClass class_of(const Element& element) {
  return element.definition.kind == ElementKind::RefCollection ? ItemClass::RefCollection
                                                               : ItemClass::Collection;
}

void fill_defaults(ItemRecord& item, const ItemType& type) {
  for (const auto& [name, property] : type.properties) {
    const auto& value = property.definition.default_value;
    if (!value) continue;
    if (!item.source) set_if_missing(item.own, name, *value);
    if (!item.was_applied || (item.applied_is_own && find(item.own, name))) continue;
    // What was applied is told in full; the default is not something that a plan would have to do.
    if (item.applied_is_own) {
      item.applied = item.own;
      item.applied_is_own = false;
    }
    set_if_missing(item.applied, name, *value);
  }
}

ItemRecord new_child(const ItemRecord& above, const Element& element, Properties defaults) {
  ItemRecord item;
  item.type = element.type->id;
  if (above.state == ItemState::ForRemoval || above.state == ItemState::Removed) {
    item.state = ItemState::ForRemoval;
    item.previous_state = ItemState::Initial;
  }
  if (above.source) {
    item.source = above.source->child(element.definition.name);
  } else {
    for (const auto& [name, value] : defaults) item.own.emplace_back(name, value);
  }
  return item;
}

const Element* element_of(const ItemRecords& items, const Schema& schema, const Path& path) {
  const auto owner = items.find(path.parent());
  if (owner == items.end()) return nullptr;
  const ItemType* type = schema.find_item_type(owner->second.type);
  return type ? type->find_element(path.id()) : nullptr;
}

}  // namespace

ItemRecord new_collection(const ItemRecord& above, const Element& element) {
  ItemRecord item;
  item.type = element.type->id;
  item.item_class = class_of(element);
  // An empty collection has nothing to be done, so it is where its owner is.
  item.state = above.state;
  item.previous_state = above.previous_state;
  item.was_applied = above.was_applied;
  if (above.source) item.source = above.source->child(element.definition.name);
  return item;
}

void complete(ItemRecords& items, const Schema& schema) {
  // What is added stands after what it is added to, so the walk comes by it, too.
  for (auto& [path, item] : items) {
    if (item.item_class != ItemClass::Item) {
      const Element* element = element_of(items, schema, path);
      if (!element || !element->is_collection()) continue;
      item.type = element->type->id;
      item.item_class = class_of(*element);
      continue;
    }
    const ItemType* type = schema.find_item_type(item.type);
    if (!type) continue;
    fill_defaults(item, *type);
    for (const Element& element : type->elements) {
      if (!comes_by_itself(element)) continue;
      const Path place = path.child(element.definition.name);
      if (items.contains(place)) continue;
      items.emplace(place, element.is_collection()
                               ? new_collection(item, element)
                               : new_child(item, element, *defaults_of(*element.type)));
    }
  }
}

}  // namespace muster::model
