#include "sitefile/xml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/nearest.h"
#include "model/quoted.h"
#include "sitefile/xml_document.h"
#include "sitefile/xml_names.h"

namespace muster::sitefile {
namespace {

using model::Declaration;
using model::Path;

// Children of the root that are no model; LITP passes over them too.
constexpr std::array<std::string_view, 3> kNotModel = {"plans", "snapshots", "litp"};
constexpr std::array<std::string_view, 2> kAttributes = {kIdAttribute, kSourceAttribute};

using Prefixes = std::set<std::string, std::less<>>;  // that stand for LITP's namespace

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// "litp:node" -> "litp" and "node"; without a prefix the first is empty.
std::pair<std::string_view, std::string_view> parts_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {"", name};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

class XmlDecoder {
 public:
  XmlDecoder(const ReadOptions& options, Site& site, Placeholders& placeholders,
             document::Problems& problems)
      : options_(options), site_(site), placeholders_(placeholders), problems_(problems) {}

  void decode(const std::string& name, XmlElement& root) {
    file_ = site_.places.add_file(name);
    const Prefixes prefixes = prefixes_in(root, {});
    const auto [prefix, local] = parts_of(root.name);
    if (!prefixes.contains(prefix)) {
      problems_.add(place(root), fmt::format("<{}> is not an element of {}, as the first one of a "
                                             "model is",
                                             root.name, kLitpNamespace));
      return;
    }
    if (local == kRootElement) {
      if (!options_.at.is_root()) {
        problems_.add(place(root), fmt::format("<{}> is the whole model, which cannot stand below "
                                               "{}",
                                               root.name, options_.at.text()));
        return;
      }
      site_.at = Path();
    } else if (const std::optional<std::string> id = id_of(root)) {
      site_.at = options_.at.child(*id);
    } else {
      return;
    }
    site_.places.move_to(site_.at);
    decode_element(root, site_.at, prefixes, site_.declaration, site_.places.root());
  }

 private:
  // What the name of an element says.
  struct Name {
    std::string type;  // empty: a collection
    bool inherits = false;
  };

  Name name_of(std::string_view local) const {
    Name name;
    if (local.ends_with(kInheritSuffix) && !is_type(local)) {
      name.inherits = true;
      local.remove_suffix(kInheritSuffix.size());
    }
    if (!local.ends_with(kCollectionSuffix) || is_type(local)) name.type = local;
    return name;
  }

  bool is_type(std::string_view name) const {
    return options_.schema != nullptr && options_.schema->find_item_type(name) != nullptr;
  }

  void decode_element(XmlElement& element, const Path& path, const Prefixes& prefixes,
                      Declaration& into, Places::Node& node) {
    node.spot = spot(element);
    check_attributes(element);
    const Name name = name_of(parts_of(element.name).second);
    if (name.type.empty()) {
      check_collection(element, path, name);
    } else if (!path.is_root()) {
      into.type = name.type;
      node.type = node.spot;
    }
    decode_source(element, path, name, into, node);
    if (!is_blank(element.text)) {
      problems_.add(place(element),
                    fmt::format("<{}> has text of its own; a property is an element "
                                "with a text",
                                element.name));
    }
    for (XmlElement& child : element.children) {
      if (parts_of(child.name).first.empty()) {
        decode_property(child, path, into, node);
      } else {
        decode_child(child, path, prefixes, into, node);
      }
    }
  }

  void decode_child(XmlElement& element, const Path& above, const Prefixes& outer,
                    Declaration& into, Places::Node& node) {
    const bool declares = std::any_of(
        element.attributes.begin(), element.attributes.end(),
        [](const XmlAttribute& attribute) { return attribute.name.starts_with("xmlns:"); });
    const Prefixes inner = declares ? prefixes_in(element, outer) : Prefixes();
    const Prefixes& prefixes = declares ? inner : outer;
    const auto [prefix, local] = parts_of(element.name);
    if (!prefixes.contains(prefix)) {
      problems_.add(place(element), fmt::format("the prefix '{}' of <{}> does not stand for {}",
                                                prefix, element.name, kLitpNamespace));
      return;
    }
    const std::optional<std::string> id = id_of(element);
    if (!id || (above.is_root() && is_no_model(*id))) return;
    if (above.segments().size() >= model::kPathDepthMax) {
      problems_.add(place(element),
                    fmt::format("a path has at most {} segments", model::kPathDepthMax));
      return;
    }
    const auto [below, fresh] = into.children.try_emplace(*id);
    Places::Node& below_node = node.children[*id];
    if (!fresh) {
      problems_.add(place(element),
                    fmt::format("the id '{}' stands twice in {}, first in line {}, "
                                "column {}",
                                *id, above.text(), below_node.spot.line, below_node.spot.column));
      return;
    }
    decode_element(element, above.child(*id), prefixes, below->second, below_node);
  }

  bool is_no_model(const std::string& id) const {
    if (std::find(kNotModel.begin(), kNotModel.end(), id) == kNotModel.end()) return false;
    return options_.schema == nullptr || options_.schema->root().find_element(id) == nullptr;
  }

