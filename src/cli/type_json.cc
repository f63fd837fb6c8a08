#include "cli/type_json.h"

#include <fmt/format.h>

#include "model/quoted.h"
#include "model/regex.h"

namespace muster::cli {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string_view version_word(model::IpVersion version) {
  switch (version) {
    case model::IpVersion::V4:
      return "4";
    case model::IpVersion::V6:
      return "6";
    case model::IpVersion::Both:
      break;
  }
  return "both";
}

Json property_json(const model::Property& property) {
  const model::PropertyDefinition& definition = property.definition;
  Json json = {{"type", definition.type},
               {"description", definition.description},
               {"required", definition.required},
               {"user_may_update", definition.user_may_update},
               {"plugin_may_update", definition.plugin_may_update},
               {"configuration", definition.configuration},
               {"site_specific", definition.site_specific},
               {"secret", definition.secret},
               {"deprecated", definition.deprecated}};
  if (definition.default_value) {
    // A default is no secret that was kept, but showing it would teach that secrets are shown.
    json["default"] = definition.secret ? Json("***") : Json(*definition.default_value);
  }
  return json;
}

Json element_json(const model::Element& element) {
  const model::ElementDefinition& definition = element.definition;
  Json json = {{"name", definition.name},       {"kind", kind_word(definition.kind)},
               {"type", definition.type},       {"description", definition.description},
               {"require", definition.require}, {"after", element.after}};
  if (element.is_collection()) {
    json["min"] = definition.min;
    json["max"] = definition.max;
  } else {
    json["required"] = definition.required;
  }
  if (element.is_reference()) {
    json["read_only"] = definition.read_only;
    json["exclusive"] = definition.exclusive;
  }
  return json;
}

}  // namespace

std::string_view kind_word(model::ElementKind kind) {
  switch (kind) {
    case model::ElementKind::Child:
      return "child";
    case model::ElementKind::Collection:
      return "collection";
    case model::ElementKind::Reference:
      return "reference";
    case model::ElementKind::RefCollection:
      break;
  }
  return "ref_collection";
}

std::string check_text(const model::ValueCheck& check) {
  return std::visit(
      Overloaded{
          [](const model::IntegerCheck&) { return std::string("integer"); },
          [](const model::IntegerRangeCheck& range) {
            return fmt::format("integer_range {}..{}", range.min, range.max);
          },
          [](const model::LengthCheck& length) { return fmt::format("length {}", length.max); },
          [](const model::NotEmptyCheck&) { return std::string("not_empty"); },
          [](const model::NotDigitsCheck&) { return std::string("not_digits"); },
          [](const model::NetworkCheck& network) {
            return fmt::format("network {}", version_word(network.version));
          },
          [](const model::NotZeroAddressCheck&) { return std::string("not_zero_address"); },
          [](const model::IpAddressCheck& address) {
            return fmt::format("ip_address {}", version_word(address.version));
          },
          [](const model::Ipv6AndMaskCheck&) { return std::string("ipv6_and_mask"); },
          [](const model::RestrictedCheck& restricted) {
            return fmt::format("restricted {}", model::quoted_list(restricted.values));
          },
          [](const model::PluginCheck& plugin) { return fmt::format("plugin {}", plugin.method); },
      },
      check);
}

std::string check_text(const model::ItemCheck& check) {
  return std::visit(
      Overloaded{
          [](const model::MaxValueCheck& max) {
            return fmt::format("'{}' is at most '{}'", max.property, max.limit);
          },
          [](const model::OnePropertyCheck& one) {
            return fmt::format("exactly one of {} is set", model::quoted_list(one.properties));
          },
          [](const model::DirectoryCheck& directory) {
            return fmt::format("'{}' is a directory", directory.property);
          },
          [](const model::PluginCheck& plugin) { return fmt::format("plugin {}", plugin.method); },
      },
      check);
}

Json item_type_json(const model::Schema& schema, const model::ItemType& type) {
  Json properties = Json::object();
  for (const auto& [name, property] : type.properties) properties[name] = property_json(property);
  Json views = Json::object();
  for (const auto& [name, view] : type.views) {
    views[name] = {{"type", view.type}, {"description", view.description}, {"pack", view.pack}};
  }
  Json elements = Json::array();
  for (const model::Element& element : type.elements) elements.push_back(element_json(element));
  Json checks = Json::array();
  for (const auto& [pack, check] : type.checks) {
    checks.push_back({{"pack", pack}, {"check", check_text(check)}});
  }
  Json extended_by = Json::array();
  for (const auto& [id, other] : schema.item_types()) {
    if (other->base == &type) extended_by.push_back(id);
  }
  return {{"id", type.id},
          {"pack", type.pack},
          {"description", type.description},
          {"deprecated", type.deprecated},
          {"extends", type.base == nullptr ? Json() : Json(type.base->id)},
          {"extended_by", std::move(extended_by)},
          {"properties", std::move(properties)},
          {"views", std::move(views)},
          {"elements", std::move(elements)},
          {"checks", std::move(checks)}};
}

Json property_type_json(const model::PropertyType& type) {
  Json checks = Json::array();
  for (const model::ValueCheck& check : type.definition.checks) {
    checks.push_back(check_text(check));
  }
  return {{"id", type.definition.id},
          {"pack", type.pack},
          {"description", type.definition.description},
          {"deprecated", type.definition.deprecated},
          {"regex", type.definition.regex ? Json(*type.definition.regex) : Json()},
          {"checks", std::move(checks)}};
}

}  // namespace muster::cli
