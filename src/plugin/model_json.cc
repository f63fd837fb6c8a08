#include "plugin/model_json.h"

#include <algorithm>

#include "base/utf8.h"

namespace muster::plugin {
namespace {

constexpr std::size_t kLineBytes = std::size_t{256} << 10;

constexpr int kCollection = 1;
constexpr int kRefCollection = 2;
constexpr int kIndeterminable = 4;
constexpr int kWasApplied = 8;
constexpr int kSameApplied = 16;
constexpr std::int32_t kNotSent = -2;

std::string_view kind_word(model::ElementKind kind) {
  switch (kind) {
    case model::ElementKind::Child:
      return "child";
    case model::ElementKind::Collection:
      return "collection";
    case model::ElementKind::Reference:
      return "reference";
    case model::ElementKind::RefCollection:
      return "ref_collection";
  }
  return "child";
}

Json type_json(const model::ItemType& type) {
  Json properties = Json::object();
  for (const auto& [name, property] : type.properties) {
    Json flags = Json::object();
    if (property.definition.plugin_may_update) flags["write"] = true;
    if (property.definition.secret) flags["secret"] = true;
    properties[name] = std::move(flags);
  }
  Json views = Json::object();
  for (const auto& [name, view] : type.views) {
    views[name] = {{"pack", view.pack}, {"method", view.method}};
  }
  Json elements = Json::object();
  for (const model::Element& element : type.elements) {
    elements[element.definition.name] = {{"kind", kind_word(element.definition.kind)},
                                         {"type", element.definition.type}};
  }
  Json json = {{"id", type.id},
               {"pack", type.pack},
               {"properties", std::move(properties)},
               {"views", std::move(views)},
               {"elements", std::move(elements)}};
  if (type.base != nullptr) json["extends"] = type.base->id;
  return json;
}

// The pack that declares a property which a type has.
const std::string& declaring_pack(const model::ItemType& type, std::string_view property) {
  const model::ItemType* at = &type;
  while (at->base != nullptr && at->base->find_property(property) != nullptr) at = at->base;
  return at->pack;
}

bool has_secret(const model::ItemType& type) {
  return std::any_of(type.properties.begin(), type.properties.end(),
                     [](const auto& entry) { return entry.second.definition.secret; });
}

}  // namespace

Json types_json(const model::Schema& schema) {
  Json types = Json::array();
  for (const auto& [id, type] : schema.item_types()) types.push_back(type_json(*type));
  return types;
}

bool is_hidden(const model::ItemType& type, std::string_view property, const Reveal& reveal) {
  const model::Property* const found = type.find_property(property);
  if (found == nullptr || !found->definition.secret) return false;
  return reveal.pack.empty() || declaring_pack(type, property) != reveal.pack;
}

void append_json_text(std::string& out, std::string_view text) {
  if (!is_utf8(text)) {
    append_json_text(out, to_utf8(text));
    return;
  }
  out += '"';
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, from, i - from);
    from = i + 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else {
      out += fmt::format("\\u{:04x}", c);
    }
  }
  out.append(text, from);
  out += '"';
}

ModelStream::ModelStream(SnapshotPtr snapshot, const std::vector<const model::ItemType*>& types,
                         Reveal reveal)
    : snapshot_(std::move(snapshot)), reveal_(std::move(reveal)) {
  std::int32_t number = 0;
  for (const auto& [id, type] : snapshot_->schema().item_types()) {
    type_numbers_.emplace(type.get(), number++);
  }
  items_ = snapshot_->rows().size();
  if (!types.empty()) keep_only(types);
}

