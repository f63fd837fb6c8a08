#include "model/schema_builder.h"

#include <algorithm>
#include <tuple>

#include "model/path.h"
#include "model/quoted.h"

namespace muster::model {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

bool by_place(const DefinitionError& a, const DefinitionError& b) {
  const auto key = [](const DefinitionError& error) {
    return std::tie(error.place.file, error.place.line, error.place.column, error.message);
  };
  return key(a) < key(b);
}

}  // namespace

std::string type_name_problem(std::string_view name) {
  const bool good =
      !name.empty() && name.size() <= kItemIdMax && is_letter(name.front()) &&
      std::all_of(name.begin(), name.end(), [](char c) { return is_word(c) || c == '-'; });
  if (good) return {};
  return fmt::format(
      "{} is not a name; a letter and then letters, digits, '_' and '-' are, {} at most",
      quoted(name), kItemIdMax);
}

std::string property_name_problem(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kItemIdMax && is_letter(name.front()) &&
                    std::all_of(name.begin(), name.end(), is_word);
  if (good) return {};
  return fmt::format("{} is not a name; a letter and then letters, digits and '_' are, {} at most",
                     quoted(name), kItemIdMax);
}

BuiltSchema SchemaBuilder::build() && {
  take_packs();
  check_needs();
  take_property_types();
  take_item_types();
  resolve_bases();
  find_extends_cycles();
  mark_incomplete();
  for (Draft* draft : in_order_of_bases()) {
    fill_properties(*draft);
    fill_views(*draft);
    fill_elements(*draft);
    fill_item_checks(*draft);
    resolve_require(*draft);
  }
  for (Draft* draft : in_order_of_bases()) fill_model_checks(*draft);
  find_required_child_cycles();
  check_migrations();

  const auto root = drafts_.find("root");
  if (root == drafts_.end()) error({}, "no pack defines the item type 'root'");
  if (!errors_.empty()) {
    std::sort(errors_.begin(), errors_.end(), by_place);
    errors_.erase(std::unique(errors_.begin(), errors_.end()), errors_.end());
    return {nullptr, std::move(errors_)};
  }

  auto schema = std::make_shared<Schema>();
  for (auto& [id, type] : property_types_) schema->property_types_.emplace(id, std::move(type));
  for (auto& [id, draft] : drafts_) schema->item_types_.emplace(id, std::move(draft.type));
  for (const auto& [name, pack] : packs_by_name_) {
    schema->packs_.emplace(name, Pack{name, pack->version, pack->description, pack->needs,
                                      pack->has_plugin, pack->migrations});
  }
  schema->root_ = schema->find_item_type("root");
  return {std::move(schema), {}};
}

BuiltSchema build_schema(const std::vector<PackDefinition>& packs, const SchemaOptions& options) {
  return SchemaBuilder(packs, options).build();
}

}  // namespace muster::model
