#include <memory>
#include <string>
#include <vector>

#include "controller/action_json.h"
#include "controller/action_text.h"
#include "controller/api_action_list.h"
#include "controller/api_action_request.h"
#include "controller/api_body.h"
#include "controller/api_idempotency.h"
#include "controller/api_ref.h"
#include "controller/api_state.h"
#include "store/record_codec.h"

// Creating and reading actions.

namespace muster::controller {
namespace {

std::string etag(const core::Action& action) { return fmt::format("\"{}\"", action.revision); }

Result<std::vector<core::ActionPtr>> read_replayed(store::Store& store,
                                                   const std::vector<core::ActionId>& ids) {
  std::vector<core::ActionPtr> actions;
  actions.reserve(ids.size());
  for (const core::ActionId& id : ids) {
    MUSTER_TRY_ASSIGN(const auto value, store.get(store::Space::Action, id.bytes()));
    if (!value) {
      return fail(ErrorCode::NotFound,
                  "a request with this Idempotency-Key was carried out before, but its action {} "
                  "is no longer kept",
                  id.to_string());
    }
    MUSTER_TRY_ASSIGN(core::ActionPtr action, store::decode_action(*value));
    actions.push_back(std::move(action));
  }
  return actions;
}

void answer_created(const CallPtr& call, bool single, const core::SubmitReply& reply) {
  std::vector<core::ActionPtr> actions = reply.actions;
  Headers headers;
  if (!reply.replayed.empty()) {
    MUSTER_CALL_TRY_ASSIGN(call, actions, read_replayed(call->api.store(), reply.replayed));
    headers.emplace_back("Idempotency-Replayed", "true");
  }
  if (single && actions.size() == 1) {
    headers.emplace_back("Location",
                         fmt::format("/v1/actions/{}", actions.front()->id().to_string()));
    headers.emplace_back("ETag", etag(*actions.front()));
    call->answer_text(202, action_document(*actions.front()), std::move(headers));
    return;
  }
  std::string text = R"({"actions":[)";
  for (const core::ActionPtr& action : actions) {
    if (action != actions.front()) text += ',';
    append_action(text, *action);
  }
  call->answer_text(202, text + "]}", std::move(headers));
}

// Somebody other than the requester has to approve, and who requested over TCP is not known: the
// same person could approve over the socket.
Result<void> check_requester(const http::Identity& identity, const CreateBody& body) {
  if (identity.authenticated) return {};
  Error error{
      ErrorCode::Forbidden,
      fmt::format("'{}' over {} is not an authenticated identity, so nobody could tell that "
                  "the approver is somebody else; use the unix socket, which proves who is "
                  "asking, or set approval.allow_requester",
                  identity.name, identity.how)};
  for (std::size_t i = 0; i < body.actions.size(); ++i) {
    const auto& approval = body.actions[i].approval;
    if (!approval || approval->allow_requester) continue;
    error.fields.push_back({fmt::format("/actions/{}/approval", i), ErrorCode::Forbidden,
                            "needs a requester who is known"});
  }
  if (error.fields.empty()) return {};
  return fail(with_client_pointers(std::move(error), body.single));
}

// All mistakes at once: what only the engine knows of is asked for too.
void refuse_wrong(const CallPtr& call, CreateBody body, Problems problems) {
  if (body.actions.empty() || problems.full()) return call->refuse(problems.to_error());
  core::Submit check;
  check.who = call->request.identity.name;
  check.actions = std::move(body.actions);
  check.only_check = true;
  request_engine<core::SubmitReply>(
      call->api, std::move(check),
      [call, single = body.single,
       problems = std::move(problems)](const Result<core::SubmitReply>& reply) {
        // Without fields it is the engine that cannot answer, which is not the client's mistake.
        call->refuse(reply || reply.error().fields.empty()
                         ? problems.to_error()
                         : merge_mistakes(problems, with_client_pointers(reply.error(), single)));
      });
}

void create(const CallPtr& call) {
  const http::Request& request = call->request;
  if (const auto typed = check_json_body(request); !typed) return call->refuse(typed.error());
  MUSTER_CALL_TRY_ASSIGN(call, auto idempotency, idempotency_of(request));
  Problems problems;
  MUSTER_CALL_TRY_ASSIGN(call, CreateBody body, read_create(request.body, problems));
  std::vector<FieldError> of_query;
  (void)http::Query::parse(request.query, {}, of_query);
  problems.add_all(std::move(of_query));
  if (!problems.empty()) return refuse_wrong(call, std::move(body), std::move(problems));
  if (const auto known = check_requester(request.identity, body); !known) {
    return call->refuse(known.error());
  }
  core::Submit submit;
  submit.who = request.identity.name;
  submit.actions = std::move(body.actions);
  submit.idempotency = std::move(idempotency);
  request_engine<core::SubmitReply>(
      call->api, std::move(submit),
      [call, single = body.single](const Result<core::SubmitReply>& reply) {
        if (reply) {
          answer_created(call, single, *reply);
        } else {
          call->refuse(with_client_pointers(reply.error(), single));
        }
      });
}

// Those of the actions that exist, in the order in which they were asked for.
void list_by_id(const CallPtr& call, const std::vector<Uuid>& ids) {
  Json rows = Json::array();
  Json warnings = Json::array();
  for (const Uuid& id : ids) {
    MUSTER_CALL_TRY_ASSIGN(call, const auto value,
                           call->api.store().get(store::Space::Action, id.bytes()));
    if (!value) continue;
    const Result<core::ActionPtr> action = store::decode_action(*value);
    if (action) {
      rows.push_back(action_row_json(**action));
    } else {
      warnings.push_back(fmt::format("the record of action {} cannot be read: {}", id.to_string(),
                                     action.error().message));
    }
  }
  Json body = {{"actions", std::move(rows)}, {"next_marker", nullptr}};
  if (!warnings.empty()) body["warnings"] = std::move(warnings);
  call->answer(200, body);
}

void list(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, const auto ids, decode_action_ids(call->request.query));
  if (ids) return list_by_id(call, *ids);
  MUSTER_CALL_TRY_ASSIGN(call, store::ActionQuery query, decode_action_query(call->request.query));
  store::Store& store = call->api.store();
  if (!query.marker.empty()) {
    MUSTER_CALL_TRY_ASSIGN(call, const auto marked, store.get(store::Space::Action, query.marker));
    if (!marked) {
      return call->refuse(http::query_error(
          "marker", ErrorCode::InvalidMarker,
          fmt::format("the marker {} names no action, or one that is no longer kept; list again "
                      "from the start",
                      Uuid::from_bytes(query.marker).to_string())));
    }
  }
  const std::size_t limit = query.limit;
  ++query.limit;  // one more tells whether there is a next page
  MUSTER_CALL_TRY_ASSIGN(call, std::vector<store::Record> records, store.query_actions(query));
  const bool more = records.size() > limit;
  if (more) records.resize(limit);
  Json rows = Json::array();
  Json warnings = Json::array();
  for (const store::Record& record : records) {
    const Result<core::ActionPtr> action = store::decode_action(record.value);
    if (action) {
      rows.push_back(action_row_json(**action));
    } else {
      warnings.push_back(fmt::format("the record of action {} cannot be read: {}",
                                     Uuid::from_bytes(record.key).to_string(),
                                     action.error().message));
    }
  }
  Json body = {{"actions", std::move(rows)},
               {"next_marker",
                more ? Json(Uuid::from_bytes(records.back().key).to_string()) : Json(nullptr)}};
  if (!warnings.empty()) body["warnings"] = std::move(warnings);
  call->answer(200, body);
}

void get(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  MUSTER_CALL_TRY_ASSIGN(call, const core::ActionPtr action,
                         resolve_action(call->api.store(), call->param("ref")));
  call->answer_text(200, action_document(*action), {{"ETag", etag(*action)}});
}

void explain(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  MUSTER_CALL_TRY_ASSIGN(call, const core::ActionPtr action,
                         resolve_action(call->api.store(), call->param("ref")));
  if (action->is_final()) {
    return call->answer(200, {{"explain", explanation_of_final_json(*action)}});
  }
  using Answer = std::optional<core::Explanation>;
  ask_engine<Answer>(
      call->api,
      [id = action->id()](const core::Engine& engine, Timestamp now) {
        return engine.explain(id, now);
      },
      [call, id = action->id()](const Result<Answer>& explanation) {
        if (!explanation) return call->refuse(explanation.error());
        if (*explanation) {
          return call->answer(200, {{"explain", explanation_json(**explanation)}});
        }
        // It ended after it was looked up.
        MUSTER_CALL_TRY_ASSIGN(call, const core::ActionPtr ended,
                               resolve_action(call->api.store(), id.to_string()));
        call->answer(200, {{"explain", explanation_of_final_json(*ended)}});
      });
}

}  // namespace

void add_action_routes(Routes& routes) {
  routes.add("POST", "/v1/actions", Permission::Submit, create);
  routes.add("GET", "/v1/actions", Permission::Read, list);
  routes.add("GET", "/v1/actions/{ref}", Permission::Read, get);
  routes.add("GET", "/v1/actions/{ref}/explain", Permission::Read, explain);
}

}  // namespace muster::controller
