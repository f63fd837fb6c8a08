#include "model/quoted.h"
#include "model/regex.h"
#include "model/schema_builder.h"

namespace muster::model {
namespace {

constexpr std::size_t kChecksMax = 32;

}  // namespace

void SchemaBuilder::take_property_types() {
  for (const PackDefinition* const pack : in_order_) {
    for (const PropertyTypeDefinition& definition : pack->property_types) {
      if (const std::string problem = type_name_problem(definition.id); !problem.empty()) {
        error(definition.place, "{}", problem);
      }
      const auto taken = property_types_.find(definition.id);
      if (taken != property_types_.end()) {
        error(definition.place, "property type '{}' is there already, at {}", definition.id,
              to_text(taken->second->definition.place));
        clashed_properties_.insert(definition.id);
        continue;
      }
      property_types_.emplace(definition.id, std::make_unique<PropertyType>(
                                                 PropertyType{definition, pack->name, nullptr}));
      check_property_type(*pack, definition);
    }
  }
}

void SchemaBuilder::check_property_type(const PackDefinition& pack,
                                        const PropertyTypeDefinition& definition) {
  if (definition.regex) {
    Result<std::shared_ptr<const Regex>> regex = Regex::compile(*definition.regex);
    if (regex) {
      property_types_[definition.id]->regex = std::move(*regex);
    } else {
      error(definition.regex_place.file.empty() ? definition.place : definition.regex_place,
            "property type '{}': {}", definition.id, regex.error().message);
    }
  }
  if (definition.checks.size() > kChecksMax) {
    error(definition.place, "property type '{}' has {} checks; at most {} are allowed",
          definition.id, definition.checks.size(), kChecksMax);
  }
  for (std::size_t i = 0; i < definition.checks.size(); ++i) {
    const std::string problem = value_check_error(pack, definition.checks[i]);
    if (!problem.empty()) {
      error(i < definition.check_places.size() ? definition.check_places[i] : definition.place,
            "property type '{}': {}", definition.id, problem);
    }
  }
}

std::string SchemaBuilder::value_check_error(const PackDefinition& pack,
                                             const ValueCheck& check) const {
  if (const auto* range = std::get_if<IntegerRangeCheck>(&check);
      range && range->min > range->max) {
    return fmt::format("the range from {} to {} has no number in it", range->min, range->max);
  }
  if (const auto* length = std::get_if<LengthCheck>(&check); length && length->max == 0) {
    return "a length of at most 0 allows no value";
  }
  if (const auto* restricted = std::get_if<RestrictedCheck>(&check);
      restricted && restricted->values.empty()) {
    return "a list of restricted values without a value forbids nothing";
  }
  if (const auto* plugin = std::get_if<PluginCheck>(&check)) {
    if (!pack.has_plugin) {
      return fmt::format("the check {} is a function of a plugin, but pack '{}' has no plugin",
                         quoted(plugin->method), pack.name);
    }
    return property_name_problem(plugin->method);
  }
  return {};
}

}  // namespace muster::model
