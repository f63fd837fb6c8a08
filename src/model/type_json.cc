#include "model/type_json.h"

#include <fmt/format.h>

#include "base/overloaded.h"
#include "model/quoted.h"
#include "model/regex.h"

namespace muster::model {
namespace {

std::string_view version_name(IpVersion version) {
  switch (version) {
    case IpVersion::V4:
      return "4";
    case IpVersion::V6:
      return "6";
    case IpVersion::Both:
      break;
  }
  return "both";
}

Json property_json(const Property& property) {
  const PropertyDefinition& definition = property.definition;
  Json json = {{"type", definition.type},
               {"description", definition.description},
               {"required", definition.required},
               {"user_may_update", definition.user_may_update},
               {"plugin_may_update", definition.plugin_may_update},
               {"plugin_only", definition.plugin_only},
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

Json element_json(const Element& element) {
  const ElementDefinition& definition = element.definition;
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

std::string_view kind_word(ElementKind kind) {
  switch (kind) {
    case ElementKind::Child:
      return "child";
    case ElementKind::Collection:
      return "collection";
    case ElementKind::Reference:
      return "reference";
    case ElementKind::RefCollection:
      break;
  }
  return "ref_collection";
}

std::string check_text(const ValueCheck& check) {
  return std::visit(
      Overloaded{
          [](const IntegerCheck&) { return std::string("integer"); },
          [](const IntegerRangeCheck& range) {
            return fmt::format("integer_range {}..{}", range.min, range.max);
          },
          [](const LengthCheck& length) { return fmt::format("length {}", length.max); },
          [](const NotEmptyCheck&) { return std::string("not_empty"); },
          [](const NotDigitsCheck&) { return std::string("not_digits"); },
          [](const NetworkCheck& network) {
            return fmt::format("network {}", version_name(network.version));
          },
          [](const NotZeroAddressCheck&) { return std::string("not_zero_address"); },
          [](const IpAddressCheck& address) {
            return fmt::format("ip_address {}", version_name(address.version));
          },
          [](const Ipv6AndMaskCheck&) { return std::string("ipv6_and_mask"); },
          [](const RestrictedCheck& restricted) {
            return fmt::format("restricted {}", quoted_list(restricted.values));
          },
          [](const PluginCheck& plugin) { return fmt::format("plugin {}", plugin.method); },
      },
      check);
}

std::string check_text(const ItemCheck& check) {
  return std::visit(
      Overloaded{
          [](const MaxValueCheck& max) {
            return fmt::format("'{}' is at most '{}'", max.property, max.limit);
          },
          [](const OnePropertyCheck& one) {
            return fmt::format("exactly one of {} is set", quoted_list(one.properties));
          },
          [](const DirectoryCheck& directory) {
            return fmt::format("'{}' is a directory", directory.property);
          },
          [](const PluginCheck& plugin) { return fmt::format("plugin {}", plugin.method); },
      },
      check);
}

std::string check_text(const ModelCheck& check) {
  return std::visit(Overloaded{
                        [](const UniqueCheck& unique) {
                          return fmt::format("'{}' is unique among items of type {}{}",
                                             unique.property, quoted_list(unique.among),
                                             unique.ignore_case ? ", in upper or lower case" : "");
                        },
                        [](const ListsCheck& lists) {
                          return fmt::format("'{}' lists ids in '{}' of the {} that it is below",
                                             lists.property, lists.collection, lists.of);
                        },
                    },
                    check);
}

Json item_type_json(const Schema& schema, const ItemType& type) {
  Json properties = Json::object();
  for (const auto& [name, property] : type.properties) properties[name] = property_json(property);
  Json views = Json::object();
  for (const auto& [name, view] : type.views) {
    views[name] = {{"type", view.type}, {"description", view.description}, {"pack", view.pack}};
  }
  Json elements = Json::array();
  for (const Element& element : type.elements) elements.push_back(element_json(element));
  Json checks = Json::array();
  for (const auto& [pack, check] : type.checks) {
    checks.push_back({{"pack", pack}, {"check", check_text(check)}});
  }
  for (const auto& [pack, check] : type.model_checks) {
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
          {"abstract", type.is_abstract},
          {"extends", type.base == nullptr ? Json() : Json(type.base->id)},
          {"extended_by", std::move(extended_by)},
          {"properties", std::move(properties)},
          {"views", std::move(views)},
          {"elements", std::move(elements)},
          {"checks", std::move(checks)}};
}

Json property_type_json(const PropertyType& type) {
  Json checks = Json::array();
  for (const ValueCheck& check : type.definition.checks) {
    checks.push_back(check_text(check));
  }
  return {{"id", type.definition.id},
          {"pack", type.pack},
          {"description", type.definition.description},
          {"deprecated", type.definition.deprecated},
          {"regex", type.definition.regex ? Json(*type.definition.regex) : Json()},
          {"checks", std::move(checks)}};
}

Json pack_json(const Schema& schema, const Pack& pack) {
  Json needs = Json::array();
  for (const PackNeed& need : pack.needs) {
    needs.push_back({{"pack", need.pack}, {"version", need.version}});
  }
  Json migrations = Json::array();
  for (const Migration& migration : pack.migrations) migrations.push_back(migration.version);
  Json types = Json::array();
  for (const auto& [id, type] : schema.item_types()) {
    if (type->pack == pack.name) types.push_back(id);
  }
  Json property_types = Json::array();
  for (const auto& [id, type] : schema.property_types()) {
    if (type->pack == pack.name) property_types.push_back(id);
  }
  return {{"name", pack.name},
          {"version", pack.version},
          {"description", pack.description},
          {"needs", std::move(needs)},
          {"plugin", pack.has_plugin},
          {"migrations", std::move(migrations)},
          {"types", std::move(types)},
          {"property_types", std::move(property_types)}};
}

}  // namespace muster::model
