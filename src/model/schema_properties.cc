#include "base/nearest.h"
#include "model/quoted.h"
#include "model/schema_builder.h"
#include "model/value_check.h"

namespace muster::model {
namespace {

// The properties that a check across an item names.
std::vector<std::string> named_properties(const ItemCheck& check) {
  if (const auto* max = std::get_if<MaxValueCheck>(&check)) return {max->property, max->limit};
  if (const auto* one = std::get_if<OnePropertyCheck>(&check)) return one->properties;
  if (const auto* directory = std::get_if<DirectoryCheck>(&check)) return {directory->property};
  return {};
}

}  // namespace

std::string SchemaBuilder::taken_as(const Draft& draft, std::string_view name) {
  const auto where = [](const Place& place) {
    const std::string text = to_text(place);
    return text.empty() ? text : ", at " + text;
  };
  if (const Property* property = draft.type->find_property(name)) {
    return "a property" + where(property->definition.place);
  }
  if (const auto view = draft.type->views.find(name); view != draft.type->views.end()) {
    return "a view" + where(view->second.place);
  }
  if (const Element* element = draft.type->find_element(name)) {
    return "an element" + where(element->definition.place);
  }
  return {};
}

bool SchemaBuilder::check_member_name(const Draft& draft, std::string_view what,
                                      const std::string& name, const Place& place) {
  const std::string taken = taken_as(draft, name);
  if (taken.empty()) return true;
  error(place, "item type '{}': {} '{}' is there already as {}", draft.definition->id, what, name,
        taken);
  return false;
}

const PropertyType* SchemaBuilder::property_type(const Draft& draft, const std::string& id,
                                                 const Place& place) {
  const auto found = property_types_.find(id);
  const PackDefinition* const other =
      found == property_types_.end() ? other_with_property_type(id) : nullptr;
  if (other != nullptr) {
    check_reach(*draft.pack, other->name, place, fmt::format("property type '{}'", id));
    return nullptr;
  }
  if (found == property_types_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, type] : property_types_) names.push_back(name);
    error(place, "item type '{}': no pack defines the property type {}{}", draft.definition->id,
          quoted(id), did_you_mean(id, names));
    return nullptr;
  }
  if (clashed_properties_.contains(id)) return nullptr;
  check_reach(*draft.pack, found->second->pack, place, fmt::format("property type '{}'", id));
  return found->second.get();
}

void SchemaBuilder::fill_properties(Draft& draft) {
  if (draft.base != nullptr) {
    // Before its own members, so that these meet what they may not redefine.
    draft.type->properties = draft.base->type->properties;
    draft.type->views = draft.base->type->views;
    draft.type->elements = draft.base->type->elements;
    draft.type->checks = draft.base->type->checks;
  }
  for (const PropertyDefinition& definition : draft.definition->properties) {
    if (const std::string problem = property_name_problem(definition.name); !problem.empty()) {
      error(definition.place, "item type '{}': {}", draft.definition->id, problem);
    }
    const PropertyType* type = nullptr;
    if (definition.type.empty()) {
      error(definition.place, "property '{}' has no type", definition.name);
    } else {
      type = property_type(draft, definition.type, definition.place);
    }
    if (!check_member_name(draft, "property", definition.name, definition.place)) continue;
    const Property property{definition, type};
    draft.type->properties.emplace(definition.name, property);
    check_default(property);
    if (definition.plugin_only && definition.required && !definition.default_value) {
      error(definition.place,
            "property '{}' is required and only plugins write it; it needs a default, or nobody "
            "can make the item",
            definition.name);
    }
  }
}

void SchemaBuilder::check_default(const Property& property) {
  const PropertyDefinition& definition = property.definition;
  if (!definition.default_value || property.type == nullptr) return;
  const std::string problem = value_problem(*property.type, *definition.default_value,
                                            definition.secret ? ShowValue::No : ShowValue::Yes);
  if (!problem.empty()) {
    error(definition.place, "the default of property '{}' is refused by its own type: {}",
          definition.name, problem);
  }
}

void SchemaBuilder::fill_views(Draft& draft) {
  for (ViewDefinition view : draft.definition->views) {
    if (const std::string problem = property_name_problem(view.name); !problem.empty()) {
      error(view.place, "item type '{}': {}", draft.definition->id, problem);
    }
    if (const std::string problem = property_name_problem(view.method); !problem.empty()) {
      error(view.place, "the method of view '{}': {}", view.name, problem);
    }
    if (!view.type.empty()) property_type(draft, view.type, view.place);
    if (!draft.pack->has_plugin) {
      error(view.place, "view '{}' is computed by a plugin, but pack '{}' has no plugin", view.name,
            draft.pack->name);
    }
    if (!check_member_name(draft, "view", view.name, view.place)) continue;
    view.pack = draft.pack->name;
    draft.type->views.emplace(view.name, view);
  }
}

void SchemaBuilder::fill_item_checks(Draft& draft) {
  std::vector<std::string_view> known;
  for (const auto& [name, property] : draft.type->properties) known.push_back(name);
  const ItemTypeDefinition& definition = *draft.definition;
  for (std::size_t i = 0; i < definition.checks.size(); ++i) {
    const ItemCheck& check = definition.checks[i];
    const Place& place =
        i < definition.check_places.size() ? definition.check_places[i] : definition.place;
    for (const std::string& name : named_properties(check)) {
      if (draft.incomplete || draft.type->find_property(name) != nullptr) continue;
      error(place, "item type '{}': a check names {}, which is no property{}", definition.id,
            quoted(name), did_you_mean(name, known));
    }
    if (const auto* one = std::get_if<OnePropertyCheck>(&check);
        one && one->properties.size() < 2) {
      error(place, "item type '{}': a check that exactly one property is set names two or more",
            definition.id);
    }
    if (const auto* plugin = std::get_if<PluginCheck>(&check)) {
      if (!draft.pack->has_plugin) {
        error(place,
              "item type '{}': the check {} is a function of a plugin, but pack '{}' has no plugin",
              definition.id, quoted(plugin->method), draft.pack->name);
      } else if (const std::string problem = property_name_problem(plugin->method);
                 !problem.empty()) {
        error(place, "item type '{}': a check's method {}", definition.id, problem);
      }
    }
    draft.type->checks.emplace_back(draft.pack->name, check);
  }
}

}  // namespace muster::model
