#include "cli/types.h"

#include <algorithm>

#include "base/nearest.h"
#include "cli/action_views.h"
#include "cli/packs.h"
#include "cli/table.h"
#include "cli/text.h"
#include "model/quoted.h"
#include "model/type_json.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kUnboundedMax = 9999;  // what a collection has that says nothing

bool wants_document(const Context& context) {
  return context.options.format == Format::Json || context.options.format == Format::Yaml;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string element_kind(const model::Element& element) {
  const model::ElementDefinition& definition = element.definition;
  std::string text;
  switch (definition.kind) {
    case model::ElementKind::Child:
      text = definition.type;
      break;
    case model::ElementKind::Reference:
      text = "reference to " + definition.type;
      break;
    case model::ElementKind::Collection:
      text = "collection of " + definition.type;
      break;
    case model::ElementKind::RefCollection:
      text = "references to " + definition.type;
      break;
  }
  const bool bounded = definition.max != kUnboundedMax;
  if (element.is_collection() && (definition.min > 0 || bounded)) {
    text += fmt::format(" ({}..{})", definition.min,
                        bounded ? std::to_string(definition.max) : std::string());
  }
  if (definition.read_only) text += ", read-only";
  if (definition.exclusive) text += ", exclusive";
  if (!definition.require.empty()) text += ", after " + joined(definition.require);
  return text;
}

std::string property_marks(const model::PropertyDefinition& property) {
  std::string text = property.type;
  if (property.default_value && !property.secret) {
    text += fmt::format(", default {}",
                        property.default_value->empty() ? "''" : *property.default_value);
  }
  if (!property.user_may_update) {
    text += property.plugin_may_update ? ", set by plugins" : ", fixed once applied";
  } else if (property.plugin_may_update) {
    text += ", plugins may set it";
  }
  if (!property.configuration) text += ", needs no plan";
  if (property.site_specific) text += ", site-specific";
  if (property.secret) text += ", secret";
  if (property.deprecated) text += ", deprecated";
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
  explicit TreeWriter(bool utf8) : utf8_(utf8) {}

  void add_members(const model::ItemType& type, const std::string& indent, int depth) {
    std::size_t left = type.properties.size() + type.views.size() + type.elements.size();
    const auto stem = [&] { return indent + branch(--left == 0); };
    for (const auto& [name, property] : type.properties) {
      lines_.push_back({stem() + name + (property.definition.required ? "*" : ""),
                        property_marks(property.definition), property.definition.description});
    }
    for (const auto& [name, view] : type.views) {
      lines_.push_back({stem() + name, "view", view.description});
    }
    for (const model::Element& element : type.elements) {
      const model::ElementDefinition& definition = element.definition;
      const bool last = left == 1;
      const bool required = definition.required || definition.min > 0;
      lines_.push_back({stem() + definition.name + "/" + (required ? "*" : ""),
                        element_kind(element), definition.description});
      if (depth > 1) add_members(*element.type, indent + trunk(last), depth - 1);
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

  bool utf8_;
  std::vector<TreeLine> lines_;
};

std::vector<std::string> slots_of(const model::Schema& schema, const model::ItemType& type) {
  std::vector<std::string> slots;
  for (const auto& [id, other] : schema.item_types()) {
    for (const model::Element& element : other->elements) {
      // Where the base of a type has the slot too, it is told there.
      const bool of_base =
          other->base != nullptr && other->base->find_element(element.definition.name) != nullptr;
      if (!of_base && type.is_a(*element.type)) {
        slots.push_back(fmt::format("{}/{}", id, element.definition.name));
      }
    }
  }
  return slots;
}

std::string property_type_text(const model::PropertyType& type) {
  std::vector<std::string> checks;
  for (const model::ValueCheck& check : type.definition.checks) checks.push_back(check_text(check));
  return detail_lines({{"property type", type.definition.id},
                       {"pack", type.pack},
                       {"right is", type.definition.description},
                       {"regex", type.definition.regex.value_or("")},
                       {"checks", joined(checks)},
                       {"deprecated", type.definition.deprecated ? "yes" : ""}});
}

void print_property_types(Context& context, const model::Schema& schema,
                          const TypeListOptions& options) {
  Json documents = Json::array();
  Table table({{.title = "PROPERTY TYPE"},
               {.title = "PACK"},
               {.title = "WHAT IS RIGHT", .shrinks = true, .width_min = 10}});
  for (const auto& [id, type] : schema.property_types()) {
    if (!options.pack.empty() && type->pack != options.pack) continue;
    if (context.options.format == Format::Name) context.console.out(id + "\n");
    documents.push_back(property_type_json(*type));
    table.add_row({{id}, {type->pack}, {type->definition.description}});
  }
  if (wants_document(context)) {
    print_document(context, {{"property_types", std::move(documents)}});
  } else if (context.options.format != Format::Name) {
    context.console.out(table.render(table_options(context)));
  }
}

void print_item_types(Context& context, const model::Schema& schema,
                      const TypeListOptions& options) {
  Json documents = Json::array();
  Table table({{.title = "TYPE"},
               {.title = "PACK"},
               {.title = "EXTENDS"},
               {.title = "DESCRIPTION", .shrinks = true, .width_min = 10}});
  for (const auto& [id, type] : schema.item_types()) {
    if (!options.pack.empty() && type->pack != options.pack) continue;
    if (!options.extends.empty() && !type->is_a(options.extends)) continue;
    if (context.options.format == Format::Name) context.console.out(id + "\n");
    documents.push_back(item_type_json(schema, *type));
    table.add_row(
        {{id}, {type->pack}, {type->base == nullptr ? "" : type->base->id}, {type->description}});
  }
  if (wants_document(context)) {
    print_document(context, {{"item_types", std::move(documents)}});
  } else if (context.options.format != Format::Name) {
    context.console.out(table.render(table_options(context)));
  }
}

tl::unexpected<Failure> not_found(std::string_view what, const std::string& name,
                                  const std::vector<std::string_view>& known) {
  return fail(Failure(Error{
      ErrorCode::NotFound,
      fmt::format("there is no {} {}{}", what, model::quoted(name), did_you_mean(name, known))}));
}

}  // namespace

std::string type_tree(const model::Schema& schema, const model::ItemType& type, int depth,
                      const Terminal& terminal) {
  std::vector<std::string> extended_by;
  for (const auto& [id, other] : schema.item_types()) {
    if (other->base == &type) extended_by.push_back(id);
  }
  std::vector<std::string> checks;
  for (const auto& [pack, check] : type.checks) checks.push_back(check_text(check));
  std::string text = detail_lines({{"item type", type.id},
                                   {"pack", type.pack},
                                   {"description", type.description},
                                   {"deprecated", type.deprecated ? "yes" : ""},
                                   {"extends", type.base == nullptr ? "" : type.base->id},
                                   {"extended by", joined(extended_by)},
                                   {"stands in", joined(slots_of(schema, type))},
                                   {"checks", joined(checks)}});
  TreeWriter writer(terminal.utf8);
  writer.add_members(type, "", depth);
  const std::string members = writer.text(terminal.stdout_width);
  return members.empty() ? text : text + "\n" + type.id + "\n" + members;
}

Outcome<ExitCode> list_types(Context& context, const pack::PackOptions& packs,
                             const TypeListOptions& options) {
  MUSTER_TRY_ASSIGN(const pack::LoadedPacks loaded, load_all(context, packs));
  const model::Schema& schema = *loaded.schema;
  if (!options.pack.empty() && schema.find_pack(options.pack) == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& [name, pack] : schema.packs()) names.push_back(name);
    return not_found("pack", options.pack, names);
  }
  if (!options.extends.empty() && schema.find_item_type(options.extends) == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& [id, type] : schema.item_types()) names.push_back(id);
    return not_found("item type", options.extends, names);
  }
  if (options.property_types) {
    print_property_types(context, schema, options);
  } else {
    print_item_types(context, schema, options);
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> show_type(Context& context, const pack::PackOptions& packs, const std::string& id,
                            int depth) {
  MUSTER_TRY_ASSIGN(const pack::LoadedPacks loaded, load_all(context, packs));
  const model::Schema& schema = *loaded.schema;
  const model::ItemType* const item_type = schema.find_item_type(id);
  const model::PropertyType* const property_type = schema.find_property_type(id);
  if (item_type == nullptr && property_type == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& [name, type] : schema.item_types()) names.push_back(name);
    for (const auto& [name, type] : schema.property_types()) names.push_back(name);
    return not_found("item type or property type", id, names);
  }
  if (wants_document(context)) {
    Json document = Json::object();
    if (item_type != nullptr) document["item_type"] = item_type_json(schema, *item_type);
    if (property_type != nullptr) document["property_type"] = property_type_json(*property_type);
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
  if (item_type != nullptr) text = type_tree(schema, *item_type, depth, terminal);
  if (property_type != nullptr) {
    text += (text.empty() ? "" : "\n") + property_type_text(*property_type);
  }
  context.console.out(text);
  return ExitCode::Ok;
}

}  // namespace muster::cli