  void decode_property(XmlElement& element, const Path& path, Declaration& into,
                       Places::Node& node) {
    if (!element.children.empty()) {
      problems_.add(place(element),
                    fmt::format("the property <{}> of {} has elements in it; a property has a "
                                "text, and items have the prefix of {}",
                                element.name, path.text(), kLitpNamespace));
      return;
    }
    for (const XmlAttribute& attribute : element.attributes) {
      problems_.add(place(element), fmt::format("the property <{}> has an attribute '{}'; it has "
                                                "none",
                                                element.name, attribute.name));
    }
    const Places::Spot here = spot(element);
    const auto [known, fresh] = node.properties.try_emplace(element.name, here);
    if (!fresh) {
      problems_.add(place(element), fmt::format("the property <{}> of {} stands twice, first in "
                                                "line {}, column {}",
                                                element.name, path.text(), known->second.line,
                                                known->second.column));
      return;
    }
    into.properties[element.name] =
        placeholders_.resolve(std::move(element.text), [&](std::string name) {
          return Placeholders::Found{path, element.name, std::move(name), place(element)};
        });
  }

  void decode_source(const XmlElement& element, const Path& path, const Name& name,
                     Declaration& into, Places::Node& node) {
    const std::string* const text = element.attribute(kSourceAttribute);
    if (!name.inherits) {
      if (text != nullptr) {
        problems_.add(place(element), fmt::format("<{}> has a '{}', which only <...{}> has",
                                                  element.name, kSourceAttribute, kInheritSuffix));
      }
      return;
    }
    if (path.is_root()) {
      problems_.add(place(element), "the model's root inherits from nothing");
      return;
    }
    if (text == nullptr) {
      problems_.add(place(element),
                    fmt::format("<{}> has no '{}'", element.name, kSourceAttribute));
      return;
    }
    std::optional<Path> source = resolve(element, path, *text);
    // A collection follows what it stands in.
    if (!source || name.type.empty()) return;
    into.inherit = std::move(source);
    node.inherit = node.spot;
  }

  std::optional<Path> resolve(const XmlElement& element, const Path& from,
                              const std::string& text) {
    const auto refuse = [&](std::string_view why) {
      problems_.add(place(element), fmt::format("the {} {} of <{}> {}", kSourceAttribute,
                                                model::quoted(text), element.name, why));
      return std::nullopt;
    };
    if (text.starts_with('/')) {
      Result<Path> parsed = Path::parse(text);
      if (!parsed) return refuse(fmt::format("is wrong: {}", parsed.error().message));
      return *parsed;
    }
    Path path = from;
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('/'), rest.size());
      const std::string_view step = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (step == "..") {
        if (path.is_root()) return refuse("leads out of the model");
        path = path.parent();
      } else if (step != ".") {
        if (const std::string problem = model::item_id_problem(step); !problem.empty()) {
          return refuse(fmt::format("is wrong: {}", problem));
        }
        if (path.segments().size() >= model::kPathDepthMax) return refuse("is too long");
        path = path.child(step);
      }
    }
    if (path == from) return refuse("is the item itself");
    return path;
  }

  void check_collection(const XmlElement& element, const Path& path, const Name& name) {
    std::string_view local = parts_of(element.name).second;
    if (name.inherits) local.remove_suffix(kInheritSuffix.size());
    const std::string wanted = fmt::format("-{}{}", path.id(), kCollectionSuffix);
    if (path.is_root() || local.ends_with(wanted)) return;
    problems_.add(place(element),
                  fmt::format("the collection <{}> has the id '{}'; it would be called <...{}>",
                              element.name, path.id(), wanted));
  }

  void check_attributes(const XmlElement& element) {
    for (const XmlAttribute& attribute : element.attributes) {
      const std::string_view name = attribute.name;
      if (name.starts_with("xmlns:") || name.starts_with("xsi:")) continue;
      if (std::find(kAttributes.begin(), kAttributes.end(), name) != kAttributes.end()) continue;
      problems_.add(place(element),
                    fmt::format("<{}> has no attribute {}{}", element.name, model::quoted(name),
                                did_you_mean(name, kAttributes)));
    }
  }

  std::optional<std::string> id_of(const XmlElement& element) {
    const std::string* const id = element.attribute(kIdAttribute);
    if (id == nullptr) {
      problems_.add(place(element), fmt::format("<{}> has no '{}'", element.name, kIdAttribute));
      return std::nullopt;
    }
    if (const std::string problem = model::item_id_problem(*id); !problem.empty()) {
      problems_.add(place(element), problem);
      return std::nullopt;
    }
    return *id;
  }

  static Prefixes prefixes_in(const XmlElement& element, Prefixes prefixes) {
    for (const XmlAttribute& attribute : element.attributes) {
      const auto [prefix, local] = parts_of(attribute.name);
      if (prefix != "xmlns") continue;
      if (attribute.value == kLitpNamespace) {
        prefixes.emplace(local);
      } else {
        prefixes.erase(std::string(local));
      }
    }
    return prefixes;
  }

  Places::Spot spot(const XmlElement& element) const {
    return {file_, element.mark.line, element.mark.column};
  }
  model::Place place(const XmlElement& element) const { return site_.places.place(spot(element)); }

  const ReadOptions& options_;
  Site& site_;
  Placeholders& placeholders_;
  document::Problems& problems_;
  std::uint32_t file_ = 0;
};

}  // namespace

void read_xml(std::string_view text, const std::string& name, const ReadOptions& options,
              Site& site, Placeholders& placeholders, document::Problems& problems) {
  XmlLimits limits;
  limits.bytes_max = options.bytes_max;
  ReadXmlDocument read = read_xml_document(text, name, limits);
  if (!read.good()) {
    problems.add(std::move(read.problems));
    return;
  }
  XmlDecoder(options, site, placeholders, problems).decode(name, read.root);
}

}  // namespace muster::sitefile