void ModelStream::keep_only(const std::vector<const model::ItemType*>& types) {
  const auto& rows = snapshot_->rows();
  std::vector<bool> wanted(rows.size(), false);
  wanted[0] = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const model::Item& item = *rows[i].item;
    const bool is_one = !item.is_collection() &&
                        std::any_of(types.begin(), types.end(), [&](const model::ItemType* type) {
                          return item.type->is_a(*type);
                        });
    if (!is_one) continue;
    const auto end = static_cast<std::size_t>(rows[i].end);
    std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(i),
              wanted.begin() + static_cast<std::ptrdiff_t>(end), true);
    for (std::int32_t at = rows[i].parent; at != Snapshot::kNone; at = rows[at].parent) {
      if (wanted[static_cast<std::size_t>(at)]) break;
      wanted[static_cast<std::size_t>(at)] = true;
    }
    i = end - 1;
  }
  numbers_.assign(rows.size(), -1);
  items_ = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (wanted[i]) numbers_[i] = static_cast<std::int32_t>(items_++);
  }
}

std::int32_t ModelStream::number_of(std::int32_t row) const {
  if (row == Snapshot::kNone) return -1;
  if (numbers_.empty()) return row;
  const std::int32_t number = numbers_[static_cast<std::size_t>(row)];
  return number < 0 ? kNotSent : number;
}

void ModelStream::append_properties(std::string& line, const model::ItemType& type,
                                    const model::PropertiesPtr& properties) const {
  line += '{';
  if (properties != nullptr) {
    const bool look = has_secret(type);
    bool first = true;
    for (const auto& [name, value] : *properties) {
      if (!first) line += ',';
      first = false;
      append_json_text(line, name);
      line += ':';
      if (look && is_hidden(type, name, reveal_)) {
        line += "null";
      } else {
        append_json_text(line, value);
      }
    }
  }
  line += '}';
}

void ModelStream::append_row(std::string& line, const Snapshot::Row& row) {
  const model::Item& item = *row.item;
  const bool same = item.was_applied && model::same(item.applied, row.properties);
  int flags = 0;
  if (item.item_class == model::ItemClass::Collection) flags |= kCollection;
  if (item.item_class == model::ItemClass::RefCollection) flags |= kRefCollection;
  if (!item.determinable) flags |= kIndeterminable;
  if (item.was_applied) flags |= kWasApplied;
  if (same) flags |= kSameApplied;
  fmt::format_to(std::back_inserter(line), "[{},", number_of(row.parent));
  append_json_text(line, row.id);
  fmt::format_to(std::back_inserter(line), ",{},{},{},{}", type_numbers_.at(item.type),
                 static_cast<int>(item.state), flags, number_of(row.source));
  const bool has_applied = item.was_applied && !same && item.applied != nullptr;
  if (row.properties != nullptr || has_applied) {
    line += ',';
    append_properties(line, *item.type, row.properties);
  }
  if (has_applied) {
    line += ',';
    append_properties(line, *item.type, item.applied);
  }
  line += ']';
}

std::string ModelStream::next() {
  const auto& rows = snapshot_->rows();
  std::string line;
  bool first = true;
  for (; next_row_ < rows.size() && line.size() < kLineBytes; ++next_row_) {
    if (!numbers_.empty() && numbers_[next_row_] < 0) continue;
    line += first ? R"({"jsonrpc":"2.0","method":"items","params":{"items":[)" : ",";
    first = false;
    append_row(line, rows[next_row_]);
  }
  if (!first) line += "]}}\n";
  return line;
}

tl::expected<std::vector<const model::ItemType*>, RpcError> named_types(const model::Schema& schema,
                                                                        const Json& names) {
  const auto refuse = [](std::string message) {
    return tl::unexpected(RpcError{kInvalidParams, std::move(message)});
  };
  if (!names.is_array()) return refuse("'types' must be a list of item types");
  std::vector<const model::ItemType*> types;
  for (const Json& name : names) {
    if (!name.is_string()) return refuse("'types' must be a list of item types");
    const auto& id = name.get_ref<const std::string&>();
    const model::ItemType* const type = schema.find_item_type(id);
    if (type == nullptr) {
      return refuse(fmt::format("there is no item type '{}'{}", id, schema.suggest_item_type(id)));
    }
    types.push_back(type);
  }
  return types;
}

}  // namespace muster::plugin
