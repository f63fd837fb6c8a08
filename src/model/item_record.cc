#include "model/item_record.h"

#include <algorithm>

namespace muster::model {
namespace {

ItemRecord::Values values_of(const PropertiesPtr& properties) {
  ItemRecord::Values values;
  if (!properties) return values;
  values.reserve(properties->size());
  for (const auto& [name, value] : *properties) values.emplace_back(name, value);
  return values;
}

Result<PropertiesPtr> properties_of(ItemRecord::Values values, const ItemType& type) {
  if (values.empty()) return PropertiesPtr();
  Properties properties;
  for (auto& [name, value] : values) {
    const Property* property = type.find_property(name);
    if (!property) {
      return fail(ErrorCode::DecodeFailed, "item type '{}' has no property '{}'", type.id, name);
    }
    properties.set(property->definition.name, std::move(value));
  }
  return share(std::move(properties));
}

}  // namespace

const std::string* find(const ItemRecord::Values& values, std::string_view name) {
  const auto found = std::ranges::lower_bound(
      values, name, {}, [](const auto& each) -> std::string_view { return each.first; });
  return found != values.end() && found->first == name ? &found->second : nullptr;
}

void set_if_missing(ItemRecord::Values& values, const std::string& name, const std::string& value) {
  const auto place = std::ranges::lower_bound(
      values, name, {}, [](const auto& each) { return std::string_view(each.first); });
  if (place == values.end() || place->first != name) values.emplace(place, name, value);
}

ItemRecord to_record(const Item& item) {
  ItemRecord record;
  record.type = item.type->id;
  record.item_class = item.item_class;
  record.state = item.state;
  record.previous_state = item.previous_state;
  record.determinable = item.determinable;
  record.was_applied = item.was_applied;
  record.own = values_of(item.own);
  record.applied_is_own = item.applied != nullptr && same(item.applied, item.own);
  if (!record.applied_is_own) record.applied = values_of(item.applied);
  record.source = item.source;
  return record;
}

Result<ItemPtr> to_item(ItemRecord record, const Schema& schema) {
  Item item;
  item.type = schema.find_item_type(record.type);
  if (!item.type) {
    return fail(ErrorCode::DecodeFailed, "there is no item type '{}'{}", record.type,
                schema.suggest_item_type(record.type));
  }
  MUSTER_TRY_ASSIGN(item.own, properties_of(std::move(record.own), *item.type));
  if (record.applied_is_own) {
    item.applied = item.own;
  } else {
    MUSTER_TRY_ASSIGN(item.applied, properties_of(std::move(record.applied), *item.type));
  }
  item.source = std::move(record.source);
  item.item_class = record.item_class;
  item.state = record.state;
  item.previous_state = record.previous_state;
  item.determinable = record.determinable;
  item.was_applied = record.was_applied;
  return std::make_shared<const Item>(std::move(item));
}

}  // namespace muster::model
