#include "model/json_schema.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "model/path.h"
#include "model/regex.h"

namespace muster::model {
namespace {

constexpr const char* kIdPattern = "^[A-Za-z0-9_-]+$";
constexpr const char* kPathPattern = "^(?:/|(?:/[A-Za-z0-9_-]+)+)$";
constexpr const char* kPlaceholder = "%%[A-Za-z0-9_.-]+%%";

// Editors have regular expressions of another kind. What both kinds share is nearly all that
// people write; an expression that has more is left out rather than misread.
bool is_portable(std::string_view expression) {
  static constexpr std::string_view kForeign[] = {"(?i", "(?s", "(?m", "(?U", "(?P", "(?-", "[[:",
                                                  "\\z", "\\A", "\\C", "\\Q", "\\p", "\\P", "\\a"};
  for (const std::string_view word : kForeign) {
    if (expression.find(word) != std::string_view::npos) return false;
  }
  return true;
}

std::string pattern_of(const Property& property) {
  const std::string expression(property.type->regex->expression());
  const char* const format = property.definition.site_specific ? "^(?:(?:{})|{})$" : "^(?:{})$";
  return fmt::format(fmt::runtime(format), expression, kPlaceholder);
}

// `yes`, 5 and 1.10 are texts to Muster, whatever an editor takes them for.
Json any_value() { return {{"type", {"string", "number", "boolean"}}}; }

Json path_schema() { return {{"type", "string"}, {"pattern", kPathPattern}}; }

Json value_schema(const Property& property) {
  Json value = any_value();
  std::string description = property.definition.description;
  const std::string& right = property.type->definition.description;
  if (!right.empty()) description += fmt::format("{}({})", description.empty() ? "" : " ", right);
  if (!description.empty()) value["description"] = description;
  if (property.definition.default_value) value["default"] = *property.definition.default_value;
  if (property.definition.deprecated) value["deprecated"] = true;
  if (property.type->regex != nullptr && is_portable(property.type->regex->expression())) {
    value["pattern"] = pattern_of(property);
  }
  for (const ValueCheck& check : property.type->definition.checks) {
    if (const auto* length = std::get_if<LengthCheck>(&check)) value["maxLength"] = length->max;
  }
  return value;
}

class JsonSchemaMaker {
 public:
  explicit JsonSchemaMaker(const Schema& schema) : schema_(schema) {}

  Json make() {
    Json defs = Json::object();
    for (const auto& [id, type] : schema_.item_types()) {
      defs["properties." + id] = properties(*type);
      defs["item." + id] = item(*type);
      defs["slot." + id] = slot(*type);
      defs["untyped." + id] = untyped(*type);
      defs["reference." + id] = reference(*type);
    }
    defs["override"] = override_schema();
    Json root = item(schema_.root());
    root["type"] = "object";
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    root["title"] = "A Muster model";
    root["$defs"] = std::move(defs);
    return root;
  }

