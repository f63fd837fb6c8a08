#include "base/nearest.h"
#include "model/quoted.h"
#include "model/schema_builder.h"

// Checks across items name other types, so they are looked at when all types are filled.

namespace muster::model {

void SchemaBuilder::fill_model_checks(Draft& draft) {
  if (draft.base != nullptr) draft.type->model_checks = draft.base->type->model_checks;
  for (const ModelCheckDefinition& definition : draft.definition->model_checks) {
    ModelCheck check = definition.check;
    if (auto* unique = std::get_if<UniqueCheck>(&check)) {
      if (unique->among.empty()) unique->among = {draft.definition->id};
      check_unique(draft, *unique, definition.place);
    } else {
      check_lists(draft, std::get<ListsCheck>(check), definition.place);
    }
    draft.type->model_checks.emplace_back(draft.pack->name, std::move(check));
  }
}

const SchemaBuilder::Draft* SchemaBuilder::named_type(const Draft& draft, const std::string& id,
                                                      const Place& place) {
  const auto found = drafts_.find(id);
  if (found == drafts_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, other] : drafts_) names.push_back(name);
    error(place, "item type '{}': a check names item type {}, which no pack defines{}",
          draft.definition->id, quoted(id), did_you_mean(id, names));
    return nullptr;
  }
  check_reach(*draft.pack, found->second.pack->name, place, fmt::format("item type '{}'", id));
  return &found->second;
}

void SchemaBuilder::check_has_property(const Draft& draft, const std::string& name,
                                       const Place& place) {
  if (draft.incomplete || draft.type->find_property(name) != nullptr) return;
  std::vector<std::string_view> known;
  for (const auto& [other, property] : draft.type->properties) known.push_back(other);
  error(place, "item type '{}': a check names {}, which is no property{}", draft.definition->id,
        quoted(name), did_you_mean(name, known));
}

void SchemaBuilder::check_unique(const Draft& draft, const UniqueCheck& check, const Place& place) {
  check_has_property(draft, check.property, place);
  bool own = false;
  for (const std::string& id : check.among) {
    const Draft* other = named_type(draft, id, place);
    if (other == nullptr) return;
    own = own || draft.type->is_a(*other->type);
    if (other != &draft) check_has_property(*other, check.property, place);
  }
  if (own || draft.incomplete) return;
  error(place, "item type '{}': what is unique among {} is no rule for the type itself",
        draft.definition->id, quoted_list(check.among));
}

void SchemaBuilder::check_lists(const Draft& draft, const ListsCheck& check, const Place& place) {
  check_has_property(draft, check.property, place);
  const Draft* owner = named_type(draft, check.of, place);
  if (owner == nullptr || owner->incomplete) return;
  const Element* element = owner->type->find_element(check.collection);
  if (element != nullptr && element->is_collection()) return;
  std::vector<std::string_view> known;
  for (const Element& each : owner->type->elements) {
    if (each.is_collection()) known.push_back(each.definition.name);
  }
  error(place, "item type '{}': a check names {}, which is no collection of '{}'{}",
        draft.definition->id, quoted(check.collection), check.of,
        did_you_mean(check.collection, known));
}

}  // namespace muster::model
