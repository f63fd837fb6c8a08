#include "controller/api_model.h"

#include "base/field_errors.h"
#include "controller/api_body.h"
#include "controller/api_idempotency.h"
#include "controller/api_model_request.h"
#include "controller/model_json.h"
#include "model/fingerprint.h"

// The items of the model: reading them, and changing them one by one.

namespace muster::controller {
namespace {

constexpr std::size_t kDepthMax = model::kPathDepthMax;
constexpr std::size_t kFindLimitDefault = 100;
constexpr std::size_t kFindLimitMax = 1000;

struct Shown {
  Json body;
  std::string etag;
  std::uint64_t revision = 0;
};

Headers headers_of(const Shown& shown) {
  return {{"ETag", fmt::format("\"{}\"", shown.etag)},
          {"Model-Revision", fmt::format("{}", shown.revision)}};
}

Error no_item(const model::Path& path) {
  return {ErrorCode::InvalidLocation,
          fmt::format("there is no item at {}", path.text()),
          {{.pointer = {},
            .code = ErrorCode::InvalidLocation,
            .detail = fmt::format("there is no item at {}", path.text()),
            .path = path.text()}}};
}

Result<Shown> show_item(const core::ModelView& view, const model::Path& path, std::size_t depth) {
  const model::Node* node = view.tree.find(path);
  if (!node) return fail(no_item(path));
  if (count_items(*node, depth, kItemsPerAnswerMax) > kItemsPerAnswerMax) {
    return fail(http::query_error(
        "depth", ErrorCode::InvalidValue,
        fmt::format("more than {} items stand within {} levels below {}; ask for fewer levels, or "
                    "use /v1/export",
                    kItemsPerAnswerMax, depth, path.text())));
  }
  Shown shown{item_json(*node, depth), model::fingerprint(*node), view.revision};
  shown.body["etag"] = shown.etag;
  shown.body["model_revision"] = shown.revision;
  return shown;
}

void get_item(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, const model::Path path, path_of(*call));
  MUSTER_CALL_TRY_ASSIGN(call, const auto query,
                         http::Query::parse(call->request.query, {"depth"}));
  MUSTER_CALL_TRY_ASSIGN(call, const auto depth, http::query_number(query, "depth", 0, kDepthMax));
  ask_model<Shown>(
      call,
      [path, depth](const core::ModelView& view) {
        return show_item(view, path, depth.value_or(0));
      },
      [call](const Shown& shown) { call->answer(200, shown.body, headers_of(shown)); });
}

Result<bool> dry_run_of(const http::Request& request) {
  MUSTER_TRY_ASSIGN(const auto query, http::Query::parse(request.query, {"dry_run"}));
  return http::query_flag(query, "dry_run");
}

void create_item(const CallPtr& call) {
  if (const auto typed = check_json_body(call->request); !typed) return call->refuse(typed.error());
  MUSTER_CALL_TRY_ASSIGN(call, const bool dry_run, dry_run_of(call->request));
  MUSTER_CALL_TRY_ASSIGN(call, const model::Path parent, path_of(*call));
  MUSTER_CALL_TRY_ASSIGN(call, EditBody body, decode_create_item(call->request.body, parent));
  const std::string id = std::visit(
      [](const auto& operation) -> std::string {
        if constexpr (requires { operation.id; }) return operation.id;
        return {};
      },
      body.operations.front());
  Edit edit{.change = std::move(body.operations),
            .why = std::move(body.why),
            .dry_run = dry_run,
            .status = 201};
  if (model::item_id_problem(id).empty()) edit.shown = parent.child(id);
  send_edit(call, std::move(edit));
}

void update_item(const CallPtr& call) {
  if (const auto typed = check_json_body(call->request); !typed) return call->refuse(typed.error());
  MUSTER_CALL_TRY_ASSIGN(call, const bool dry_run, dry_run_of(call->request));
  MUSTER_CALL_TRY_ASSIGN(call, const model::Path path, path_of(*call));
  MUSTER_CALL_TRY_ASSIGN(call, EditBody body, decode_update_item(call->request.body, path));
  send_edit(call, {.change = std::move(body.operations),
                   .why = std::move(body.why),
                   .dry_run = dry_run,
                   .shown = path});
}

void remove_item(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, const model::Path path, path_of(*call));
  MUSTER_CALL_TRY_ASSIGN(call, const auto query,
                         http::Query::parse(call->request.query, {"dry_run", "why"}));
  MUSTER_CALL_TRY_ASSIGN(call, const bool dry_run, http::query_flag(query, "dry_run"));
  std::string why = query.get("why");
  if (const auto problem = text_problem(why, kWhyCharactersMax, true)) {
    return call->refuse(http::query_error("why", ErrorCode::InvalidValue, *problem));
  }
  send_edit(call, {.change = core::ModelOperations{model::RemoveItem{path}},
                   .why = std::move(why),
                   .dry_run = dry_run,
                   .shown = path});
}

