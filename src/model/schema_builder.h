#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/schema.h"

namespace muster::model {

// Makes a Schema from what packs declare. Each step checks one thing over all types and goes on
// after an error, so that all errors are told at once; a type whose base is wrong is held to
// nothing that the base would have decided, so that one error is told once.
//
// Borrows the packs; lives for one build.
class SchemaBuilder {
 public:
  SchemaBuilder(const std::vector<PackDefinition>& packs, const SchemaOptions& options)
      : packs_(packs), options_(options) {}

  BuiltSchema build() &&;

 private:
  // An item type on its way.
  struct Draft {
    const ItemTypeDefinition* definition = nullptr;
    const PackDefinition* pack = nullptr;
    std::unique_ptr<ItemType> type;
    Draft* base = nullptr;
    bool incomplete = false;  // its base, or one further down, is not known
  };

  // schema_packs.cc
  void take_packs();
  // The core pack first, then each after what it needs, otherwise as given.
  void sort_packs();
  void check_needs();
  void check_need_cycles();
  // Whether `user` may use what `owner` defines; an error tells what is missing.
  void check_reach(const PackDefinition& user, std::string_view owner, const Place& place,
                   std::string_view what);
  // The pack among those not used that defines the item type or property type; null: none.
  const PackDefinition* other_with_item_type(std::string_view id) const;
  const PackDefinition* other_with_property_type(std::string_view id) const;

  // schema_property_types.cc
  void take_property_types();
  void check_property_type(const PackDefinition& pack, const PropertyTypeDefinition& definition);
  std::string value_check_error(const PackDefinition& pack, const ValueCheck& check) const;

  // schema_item_types.cc
  void take_item_types();
  void resolve_bases();
  void find_extends_cycles();
  void mark_incomplete();
  // Each draft after its base.
  std::vector<Draft*> in_order_of_bases();

  // schema_properties.cc
  void fill_properties(Draft& draft);
  void fill_views(Draft& draft);
  void fill_item_checks(Draft& draft);
  const PropertyType* property_type(const Draft& draft, const std::string& id, const Place& place);
  void check_default(const Property& property);

  // schema_elements.cc
  void fill_elements(Draft& draft);
  void add_element(Draft& draft, const ElementDefinition& definition);
  void check_element(Draft& draft, const ElementDefinition& definition);
  void check_twin_children(const Draft& draft);
  void find_required_child_cycles();

  // schema_require.cc
  void resolve_require(Draft& draft);

  // schema_model_checks.cc
  void fill_model_checks(Draft& draft);
  const Draft* named_type(const Draft& draft, const std::string& id, const Place& place);
  void check_has_property(const Draft& draft, const std::string& name, const Place& place);
  void check_unique(const Draft& draft, const UniqueCheck& check, const Place& place);
  void check_lists(const Draft& draft, const ListsCheck& check, const Place& place);

  // schema_migrations.cc
  void check_migrations();
  void check_migration_versions(const PackDefinition& pack);
  // That the name which a step leaves behind is, after all later steps, one that there is.
  void check_step(const PackDefinition& pack, const std::vector<const MigrationStep*>& steps,
                  std::size_t at);
  void check_added_value(const Place& place, const AddProperty& step, const Property& property);

  // What the name of a property, view or element is already used for in the type; empty: nothing.
  static std::string taken_as(const Draft& draft, std::string_view name);
  // Reports a name that stands twice in a type, or is used by a type that it extends.
  bool check_member_name(const Draft& draft, std::string_view what, const std::string& name,
                         const Place& place);

  template <typename... Args>
  void error(const Place& place, fmt::format_string<Args...> format, Args&&... args) {
    errors_.push_back({place, fmt::format(format, std::forward<Args>(args)...)});
  }

  const std::vector<PackDefinition>& packs_;
  const SchemaOptions& options_;
  std::vector<const PackDefinition*> in_order_;
  // Names that two packs define: nothing more is told about their use.
  std::set<std::string, std::less<>> clashed_items_;
  std::set<std::string, std::less<>> clashed_properties_;
  std::map<std::string, const PackDefinition*, std::less<>> packs_by_name_;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> reach_;
  std::map<std::string, std::unique_ptr<PropertyType>, std::less<>> property_types_;
  std::map<std::string, Draft, std::less<>> drafts_;
  std::vector<DefinitionError> errors_;
};

// Why `name` cannot name a type, a pack, or an element, or empty: a letter, then letters, digits,
// '_' and '-'.
std::string type_name_problem(std::string_view name);
// As above, of a property or a view: without '-', so that a template can name it.
std::string property_name_problem(std::string_view name);

}  // namespace muster::model
