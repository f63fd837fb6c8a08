#include "cli/catalog.h"

#include "base/nearest.h"
#include "cli/api_client.h"
#include "cli/fields.h"
#include "cli/interrupt.h"
#include "cli/packs.h"
#include "model/json_schema.h"
#include "model/type_json.h"

namespace muster::cli {
namespace {

bool names_folders(const pack::PackOptions& options) {
  return !options.packs.empty() || !options.core_pack.empty() || !options.extra.empty();
}

bool names_controller(const Context& context) {
  return !context.options.addr.empty() ||
         !context.environment.env("MUSTER_ADDR").value_or("").empty();
}

Catalog read_catalog(const pack::LoadedPacks& loaded) {
  Catalog catalog;
  for (const pack::LoadedPack& entry : loaded.packs) {
    Json row = model::pack_json(*loaded.schema, *loaded.schema->find_pack(entry.name));
    row["folder"] = entry.folder;
    row["program"] = entry.program.empty() ? Json() : Json(entry.program);
    row["templates"] = entry.has_templates;
    catalog.packs.push_back(std::move(row));
  }
  for (const auto& [id, type] : loaded.schema->item_types()) {
    catalog.types.push_back(model::item_type_json(*loaded.schema, *type));
  }
  for (const auto& [id, type] : loaded.schema->property_types()) {
    catalog.property_types.push_back(model::property_type_json(*type));
  }
  return catalog;
}

// From the controller by `ask`, or from folders by `read`.
template <typename T, typename Ask, typename Read>
Outcome<T> ask_or_read(Context& context, const pack::PackOptions& options, const Ask& ask,
                       const Read& read) {
  if (!names_folders(options)) {
    ignore_broken_pipes();
    MUSTER_TRY_ASSIGN(ApiClient client, connect_controller(context));
    Outcome<T> asked = ask(client);
    if (asked || asked.error().exit != ExitCode::Unreachable || names_controller(context)) {
      return asked;
    }
    context.console.warn("there is no controller; these are the packs that came with muster\n");
  }
  MUSTER_TRY_ASSIGN(const pack::LoadedPacks loaded, load_all(context, options));
  return read(loaded);
}

const Json* find_named(const Json& rows, std::string_view key, std::string_view name) {
  for (const Json& row : rows) {
    if (json_text(row, key) == name) return &row;
  }
  return nullptr;
}

}  // namespace

Outcome<Catalog> find_catalog(Context& context, const pack::PackOptions& options) {
  return ask_or_read<Catalog>(
      context, options,
      [](ApiClient& client) -> Outcome<Catalog> {
        MUSTER_TRY_ASSIGN(const Json packs, client.get("/v1/packs"));
        MUSTER_TRY_ASSIGN(const Json types, client.get("/v1/types"));
        MUSTER_TRY_ASSIGN(const Json property_types, client.get("/v1/property-types"));
        return Catalog{json_at(packs, "packs"), json_at(types, "types"),
                       json_at(property_types, "property_types")};
      },
      [](const pack::LoadedPacks& loaded) -> Outcome<Catalog> { return read_catalog(loaded); });
}

Outcome<Json> find_model_schema(Context& context, const pack::PackOptions& options) {
  return ask_or_read<Json>(
      context, options, [](ApiClient& client) { return client.get("/v1/model-schema"); },
      [](const pack::LoadedPacks& loaded) -> Outcome<Json> {
        return model::json_schema_of(*loaded.schema);
      });
}

const Json* find_pack(const Catalog& catalog, std::string_view name) {
  return find_named(catalog.packs, "name", name);
}

const Json* find_type(const Catalog& catalog, std::string_view id) {
  return find_named(catalog.types, "id", id);
}

const Json* find_property_type(const Catalog& catalog, std::string_view id) {
  return find_named(catalog.property_types, "id", id);
}

std::string suggest(std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return did_you_mean(name, views);
}

bool is_a(const Catalog& catalog, std::string_view id, std::string_view other) {
  // A chain cannot be longer than there are types, whatever a controller answers.
  std::string at(id);
  for (std::size_t i = 0; i <= catalog.types.size(); ++i) {
    if (at == other) return true;
    const Json* const type = find_type(catalog, at);
    if (type == nullptr) return false;
    at = json_text(*type, "extends");
    if (at.empty()) return false;
  }
  return false;
}

}  // namespace muster::cli