// --- Finding. ---

struct Criteria {
  model::Path below;
  std::string type;
  std::optional<model::ItemState> state;
  std::string id;
  std::vector<std::pair<std::string, std::string>> properties;
  std::optional<model::Path> after;
  std::size_t limit = kFindLimitDefault;
};

Result<Criteria> criteria_of(const http::Request& request) {
  std::vector<FieldError> errors;
  const auto query = http::Query::parse(
      request.query, {"below", "type", "state", "id", "property", "marker", "limit"}, errors);
  const auto wrong = [&](std::string_view key, std::string detail) {
    errors.push_back({fmt::format("?{}", key), ErrorCode::InvalidValue, std::move(detail)});
  };
  const auto path = [&](std::string_view key) -> std::optional<model::Path> {
    if (!query.has(key)) return std::nullopt;
    auto parsed = model::Path::parse(query.get(key));
    if (parsed) return std::move(*parsed);
    wrong(key, parsed.error().message);
    return std::nullopt;
  };
  Criteria criteria;
  criteria.below = path("below").value_or(model::Path());
  criteria.after = path("marker");
  criteria.type = query.get("type");
  criteria.id = query.get("id");
  if (query.has("state")) {
    criteria.state = model::parse_item_state(query.get("state"));
    if (!criteria.state) {
      wrong("state", fmt::format("state is {}, it must be Initial, Applied, Updated, ForRemoval or "
                                 "Removed",
                                 in_quotes(query.get("state"))));
    }
  }
  for (const std::string& text : query.all("property")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      wrong("property", fmt::format("property is {}, it must be NAME=VALUE", in_quotes(text)));
    } else {
      criteria.properties.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  const auto limit = http::query_number(query, "limit", 1, kFindLimitMax);
  if (!limit) {
    errors.insert(errors.end(), limit.error().fields.begin(), limit.error().fields.end());
  } else if (*limit) {
    criteria.limit = static_cast<std::size_t>(**limit);
  }
  if (!errors.empty()) return fail(gather(std::move(errors)));
  return criteria;
}

bool fits(const model::Node& node, const Criteria& criteria) {
  const model::Item& item = node.item();
  if (item.is_collection()) return false;
  if (!criteria.type.empty() && !item.type->is_a(criteria.type)) return false;
  if (criteria.state && item.state != *criteria.state) return false;
  if (!criteria.id.empty() && node.id() != criteria.id) return false;
  for (const auto& [name, value] : criteria.properties) {
    const model::Property* property = item.type->find_property(name);
    // Whoever may not see a secret may not try values for it either.
    if (!property || property->definition.secret) return false;
    const std::string* has = node.property(name);
    if (!has || *has != value) return false;
  }
  return true;
}

struct Found {
  Json items = Json::array();
  std::string next;
};

// In the order of paths. False: there is enough.
bool collect(const model::Node& node, const Criteria& criteria, Found& found) {
  const bool seen = criteria.after && node.path() <= *criteria.after;
  if (!seen && fits(node, criteria)) {
    if (found.items.size() == criteria.limit) {
      found.next = found.items.back().at("path");
      return false;
    }
    found.items.push_back(item_row_json(node));
  }
  for (const auto& child : node.children()) {
    if (!collect(*child, criteria, found)) return false;
  }
  return true;
}

void find_items(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, Criteria criteria, criteria_of(call->request));
  ask_model<Found>(
      call,
      [criteria = std::move(criteria)](const core::ModelView& view) -> Result<Found> {
        if (!criteria.type.empty() && !view.schema.find_item_type(criteria.type)) {
          return fail(
              http::query_error("type", ErrorCode::InvalidType,
                                fmt::format("there is no item type {}{}", in_quotes(criteria.type),
                                            view.schema.suggest_item_type(criteria.type))));
        }
        const model::Node* top = view.tree.find(criteria.below);
        if (!top) return fail(no_item(criteria.below));
        Found found;
        (void)collect(*top, criteria, found);
        return found;
      },
      [call](const Found& found) {
        call->answer(200, {{"items", found.items},
                           {"next_marker", found.next.empty() ? Json() : Json(found.next)}});
      });
}

