#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/definition.h"
#include "model/place.h"
#include "model/version.h"

namespace muster::model {

class Regex;

// A definition that cannot be used, with the place of what is wrong.
struct DefinitionError {
  Place place;
  std::string message;

  bool operator==(const DefinitionError&) const = default;
};

struct PropertyType {
  PropertyTypeDefinition definition;
  std::string pack;
  std::shared_ptr<const Regex> regex;  // null: any text
};

struct Property {
  PropertyDefinition definition;
  const PropertyType* type = nullptr;
};

struct ItemType;

struct Element {
  ElementDefinition definition;
  const ItemType* type = nullptr;
  // `require` followed to its end, by name, sorted: what comes before this one.
  std::vector<std::string> after;

  bool is_collection() const {
    return definition.kind == ElementKind::Collection ||
           definition.kind == ElementKind::RefCollection;
  }
  bool is_reference() const {
    return definition.kind == ElementKind::Reference ||
           definition.kind == ElementKind::RefCollection;
  }
};

// With everything that it takes over from the types that it extends.
struct ItemType {
  std::string id;
  std::string pack;
  std::string description;
  bool deprecated = false;
  bool is_abstract = false;  // there are only items of types that extend it
  Place place;
  const ItemType* base = nullptr;
  std::map<std::string, Property, std::less<>> properties;
  std::map<std::string, ViewDefinition, std::less<>> views;
  std::vector<Element> elements;  // the base's first, then in the order of the definition
  // Pairs of the pack that defined the check and the check.
  std::vector<std::pair<std::string, ItemCheck>> checks;
  std::vector<std::pair<std::string, ModelCheck>> model_checks;

  // The same type, or one that extends it.
  bool is_a(const ItemType& other) const;
  bool is_a(std::string_view other) const;
  const Property* find_property(std::string_view name) const;
  bool is_secret(std::string_view property) const;
  const Element* find_element(std::string_view name) const;
};

struct Pack {
  std::string name;
  std::string version;
  std::string description;
  std::vector<PackNeed> needs;
  bool has_plugin = false;
  std::vector<Migration> migrations;
};

// All types of all packs, checked and resolved. Immutable; pointers into it stay valid as long as
// it lives, and models keep such pointers.
class Schema {
 public:
  Schema() = default;
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

  const ItemType* find_item_type(std::string_view id) const;
  const PropertyType* find_property_type(std::string_view id) const;
  const Pack* find_pack(std::string_view name) const;
  const ItemType& root() const { return *root_; }

  const std::map<std::string, std::unique_ptr<const ItemType>, std::less<>>& item_types() const {
    return item_types_;
  }
  const std::map<std::string, std::unique_ptr<const PropertyType>, std::less<>>& property_types()
      const {
    return property_types_;
  }
  const std::map<std::string, Pack, std::less<>>& packs() const { return packs_; }

  // The known name nearest to a wrong one: "; did you mean 'node'?", or empty.
  std::string suggest_item_type(std::string_view wrong) const;
  // Types that items can have where the type is accepted, by name.
  std::vector<const ItemType*> concrete_types(const ItemType& base) const;
  // Why there is no item of an abstract type, with some of the types that are meant.
  std::string abstract_problem(const ItemType& type) const;

 private:
  friend class SchemaBuilder;

  std::map<std::string, std::unique_ptr<const PropertyType>, std::less<>> property_types_;
  std::map<std::string, std::unique_ptr<const ItemType>, std::less<>> item_types_;
  std::map<std::string, Pack, std::less<>> packs_;
  const ItemType* root_ = nullptr;
};

using SchemaPtr = std::shared_ptr<const Schema>;

struct BuiltSchema {
  SchemaPtr schema;                     // null if there is any error
  std::vector<DefinitionError> errors;  // all of them, in the order of their places
};

struct SchemaOptions {
  // Packs that are at hand and not used: what they define is told as such instead of unknown.
  std::vector<const PackDefinition*> others = {};
};

// Checks all packs together: names that clash, unknown bases and types, types of a pack that is not
// needed, properties redefined along `extends`, cycles of `extends`, of `require` and of required
// children, defaults that their own type refuses, regular expressions that do not compile, packs or
// versions that are missing, migrations that do not lead to the types there are. The type of the
// model's root is called "root". Of two packs that define the same name, the core pack, the one
// that the other needs, or else the first is right.
BuiltSchema build_schema(const std::vector<PackDefinition>& packs,
                         const SchemaOptions& options = {});

}  // namespace muster::model