 private:
  static Json ref(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

  static Json type_names(const std::vector<std::string>& names) {
    return {{"enum", names}, {"description", "the item's type"}};
  }

  static Json properties(const ItemType& type) {
    Json fields = Json::object();
    for (const auto& [name, property] : type.properties) fields[name] = value_schema(property);
    return {{"type", {"object", "null"}},
            {"properties", std::move(fields)},
            {"additionalProperties", false}};
  }

  // The element as it stands in a file, with whether items in it are inherited.
  static Json element(const Element& element) {
    const std::string& type = element.type->id;
    Json schema;
    if (element.is_collection()) {
      schema = {
          {"type", {"object", "null"}},
          {"propertyNames", {{"pattern", kIdPattern}}},
          // No item is called so.
          {"properties", {{"type", false}, {"inherit", false}, {"properties", false}}},
          {"maxProperties", element.definition.max},
          {"additionalProperties", ref((element.is_reference() ? "reference." : "slot.") + type)}};
    } else {
      schema = ref((element.is_reference() ? "reference." : "slot.") + type);
    }
    if (!element.definition.description.empty()) {
      schema["description"] = element.definition.description;
    }
    return schema;
  }

  static Json elements(const ItemType& type) {
    Json fields = Json::object();
    for (const Element& entry : type.elements) {
      fields[entry.definition.name] = element(entry);
    }
    return fields;
  }

  // An item of exactly this type. No property is required: of an item that is there already, or
  // that another file of the same folder declares too, a file only names what it changes.
  static Json item(const ItemType& type) {
    Json fields = elements(type);
    fields["type"] = type_names({type.id});
    fields["properties"] = ref("properties." + type.id);
    Json schema = {{"type", {"object", "null"}},
                   {"properties", std::move(fields)},
                   {"additionalProperties", false}};
    if (!type.description.empty()) schema["description"] = type.description;
    if (type.deprecated) schema["deprecated"] = true;
    return schema;
  }

  std::vector<std::string> types_of(const ItemType& base) const {
    std::vector<std::string> names;
    for (const ItemType* type : schema_.concrete_types(base)) names.push_back(type->id);
    return names;
  }

  // Properties of all types that an item of the slot may have. Of two types that use a name, either
  // may be meant.
  Json all_properties(const ItemType& base) const {
    Json fields = Json::object();
    for (const ItemType* type : schema_.concrete_types(base)) {
      for (const auto& [name, property] : type->properties) {
        Json value = value_schema(property);
        const auto known = fields.find(name);
        if (known == fields.end()) {
          fields[name] = std::move(value);
        } else if (*known != value) {
          *known = any_value();
        }
      }
    }
    return fields;
  }

  // An item that does not say of which type it is: one that is there already, or, in a slot of a
  // type that is not abstract, a new one of that type.
  Json untyped(const ItemType& base) const {
    Json fields = Json::object();
    for (const ItemType* type : schema_.concrete_types(base)) {
      for (const Element& entry : type->elements) {
        Json value = element(entry);
        const auto known = fields.find(entry.definition.name);
        if (known == fields.end()) {
          fields[entry.definition.name] = std::move(value);
        } else if (*known != value) {
          *known = ref("override");
        }
      }
    }
    fields["properties"] = {{"type", {"object", "null"}},
                            {"properties", all_properties(base)},
                            {"additionalProperties", false}};
    return {{"properties", std::move(fields)}, {"additionalProperties", false}};
  }

  // An item of the type or of one that extends it, chosen by `type`.
  Json slot(const ItemType& base) const {
    Json choices = Json::array();
    const std::vector<std::string> names = types_of(base);
    for (const std::string& id : names) {
      choices.push_back(
          {{"if", {{"properties", {{"type", {{"const", id}}}}}, {"required", {"type"}}}},
           {"then", ref("item." + id)}});
    }
    choices.push_back(
        {{"if", {{"required", {"type"}}}}, {"then", true}, {"else", ref("untyped." + base.id)}});
    return {{"type", {"object", "null"}},
            {"properties", {{"type", type_names(names)}}},
            {"allOf", std::move(choices)}};
  }

  // What stands below an item that takes over another one: which types it has depends on that one,
  // so only Muster can check names.
  static Json override_schema() {
    return {
        {"type", {"object", "null"}},
        {"propertyNames", {{"pattern", kIdPattern}}},
        {"properties",
         {{"type", {{"type", "string"}, {"pattern", "."}}},
          {"inherit", path_schema()},
          {"properties", {{"type", {"object", "null"}}, {"additionalProperties", any_value()}}}}},
        {"additionalProperties", ref("override")}};
  }

  // An item that takes over another one.
  Json reference(const ItemType& base) const {
    Json inherit = path_schema();
    inherit["description"] = "the path of the item that is taken over";
    Json fields = {{"inherit", std::move(inherit)},
                   {"type", type_names(types_of(base))},
                   {"properties",
                    {{"type", {"object", "null"}},
                     {"properties", all_properties(base)},
                     {"additionalProperties", false},
                     {"description", "what is different here"}}}};
    // Without a source it is one that is there already, whose type follows from its source.
    return {{"type", {"object", "null"}},      {"propertyNames", {{"pattern", kIdPattern}}},
            {"properties", std::move(fields)}, {"additionalProperties", ref("override")},
            {"if", {{"required", {"type"}}}},  {"then", {{"required", {"inherit"}}}}};
  }

  const Schema& schema_;
};

}  // namespace

Json json_schema_of(const Schema& schema) { return JsonSchemaMaker(schema).make(); }

}  // namespace muster::model
