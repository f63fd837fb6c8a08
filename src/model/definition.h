#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/migration.h"
#include "model/place.h"

// What packs declare, as they declare it: unchecked values, each with the place where it stands.
// A pack loader makes them; build_schema() (schema.h) checks and resolves them.

namespace muster::model {

// --- Checks of one value. A value that a check does not hold for is refused with what is right.
// ---

enum class IpVersion : std::uint8_t { V4, V6, Both };

struct IntegerCheck {};
struct IntegerRangeCheck {
  std::int64_t min = 0;
  std::int64_t max = 0;
};
struct LengthCheck {
  std::size_t max = 0;
};
struct NotEmptyCheck {};
struct NotDigitsCheck {};  // a name that could be taken for a number
struct NetworkCheck {      // "10.0.0.0/24": the prefix is needed, host bits are zero
  IpVersion version = IpVersion::V4;
};
struct NotZeroAddressCheck {};
struct IpAddressCheck {
  IpVersion version = IpVersion::Both;
};
struct Ipv6AndMaskCheck {};  // "fe80::1/64"; the prefix may be left out
struct RestrictedCheck {     // values that may not be used
  std::vector<std::string> values;
};
// A function of the pack's plugin.
struct PluginCheck {
  std::string method;
};
using ValueCheck = std::variant<IntegerCheck, IntegerRangeCheck, LengthCheck, NotEmptyCheck,
                                NotDigitsCheck, NetworkCheck, NotZeroAddressCheck, IpAddressCheck,
                                Ipv6AndMaskCheck, RestrictedCheck, PluginCheck>;

// --- Checks across the properties of one item. ---

struct MaxValueCheck {  // integer `property` is at most `limit`, another property
  std::string property;
  std::string limit;
};
struct OnePropertyCheck {  // exactly one of them is set
  std::vector<std::string> properties;
};
struct DirectoryCheck {  // the value of `property` is a directory of the controller's host
  std::string property;
};
using ItemCheck = std::variant<MaxValueCheck, OnePropertyCheck, DirectoryCheck, PluginCheck>;

// --- Checks across the items of a model, made before a plan is. ---

// No two items of the types `among` (none: the type itself) have the same value.
struct UniqueCheck {
  std::string property;
  std::vector<std::string> among;
  bool ignore_case = false;

  auto operator<=>(const UniqueCheck&) const = default;
};
// `property` is a list of ids, with commas between them, of items in `collection` of the nearest
// item above that is of the type `of`: each is there, stands once, and is not the item itself.
struct ListsCheck {
  std::string property;
  std::string collection;
  std::string of;
};
using ModelCheck = std::variant<UniqueCheck, ListsCheck>;

struct ModelCheckDefinition {
  ModelCheck check;
  Place place;
};

// --- Types. ---

struct PropertyTypeDefinition {
  std::string id;
  std::optional<std::string> regex;  // RE2; the whole value must match
  std::string description;           // what is right, for errors and documentation
  std::vector<ValueCheck> checks;
  bool deprecated = false;
  Place place;
  // Of parts, where they are known.
  Place regex_place = {};
  std::vector<Place> check_places = {};  // of each check
};

struct PropertyDefinition {
  std::string name;
  std::string type;
  std::string description;
  std::optional<std::string> default_value;
  bool required = false;
  bool user_may_update = true;     // otherwise only while the item is Initial
  bool plugin_may_update = false;  // callbacks of plugins write it
  bool plugin_only = false;        // and users never, not even when the item is made
  bool configuration = true;       // false: a change of it needs no plan
  bool site_specific = false;      // a model file may leave a placeholder for it
  bool secret = false;             // never shown
  bool deprecated = false;
  Place place;
};

// A property that a plugin computes whenever it is read.
struct ViewDefinition {
  std::string name;
  std::string type;  // empty: any value
  std::string description;
  std::string method;
  Place place;
  std::string pack = {};  // whose plugin computes it; set by build_schema()
};

enum class ElementKind : std::uint8_t { Child, Collection, Reference, RefCollection };

// A slot below an item of the type.
struct ElementDefinition {
  std::string name;
  ElementKind kind = ElementKind::Child;
  std::string type;
  std::string description;
  bool required = false;             // Child, Reference
  std::uint32_t min = 0;             // Collection, RefCollection
  std::uint32_t max = 9999;          // Collection, RefCollection
  std::vector<std::string> require;  // siblings that come before it
  bool read_only = false;            // Reference, RefCollection
  bool exclusive = false;            // Reference, RefCollection
  Place place;
};

struct ItemTypeDefinition {
  std::string id;
  std::string extends;  // empty: none
  std::string description;
  std::vector<PropertyDefinition> properties;
  std::vector<ViewDefinition> views;
  std::vector<ElementDefinition> elements;
  std::vector<ItemCheck> checks;
  bool deprecated = false;
  Place place;
  std::vector<ModelCheckDefinition> model_checks = {};
  bool is_abstract = false;              // there are no items of the type itself
  std::vector<Place> check_places = {};  // of each of `checks`, where they are known
};

struct PackNeed {
  std::string pack;
  std::string version;  // at least
  Place place;
};

struct PackDefinition {
  std::string name;
  std::string version;  // numbers with dots: "1.4.0"
  std::string description;
  std::vector<PackNeed> needs;
  bool has_plugin = false;  // PluginCheck and views need one
  std::vector<PropertyTypeDefinition> property_types;
  std::vector<ItemTypeDefinition> item_types;
  Place place;
  std::vector<Migration> migrations = {};  // oldest first
  Place version_place = {};                // where it is known
};

}  // namespace muster::model
