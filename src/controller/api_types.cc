#include "base/field_errors.h"
#include "base/nearest.h"
#include "controller/api_model.h"
#include "model/json_schema.h"
#include "model/type_json.h"

// The types that the model is made of, and the packs that they come from. None of it changes while
// the controller runs.

namespace muster::controller {
namespace {

// Null: refused.
const model::Schema* schema_of(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    call->refuse(query.error());
    return nullptr;
  }
  if (!call->api.context.schema) call->refuse(no_model());
  return call->api.context.schema.get();
}

template <typename Map>
void refuse_unknown(const CallPtr& call, std::string_view what, const Map& known) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : known) names.push_back(name);
  const std::string wanted = call->param("name");
  call->refuse({ErrorCode::NotFound, fmt::format("there is no {} {}{}", what, in_quotes(wanted),
                                                 did_you_mean(wanted, names))});
}

void list_types(const CallPtr& call) {
  const model::Schema* schema = schema_of(call);
  if (!schema) return;
  Json rows = Json::array();
  for (const auto& [id, type] : schema->item_types()) {
    rows.push_back(model::item_type_json(*schema, *type));
  }
  call->answer(200, {{"types", std::move(rows)}});
}

void show_type(const CallPtr& call) {
  const model::Schema* schema = schema_of(call);
  if (!schema) return;
  const model::ItemType* type = schema->find_item_type(call->param("name"));
  if (!type) return refuse_unknown(call, "item type", schema->item_types());
  call->answer(200, {{"type", model::item_type_json(*schema, *type)}});
}

void list_property_types(const CallPtr& call) {
  const model::Schema* schema = schema_of(call);
  if (!schema) return;
  Json rows = Json::array();
  for (const auto& [id, type] : schema->property_types()) {
    rows.push_back(model::property_type_json(*type));
  }
  call->answer(200, {{"property_types", std::move(rows)}});
}

void show_property_type(const CallPtr& call) {
  const model::Schema* schema = schema_of(call);
  if (!schema) return;
  const model::PropertyType* type = schema->find_property_type(call->param("name"));
  if (!type) return refuse_unknown(call, "property type", schema->property_types());
  call->answer(200, {{"property_type", model::property_type_json(*type)}});
}

void list_packs(const CallPtr& call) {
  const model::Schema* schema = schema_of(call);
  if (!schema) return;
  Json rows = Json::array();
  for (const auto& [name, pack] : schema->packs()) rows.push_back(model::pack_json(*schema, pack));
  call->answer(200, {{"packs", std::move(rows)}});
}

void show_pack(const CallPtr& call) {
  const model::Schema* schema = schema_of(call);
  if (!schema) return;
  const model::Pack* pack = schema->find_pack(call->param("name"));
  if (!pack) return refuse_unknown(call, "pack", schema->packs());
  call->answer(200, {{"pack", model::pack_json(*schema, *pack)}});
}

void show_model_schema(const CallPtr& call) {
  const model::Schema* schema = schema_of(call);
  if (schema) call->answer(200, model::json_schema_of(*schema));
}

}  // namespace

void add_type_routes(Routes& routes) {
  routes.add("GET", "/v1/types", Permission::Read, list_types);
  routes.add("GET", "/v1/types/{name}", Permission::Read, show_type);
  routes.add("GET", "/v1/property-types", Permission::Read, list_property_types);
  routes.add("GET", "/v1/property-types/{name}", Permission::Read, show_property_type);
  routes.add("GET", "/v1/model-schema", Permission::Read, show_model_schema);
  routes.add("GET", "/v1/packs", Permission::Read, list_packs);
  routes.add("GET", "/v1/packs/{name}", Permission::Read, show_pack);
}

}  // namespace muster::controller
