#include "cli/types.h"

#include <algorithm>

#include "cli/action_views.h"
#include "cli/catalog.h"
#include "cli/fields.h"
#include "cli/table.h"
#include "cli/text.h"
#include "model/quoted.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kUnboundedMax = 9999;  // what a collection has that says nothing

bool is_collection(const Json& element) { return element.contains("max"); }

std::string element_kind(const Json& element) {
  const std::string kind = json_text(element, "kind");
  std::string text = json_text(element, "type");
  if (kind == "reference") text = "reference to " + text;
  if (kind == "collection") text = "collection of " + text;
  if (kind == "ref_collection") text = "references to " + text;
  const std::int64_t min = json_int(element, "min");
  const std::int64_t max = json_int(element, "max");
  const bool bounded = max != kUnboundedMax;
  if (is_collection(element) && (min > 0 || bounded)) {
    text += fmt::format(" ({}..{})", min, bounded ? std::to_string(max) : std::string());
  }
  if (json_bool(element, "read_only")) text += ", read-only";
  if (json_bool(element, "exclusive")) text += ", exclusive";
  const std::vector<std::string> require = json_texts(json_at(element, "require"));
  if (!require.empty()) text += ", after " + joined(require);
  return text;
}

std::string property_marks(const Json& property) {
  const bool secret = json_bool(property, "secret");
  std::string text = json_text(property, "type");
  if (property.contains("default") && !secret) {
    const std::string value = json_text(property, "default");
    text += fmt::format(", default {}", value.empty() ? "''" : value);
  }
  const bool plugin_may_update = json_bool(property, "plugin_may_update");
  if (!json_bool(property, "user_may_update")) {
    text += plugin_may_update ? ", set by plugins" : ", fixed once applied";
  } else if (plugin_may_update) {
    text += ", plugins may set it";
  }
  if (!json_bool(property, "configuration")) text += ", needs no plan";
  if (json_bool(property, "site_specific")) text += ", site-specific";
  if (secret) text += ", secret";
  if (json_bool(property, "deprecated")) text += ", deprecated";
  return text;
}

struct TreeLine {
  std::string left;
  std::string kind;
  std::string description;
};

// Collects lines first, so that columns can be aligned.
class TreeWriter {
 public:
  TreeWriter(const Catalog& catalog, bool utf8) : catalog_(catalog), utf8_(utf8) {}

  void add_members(const Json& type, const std::string& indent, int depth) {
    const Json& properties = json_at(type, "properties");
    const Json& views = json_at(type, "views");
    const Json& elements = json_at(type, "elements");
    std::size_t left = properties.size() + views.size() + elements.size();
    const auto stem = [&] { return indent + branch(--left == 0); };
    for (const auto& [name, property] : properties.items()) {
      lines_.push_back({stem() + name + (json_bool(property, "required") ? "*" : ""),
                        property_marks(property), json_text(property, "description")});
    }
    for (const auto& [name, view] : views.items()) {
      lines_.push_back({stem() + name, "view", json_text(view, "description")});
    }
    for (const Json& element : elements) {
      const bool last = left == 1;
      const bool required = json_bool(element, "required") || json_int(element, "min") > 0;
      lines_.push_back({stem() + json_text(element, "name") + "/" + (required ? "*" : ""),
                        element_kind(element), json_text(element, "description")});
      const Json* const below = find_type(catalog_, json_text(element, "type"));
      if (depth > 1 && below != nullptr) add_members(*below, indent + trunk(last), depth - 1);
    }
  }

  std::string text(std::size_t width) const {
    std::size_t left = 0;
    std::size_t kind = 0;
    for (const TreeLine& line : lines_) {
      left = std::max(left, display_width(line.left));
      kind = std::max(kind, display_width(line.kind));
    }
    kind = std::min<std::size_t>(kind, 44);
    std::string text;
    for (const TreeLine& line : lines_) {
      std::string whole = pad(line.left, left) + "  " + pad(printable(line.kind), kind) + "  " +
                          printable(line.description);
      if (width > 0) whole = fit(whole, width, utf8_);
      whole.erase(whole.find_last_not_of(' ') + 1);
      text += whole + "\n";
    }
    return text;
  }

 private:
  std::string branch(bool last) const {
    if (utf8_) return last ? "└─ " : "├─ ";
    return last ? "`- " : "|- ";
  }
  std::string trunk(bool last) const {
    if (last) return "   ";
    return utf8_ ? "│  " : "|  ";
  }

  const Catalog& catalog_;
  bool utf8_;
  std::vector<TreeLine> lines_;
};

bool has_element(const Json& type, const std::string& name) {
  const Json& elements = json_at(type, "elements");
  return std::any_of(elements.begin(), elements.end(),
                     [&](const Json& element) { return json_text(element, "name") == name; });
}

std::vector<std::string> slots_of(const Catalog& catalog, const std::string& id) {
  std::vector<std::string> slots;
  for (const Json& other : catalog.types) {
    const Json* const base = find_type(catalog, json_text(other, "extends"));
    for (const Json& element : json_at(other, "elements")) {
      const std::string name = json_text(element, "name");
      // Where the base of a type has the slot too, it is told there.
      const bool of_base = base != nullptr && has_element(*base, name);
      if (!of_base && is_a(catalog, id, json_text(element, "type"))) {
        slots.push_back(fmt::format("{}/{}", json_text(other, "id"), name));
      }
    }
  }
  return slots;
}

std::string property_type_text(const Json& type) {
  return detail_lines({{"property type", json_text(type, "id")},
                       {"pack", json_text(type, "pack")},
                       {"right is", json_text(type, "description")},
                       {"regex", json_text(type, "regex")},
                       {"checks", joined(json_texts(json_at(type, "checks")))},
                       {"deprecated", json_bool(type, "deprecated") ? "yes" : ""}});
}

