#include "model/item.h"

#include <algorithm>
#include <array>

namespace muster::model {
namespace {

constexpr std::array<std::string_view, 5> kStateNames = {"Initial", "Applied", "Updated",
                                                         "ForRemoval", "Removed"};
constexpr std::array<std::string_view, 3> kClassNames = {"item", "collection", "ref-collection"};

template <typename Enum, std::size_t N>
std::optional<Enum> parse_name(const std::array<std::string_view, N>& names,
                               std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

auto lower_bound(auto& entries, std::string_view name) {
  return std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const Properties::Entry& entry, std::string_view wanted) { return entry.first < wanted; });
}

}  // namespace

std::string_view name(ItemState state) { return kStateNames[static_cast<std::size_t>(state)]; }
std::optional<ItemState> parse_item_state(std::string_view text) {
  return parse_name<ItemState>(kStateNames, text);
}

std::string_view name(ItemClass item_class) {
  return kClassNames[static_cast<std::size_t>(item_class)];
}
std::optional<ItemClass> parse_item_class(std::string_view text) {
  return parse_name<ItemClass>(kClassNames, text);
}

const std::string* Properties::find(std::string_view name) const {
  const auto found = lower_bound(entries_, name);
  return found != entries_.end() && found->first == name ? &found->second : nullptr;
}

void Properties::set(std::string_view name, std::string value) {
  const auto found = lower_bound(entries_, name);
  if (found != entries_.end() && found->first == name) {
    found->second = std::move(value);
  } else {
    entries_.emplace(found, name, std::move(value));
  }
}

bool Properties::erase(std::string_view name) {
  const auto found = lower_bound(entries_, name);
  if (found == entries_.end() || found->first != name) return false;
  entries_.erase(found);
  return true;
}

PropertiesPtr share(Properties properties) {
  if (properties.empty()) return nullptr;
  return std::make_shared<const Properties>(std::move(properties));
}

bool same(const PropertiesPtr& a, const PropertiesPtr& b) {
  if (a == b) return true;
  return a && b && *a == *b;
}

const std::string* find(const PropertiesPtr& properties, std::string_view name) {
  return properties ? properties->find(name) : nullptr;
}

void Item::set_state(ItemState to, const PropertiesPtr& merged) {
  if (to == state) return;
  if (!is_for_removal()) previous_state = state;
  state = to;
  if (to != ItemState::Applied) return;
  determinable = true;
  was_applied = true;
  applied = merged;
}

bool operator==(const Item& a, const Item& b) {
  return a.type == b.type && same(a.own, b.own) && same(a.applied, b.applied) &&
         a.source == b.source && a.item_class == b.item_class && a.state == b.state &&
         a.previous_state == b.previous_state && a.determinable == b.determinable &&
         a.was_applied == b.was_applied;
}

}  // namespace muster::model
