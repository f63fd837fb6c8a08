#include "sitefile/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/nearest.h"
#include "model/quoted.h"

namespace muster::sitefile {
namespace {

constexpr std::string_view kType = "type";
constexpr std::string_view kInherit = "inherit";
constexpr std::string_view kProperties = "properties";
constexpr std::array<std::string_view, 3> kReserved = {kType, kInherit, kProperties};
constexpr std::string_view kRootType = "root";

}  // namespace

void Decoder::decode(document::Document& file) {
  file_ = places_.add_file(file.file);
  ids_.clear();
  document::Value& root = file.root;
  auto* const map = std::get_if<document::Map>(&root.data);
  if (map == nullptr) {
    if (root.kind() == document::Kind::Null) {
      problems_.add({file.file, 0, 0}, "declares nothing; to say so on purpose, write {}");
    } else {
      problems_.add(file.place(root.mark), fmt::format("a model file is a mapping; here is {}",
                                                       document::kind_words(root.kind())));
    }
    return;
  }
  Places::Node& node = places_.root();
  if (node.spot.line == 0) node.spot = spot(root.mark);
  decode_item(*map, declaration_, node);
}

void Decoder::decode_item(document::Map& map, model::Declaration& into, Places::Node& node) {
  for (document::Entry& entry : map) {
    if (entry.key == kType) {
      decode_type(entry, into, node);
    } else if (entry.key == kInherit) {
      decode_inherit(entry, into, node);
    } else if (entry.key == kProperties) {
      decode_properties(entry, into, node);
    } else {
      decode_child(entry, into, node);
    }
  }
}

void Decoder::decode_type(document::Entry& entry, model::Declaration& into, Places::Node& node) {
  document::Scalar* const text = text_of(entry, "an item's type");
  if (text == nullptr) return;
  const Places::Spot here = spot(entry.value.mark);
  if (path().is_root() && text->text != kRootType) {
    problems_.add(place(entry.value.mark),
                  fmt::format("the type of the model's root is '{}', not {}", kRootType,
                              model::quoted(text->text)));
  } else if (into.type && *into.type != text->text) {
    differ("the type", node.type, *into.type, here, text->text);
  } else if (!into.type) {
    into.type = std::move(text->text);
    node.type = here;
  }
}

void Decoder::decode_inherit(document::Entry& entry, model::Declaration& into, Places::Node& node) {
  document::Scalar* const text = text_of(entry, "what an item inherits from");
  if (text == nullptr) return;
  if (path().is_root()) {
    problems_.add(place(entry.value.mark), "the model's root inherits from nothing");
    return;
  }
  Result<model::Path> source = model::Path::parse(text->text);
  if (!source) {
    problems_.add(place(entry.value.mark), source.error().message);
    return;
  }
  const Places::Spot here = spot(entry.value.mark);
  if (into.inherit && *into.inherit != *source) {
    differ("what it inherits from", node.inherit, into.inherit->text(), here, source->text());
  } else if (!into.inherit) {
    into.inherit = std::move(*source);
    node.inherit = here;
  }
}

void Decoder::decode_properties(document::Entry& entry, model::Declaration& into,
                                Places::Node& node) {
  auto* const map = std::get_if<document::Map>(&entry.value.data);
  if (map != nullptr) {
    for (document::Entry& property : *map) decode_property(property, into, node);
  } else if (entry.value.kind() != document::Kind::Null) {
    problems_.add(place(entry.value.mark),
                  fmt::format("'properties' of {} is a mapping of names to texts; here is {}",
                              path_text(), document::kind_words(entry.value.kind())));
  }
}

void Decoder::decode_property(document::Entry& entry, model::Declaration& into,
                              Places::Node& node) {
  auto* const scalar = std::get_if<document::Scalar>(&entry.value.data);
  if (scalar == nullptr) {
    const bool empty = entry.value.kind() == document::Kind::Null;
    problems_.add(place(entry.value.mark),
                  fmt::format("the property '{}' of {} is a text; here is {}{}", entry.key,
                              path_text(), document::kind_words(entry.value.kind()),
                              empty ? "; an empty text is written ''" : ""));
    return;
  }
  const Places::Spot here = spot(entry.value.mark);
  std::string value = placeholders_.resolve(std::move(scalar->text), [&](std::string name) {
    return Placeholders::Found{path(), entry.key, std::move(name), places_.place(here)};
  });
  const auto known = into.properties.find(entry.key);
  if (known == into.properties.end()) {
    node.properties.emplace_hint(node.properties.end(), entry.key, here);
    into.properties.emplace_hint(into.properties.end(), std::move(entry.key), std::move(value));
  } else if (known->second != value) {
    differ(fmt::format("the property '{}'", entry.key), node.properties.find(entry.key)->second,
           known->second, here, value);
  }
}

void Decoder::decode_child(document::Entry& entry, model::Declaration& into, Places::Node& node) {
  if (is_misspelt(entry)) return;
  if (const std::string problem = model::item_id_problem(entry.key); !problem.empty()) {
    problems_.add(place(entry.mark), problem);
    return;
  }
  auto* const map = std::get_if<document::Map>(&entry.value.data);
  if (map == nullptr && entry.value.kind() != document::Kind::Null) {
    problems_.add(place(entry.value.mark),
                  fmt::format("'{}' of {} is an item or a collection, which is a mapping; here is "
                              "{}; a property stands below 'properties'",
                              entry.key, path_text(), document::kind_words(entry.value.kind())));
    return;
  }
  if (at_.segments().size() + ids_.size() >= model::kPathDepthMax) {
    problems_.add(place(entry.mark),
                  fmt::format("a path has at most {} segments", model::kPathDepthMax));
    return;
  }
  auto& below = *into.children.try_emplace(into.children.end(), entry.key);
  auto& below_node = *node.children.try_emplace(node.children.end(), entry.key);
  if (below_node.second.spot.line == 0) below_node.second.spot = spot(entry.mark);
  if (map == nullptr) return;
  ids_.push_back(&below.first);
  decode_item(*map, below.second, below_node.second);
  ids_.pop_back();
}

bool Decoder::is_misspelt(const document::Entry& entry) {
  const document::Value& value = entry.value;
  if (const document::Map* map = value.map()) {
    // A child has no texts but for its type and what it inherits from.
    const auto is_text = [](const document::Entry& each) {
      return each.value.scalar() != nullptr && each.key != kType && each.key != kInherit;
    };
    if (map->empty() || !std::all_of(map->begin(), map->end(), is_text)) return false;
  } else if (value.kind() == document::Kind::Null) {
    return false;
  }
  const std::string hint = did_you_mean(entry.key, kReserved);
  if (hint.empty()) return false;
  problems_.add(place(entry.mark),
                fmt::format("{} has no field {}{}", path_text(), model::quoted(entry.key), hint));
  return true;
}

document::Scalar* Decoder::text_of(document::Entry& entry, std::string_view what) {
  auto* const scalar = std::get_if<document::Scalar>(&entry.value.data);
  if (scalar != nullptr && !scalar->text.empty()) return scalar;
  problems_.add(
      place(entry.value.mark),
      fmt::format("'{}' of {} is a text, {}; here is {}", entry.key, path_text(), what,
                  scalar != nullptr ? "an empty one" : document::kind_words(entry.value.kind())));
  return nullptr;
}

void Decoder::differ(std::string_view what, const Places::Spot& first,
                     const std::string& first_value, const Places::Spot& second,
                     const std::string& second_value) {
  problems_.add(places_.place(second),
                fmt::format("{} of {} is {} here, but {} in {}", what, path_text(),
                            model::quoted(second_value), model::quoted(first_value),
                            model::to_text(places_.place(first))));
}

model::Path Decoder::path() const {
  model::Path path = at_;
  for (const std::string* id : ids_) path = path.child(*id);
  return path;
}

std::string Decoder::path_text() const { return path().text(); }

}  // namespace muster::sitefile