// Rows of the catalog that `wanted` picks, as a document of this name, names or a table.
template <typename Wanted, typename Cells>
void print_rows(Context& context, const Json& rows, std::string_view document, Table table,
                const Wanted& wanted, const Cells& cells) {
  Json documents = Json::array();
  for (const Json& row : rows) {
    if (!wanted(row)) continue;
    if (context.options.format == Format::Name) context.console.out(json_text(row, "id") + "\n");
    documents.push_back(row);
    table.add_row(cells(row));
  }
  if (wants_document(context)) {
    print_document(context, {{std::string(document), std::move(documents)}});
  } else if (context.options.format != Format::Name) {
    context.console.out(table.render(table_options(context)));
  }
}

void print_property_types(Context& context, const Catalog& catalog,
                          const TypeListOptions& options) {
  print_rows(
      context, catalog.property_types, "property_types",
      Table({{.title = "PROPERTY TYPE"},
             {.title = "PACK"},
             {.title = "WHAT IS RIGHT", .shrinks = true, .width_min = 10}}),
      [&](const Json& type) {
        return options.pack.empty() || json_text(type, "pack") == options.pack;
      },
      [](const Json& type) -> std::vector<Cell> {
        return {
            {json_text(type, "id")}, {json_text(type, "pack")}, {json_text(type, "description")}};
      });
}

void print_item_types(Context& context, const Catalog& catalog, const TypeListOptions& options) {
  print_rows(
      context, catalog.types, "item_types",
      Table({{.title = "TYPE"},
             {.title = "PACK"},
             {.title = "EXTENDS"},
             {.title = "DESCRIPTION", .shrinks = true, .width_min = 10}}),
      [&](const Json& type) {
        return (options.pack.empty() || json_text(type, "pack") == options.pack) &&
               (options.extends.empty() || is_a(catalog, json_text(type, "id"), options.extends));
      },
      [](const Json& type) -> std::vector<Cell> {
        return {{json_text(type, "id")},
                {json_text(type, "pack")},
                {json_text(type, "extends")},
                {json_text(type, "description")}};
      });
}

tl::unexpected<Failure> not_found(std::string_view what, const std::string& name,
                                  const std::vector<std::string>& known) {
  return fail(
      Failure(Error{ErrorCode::NotFound, fmt::format("there is no {} {}{}", what,
                                                     model::quoted(name), suggest(name, known))}));
}

// The type as a tree for people; what ends with '*' is required.
std::string type_tree(const Catalog& catalog, const Json& type, int depth,
                      const Terminal& terminal) {
  const std::string id = json_text(type, "id");
  std::string text =
      detail_lines({{"item type", id},
                    {"pack", json_text(type, "pack")},
                    {"description", json_text(type, "description")},
                    {"deprecated", json_bool(type, "deprecated") ? "yes" : ""},
                    {"abstract", json_bool(type, "abstract") ? "yes" : ""},
                    {"extends", json_text(type, "extends")},
                    {"extended by", joined(json_texts(json_at(type, "extended_by")))},
                    {"stands in", joined(slots_of(catalog, id))},
                    {"checks", joined(json_texts(json_at(type, "checks"), "check"))}});
  TreeWriter writer(catalog, terminal.utf8);
  writer.add_members(type, "", depth);
  const std::string members = writer.text(terminal.stdout_width);
  return members.empty() ? text : text + "\n" + id + "\n" + members;
}

}  // namespace

Outcome<ExitCode> list_types(Context& context, const pack::PackOptions& packs,
                             const TypeListOptions& options) {
  MUSTER_TRY_ASSIGN(const Catalog catalog, find_catalog(context, packs));
  if (!options.pack.empty() && find_pack(catalog, options.pack) == nullptr) {
    return not_found("pack", options.pack, json_texts(catalog.packs, "name"));
  }
  if (!options.extends.empty() && find_type(catalog, options.extends) == nullptr) {
    return not_found("item type", options.extends, json_texts(catalog.types, "id"));
  }
  if (options.property_types) {
    print_property_types(context, catalog, options);
  } else {
    print_item_types(context, catalog, options);
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> show_type(Context& context, const pack::PackOptions& packs, const std::string& id,
                            int depth) {
  MUSTER_TRY_ASSIGN(const Catalog catalog, find_catalog(context, packs));
  const Json* const item_type = find_type(catalog, id);
  const Json* const property_type = find_property_type(catalog, id);
  if (item_type == nullptr && property_type == nullptr) {
    std::vector<std::string> names = json_texts(catalog.types, "id");
    for (std::string& name : json_texts(catalog.property_types, "id")) {
      names.push_back(std::move(name));
    }
    return not_found("item type or property type", id, names);
  }
  if (wants_document(context)) {
    Json document = Json::object();
    if (item_type != nullptr) document["item_type"] = *item_type;
    if (property_type != nullptr) document["property_type"] = *property_type;
    print_document(context, document);
    return ExitCode::Ok;
  }
  if (context.options.format == Format::Name) {
    context.console.out(id + "\n");
    return ExitCode::Ok;
  }
  Terminal terminal = context.terminal;
  if (context.options.format == Format::Wide) terminal.stdout_width = 0;
  std::string text;
  if (item_type != nullptr) text = type_tree(catalog, *item_type, depth, terminal);
  if (property_type != nullptr) {
    text += (text.empty() ? "" : "\n") + property_type_text(*property_type);
  }
  context.console.out(text);
  return ExitCode::Ok;
}

}  // namespace muster::cli