// --- Answering edits. ---

Json edit_json(const core::ModelReply& reply, const model::Schema& schema) {
  Json body = {{"revision", reply.revision}, {"dry_run", reply.dry_run}};
  if (reply.changes) {
    body["changed"] = !reply.changes->empty();
    body["changes_total"] = reply.changes->size();
    body["changes"] = changes_json(*reply.changes, schema);
    body["notices"] = notices_json(*reply.changes);
  }
  return body;
}

void answer_edit(const CallPtr& call, const Edit& edit, const core::ModelReply& reply) {
  struct Answer {
    Json body;
    std::optional<Shown> shown;
  };
  ask_model<Answer>(
      call,
      [shown = edit.shown, reply](const core::ModelView& view) -> Result<Answer> {
        Answer answer{edit_json(reply, view.schema), {}};
        if (shown && !reply.dry_run) {
          if (auto item = show_item(view, *shown, 0)) answer.shown = std::move(*item);
        }
        return answer;
      },
      [call, edit, reply](Answer answer) {
        Headers headers{{"Model-Revision", fmt::format("{}", reply.revision)}};
        if (!reply.changes) headers.emplace_back("Idempotency-Replayed", "true");
        answer.body["item"] = answer.shown ? answer.shown->body : Json();
        if (answer.shown) {
          headers.emplace_back("ETag", fmt::format("\"{}\"", answer.shown->etag));
          if (edit.status == 201) {
            headers.emplace_back("Location", fmt::format("/v1/model{}", edit.shown->text()));
          }
        }
        call->answer(reply.dry_run ? 200 : edit.status, answer.body, std::move(headers));
      });
}

}  // namespace

Result<model::Path> path_of(const Call& call) {
  return model::Path::parse("/" + call.param("path"));
}

void send_edit(const CallPtr& call, Edit edit) {
  MUSTER_CALL_TRY_ASSIGN(call, auto if_match, parse_model_match(call->request));
  MUSTER_CALL_TRY_ASSIGN(call, auto idempotency, idempotency_of_whole(call->request));
  core::EditModel request;
  request.who = call->request.identity.name;
  request.why = edit.why;
  request.change = std::move(edit.change);
  request.if_match = std::move(if_match);
  request.dry_run = edit.dry_run;
  request.idempotency = std::move(idempotency);
  request_engine<core::ModelReply>(
      call->api, std::move(request),
      [call, edit = std::move(edit)](const Result<core::ModelReply>& reply) {
        if (!reply) return call->refuse(reply.error());
        answer_edit(call, edit, *reply);
      });
}

void add_model_routes(Routes& routes) {
  routes.add("GET", "/v1/model", Permission::Read, get_item);
  routes.add("GET", "/v1/model/{path...}", Permission::Read, get_item);
  routes.add("POST", "/v1/model", Permission::Edit, create_item);
  routes.add("POST", "/v1/model/{path...}", Permission::Edit, create_item);
  routes.add("PATCH", "/v1/model", Permission::Edit, update_item);
  routes.add("PATCH", "/v1/model/{path...}", Permission::Edit, update_item);
  routes.add("DELETE", "/v1/model", Permission::Edit, remove_item);
  routes.add("DELETE", "/v1/model/{path...}", Permission::Edit, remove_item);
  routes.add("GET", "/v1/items", Permission::Read, find_items);
}

}  // namespace muster::controller
