#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/path.h"
#include "model/schema.h"

namespace muster::model {

enum class ItemState : std::uint8_t { Initial, Applied, Updated, ForRemoval, Removed };
std::string_view name(ItemState state);
std::optional<ItemState> parse_item_state(std::string_view text);

enum class ItemClass : std::uint8_t { Item, Collection, RefCollection };
std::string_view name(ItemClass item_class);
std::optional<ItemClass> parse_item_class(std::string_view text);

// Values of properties, sorted by name. Names point into the schema, which outlives every model
// made with it: a million items do not hold a million copies of "hostname".
class Properties {
 public:
  using Entry = std::pair<std::string_view, std::string>;

  // Null: not set.
  const std::string* find(std::string_view name) const;
  // REQUIRES: `name` points into the schema.
  void set(std::string_view name, std::string value);
  bool erase(std::string_view name);  // false: was not set

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  bool operator==(const Properties&) const = default;

 private:
  std::vector<Entry> entries_;
};

// Null stands for no properties, which is what most items have.
using PropertiesPtr = std::shared_ptr<const Properties>;

PropertiesPtr share(Properties properties);
bool same(const PropertiesPtr& a, const PropertiesPtr& b);
const std::string* find(const PropertiesPtr& properties, std::string_view name);

// One item at one moment. Immutable once it is in a tree: a change makes a new one, so that what
// was before can be told from what is. It does not know its own path, the tree does.
struct Item {
  const ItemType* type = nullptr;  // of a collection: what its members are
  PropertiesPtr own;               // set here; of an inherited item only what it overrides
  PropertiesPtr applied;           // all properties as they were when it became Applied
  std::optional<Path> source;      // what it inherits from
  ItemClass item_class = ItemClass::Item;
  ItemState state = ItemState::Initial;
  std::optional<ItemState> previous_state;
  bool determinable = true;  // of the applied properties: false once a task of it has failed
  bool was_applied = false;  // `applied` means something

  bool is_collection() const { return item_class != ItemClass::Item; }
  bool is_for_removal() const { return state == ItemState::ForRemoval; }
  // It was removed from its host, but something below it, or something that inherits from it, was
  // not: it can only be removed again.
  bool has_failed_removal() const {
    return is_for_removal() && previous_state == ItemState::Removed;
  }

  // Remembers the state before, except that of an item which waits for its removal: what it goes
  // back to when it is recovered is the state before that. `merged` is what it has when it becomes
  // Applied.
  void set_state(ItemState to, const PropertiesPtr& merged);
};

bool operator==(const Item& a, const Item& b);

using ItemPtr = std::shared_ptr<const Item>;

}  // namespace muster::model
