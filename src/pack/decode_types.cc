#include <fmt/format.h>

#include <array>

#include "model/quoted.h"
#include "pack/decode.h"

namespace muster::pack {
namespace {

using document::Document;
using document::Entry;
using document::MapReader;
using document::Problems;

// More than any type that a person can read has; keeps the work over one type small.
constexpr std::size_t kMembersMax = 500;
constexpr std::int64_t kItemsMax = 1'000'000;

std::string named(std::string_view what, const Entry& entry) {
  return fmt::format("{} {}", what, model::quoted(entry.key));
}

model::PropertyTypeDefinition decode_property_type(const Document& file, const Entry& entry,
                                                   Problems& problems) {
  MapReader reader(file, entry.value, named("property type", entry), problems);
  model::PropertyTypeDefinition type;
  type.id = entry.key;
  type.place = file.place(entry.mark);
  type.regex = reader.text("regex");
  type.description = reader.text("description").value_or("");
  type.regex_place = reader.place("regex");
  decode_value_checks(file, reader.list("checks"), type, problems);
  type.deprecated = reader.flag("deprecated").value_or(false);
  reader.finish();
  return type;
}

model::PropertyDefinition decode_property(const Document& file, const Entry& entry,
                                          Problems& problems) {
  MapReader reader(file, entry.value, named("property", entry), problems);
  model::PropertyDefinition property;
  property.name = entry.key;
  property.place = file.place(entry.mark);
  property.type = reader.text("type").value_or("");
  property.description = reader.text("description").value_or("");
  property.default_value = reader.text("default");
  property.required = reader.flag("required").value_or(false);
  property.user_may_update = reader.flag("user_may_update").value_or(true);
  property.plugin_may_update = reader.flag("plugin_may_update").value_or(false);
  if (reader.flag("plugin_only").value_or(false)) {
    property.plugin_only = true;
    property.plugin_may_update = true;
    property.user_may_update = false;
  }
  property.configuration = reader.flag("configuration").value_or(true);
  property.site_specific = reader.flag("site_specific").value_or(false);
  property.secret = reader.flag("secret").value_or(false);
  property.deprecated = reader.flag("deprecated").value_or(false);
  reader.finish();
  return property;
}

model::ViewDefinition decode_view(const Document& file, const Entry& entry, Problems& problems) {
  MapReader reader(file, entry.value, named("view", entry), problems);
  model::ViewDefinition view;
  view.name = entry.key;
  view.place = file.place(entry.mark);
  view.type = reader.text("type").value_or("");
  view.description = reader.text("description").value_or("");
  view.method = reader.text("method").value_or(entry.key);
  reader.finish();
  return view;
}

struct KindWord {
  std::string_view word;
  model::ElementKind kind;
};
constexpr std::array<KindWord, 4> kKinds = {
    {{"child", model::ElementKind::Child},
     {"collection", model::ElementKind::Collection},
     {"reference", model::ElementKind::Reference},
     {"ref_collection", model::ElementKind::RefCollection}}};

// One of the words that say what kind of element it is, with the type.
void decode_kind(MapReader& reader, const std::string& what, model::ElementDefinition& element,
                 Problems& problems) {
  std::vector<std::string> given;
  for (const KindWord& kind : kKinds) {
    if (!reader.has(kind.word)) continue;
    given.emplace_back(kind.word);
    element.kind = kind.kind;
    element.type = reader.text(kind.word).value_or("");
  }
  if (given.size() > 1) {
    problems.add(reader.place(),
                 fmt::format("{} is only one of {}", what, model::quoted_list(given)));
  }
}

model::ElementDefinition decode_element(const Document& file, const Entry& entry,
                                        Problems& problems) {
  const std::string what = named("element", entry);
  MapReader reader(file, entry.value, what, problems);
  model::ElementDefinition element;
  element.name = entry.key;
  element.place = file.place(entry.mark);
  decode_kind(reader, what, element, problems);
  element.description = reader.text("description").value_or("");
  element.require = reader.texts("require");
  const bool is_collection = element.kind == model::ElementKind::Collection ||
                             element.kind == model::ElementKind::RefCollection;
  const bool is_reference = element.kind == model::ElementKind::Reference ||
                            element.kind == model::ElementKind::RefCollection;
  if (is_collection) {
    element.min = static_cast<std::uint32_t>(reader.integer("min", 0, kItemsMax).value_or(0));
    element.max =
        static_cast<std::uint32_t>(reader.integer("max", 1, kItemsMax).value_or(element.max));
  } else {
    element.required = reader.flag("required").value_or(false);
  }
  if (is_reference) {
    element.read_only = reader.flag("read_only").value_or(false);
    element.exclusive = reader.flag("exclusive").value_or(false);
  }
  reader.finish();
  return element;
}

template <typename T, typename Decode>
std::vector<T> decode_members(const Document& file, const document::Map* map, Problems& problems,
                              const Decode& decode) {
  std::vector<T> members;
  if (map == nullptr) return members;
  if (map->size() > kMembersMax) {
    problems.add(
        file.place(map->front().mark),
        fmt::format("{} entries in one place; at most {} are allowed", map->size(), kMembersMax));
    return members;
  }
  members.reserve(map->size());
  for (const Entry& entry : *map) members.push_back(decode(file, entry, problems));
  return members;
}

model::ItemTypeDefinition decode_item_type(const Document& file, const Entry& entry,
                                           Problems& problems) {
  MapReader reader(file, entry.value, named("item type", entry), problems);
  model::ItemTypeDefinition type;
  type.id = entry.key;
  type.place = file.place(entry.mark);
  type.extends = reader.text("extends").value_or("");
  type.description = reader.text("description").value_or("");
  type.deprecated = reader.flag("deprecated").value_or(false);
  type.is_abstract = reader.flag("abstract").value_or(false);
  type.properties = decode_members<model::PropertyDefinition>(file, reader.map("properties"),
                                                              problems, decode_property);
  type.views =
      decode_members<model::ViewDefinition>(file, reader.map("views"), problems, decode_view);
  type.elements = decode_members<model::ElementDefinition>(file, reader.map("elements"), problems,
                                                           decode_element);
  decode_item_checks(file, reader.list("checks"), type, problems);
  reader.finish();
  return type;
}

}  // namespace

void decode_types(const Document& file, model::PackDefinition& pack, Problems& problems) {
  MapReader reader(file, file.root, "a file of types", problems);
  const auto property_types = decode_members<model::PropertyTypeDefinition>(
      file, reader.map("property_types"), problems, decode_property_type);
  const auto item_types = decode_members<model::ItemTypeDefinition>(file, reader.map("item_types"),
                                                                    problems, decode_item_type);
  pack.property_types.insert(pack.property_types.end(), property_types.begin(),
                             property_types.end());
  pack.item_types.insert(pack.item_types.end(), item_types.begin(), item_types.end());
  reader.finish();
}

}  // namespace muster::pack
