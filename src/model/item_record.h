#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/item.h"
#include "model/path.h"
#include "model/schema.h"

namespace muster::model {

// An item as it is kept: with names where an Item has pointers into a schema, so that it can be
// read, shown and migrated whatever types there are now.
struct ItemRecord {
  using Values = std::vector<std::pair<std::string, std::string>>;  // sorted by name

  std::string type;
  ItemClass item_class = ItemClass::Item;
  ItemState state = ItemState::Initial;
  std::optional<ItemState> previous_state;
  bool determinable = true;
  bool was_applied = false;
  bool applied_is_own = false;  // `applied` is empty here and the same as `own`
  Values own;
  Values applied;
  std::optional<Path> source;

  bool operator==(const ItemRecord&) const = default;
};

ItemRecord to_record(const Item& item);

// Error: DecodeFailed, if the schema has no such type or property.
Result<ItemPtr> to_item(ItemRecord record, const Schema& schema);

// Null: it has none of that name.
const std::string* find(const ItemRecord::Values& values, std::string_view name);
void set_if_missing(ItemRecord::Values& values, const std::string& name, const std::string& value);

}  // namespace muster::model
