#include "controller/action_text.h"
#include "controller/api_action_request.h"
#include "controller/api_ref.h"
#include "controller/api_state.h"

// Signals and approvals.

namespace muster::controller {
namespace {

void answer_with_action(const CallPtr& call, int status, const Result<core::ActionReply>& reply) {
  if (!reply) return call->refuse(reply.error());
  call->answer_text(status, action_document(*reply->action),
                    {{"ETag", fmt::format("\"{}\"", reply->action->revision)}});
}

void send_signal(const CallPtr& call, SignalBody body) {
  MUSTER_CALL_TRY_ASSIGN(call, const auto if_revision, parse_if_match(call->request));
  MUSTER_CALL_TRY_ASSIGN(call, const core::ActionPtr action,
                         resolve_action(call->api.store(), call->param("ref")));
  core::SignalRequest request;
  request.who = call->request.identity.name;
  request.id = action->id();
  request.signal = body.signal;
  request.reason = std::move(body.reason);
  request.force = body.force;
  request.if_revision = if_revision;
  request_engine<core::ActionReply>(
      call->api, std::move(request),
      [call](const Result<core::ActionReply>& reply) { answer_with_action(call, 202, reply); });
}

void signal(const CallPtr& call) {
  if (const auto typed = check_json_body(call->request); !typed) return call->refuse(typed.error());
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  MUSTER_CALL_TRY_ASSIGN(call, SignalBody body, decode_signal(call->request.body));
  send_signal(call, std::move(body));
}

void patch(const CallPtr& call) {
  if (const auto typed = check_json_body(call->request); !typed) return call->refuse(typed.error());
  MUSTER_CALL_TRY_ASSIGN(call, const auto query,
                         http::Query::parse(call->request.query, {"force"}));
  MUSTER_CALL_TRY_ASSIGN(call, const bool force, query_flag(query, "force"));
  if (const auto body = decode_cancel_patch(call->request.body); !body) {
    return call->refuse(body.error());
  }
  send_signal(call, {.signal = core::Signal::Cancel, .reason = {}, .force = force});
}

void decide(const CallPtr& call, bool approve) {
  if (!call->request.body.empty()) {
    if (const auto typed = check_json_body(call->request); !typed) {
      return call->refuse(typed.error());
    }
  }
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  MUSTER_CALL_TRY_ASSIGN(call, std::string reason, decode_decision(call->request.body));
  MUSTER_CALL_TRY_ASSIGN(call, const auto if_revision, parse_if_match(call->request));
  MUSTER_CALL_TRY_ASSIGN(call, const core::ActionPtr action,
                         resolve_action(call->api.store(), call->param("ref")));
  core::DecideRequest request;
  request.who = call->request.identity.name;
  request.id = action->id();
  request.approve = approve;
  request.reason = std::move(reason);
  request.if_revision = if_revision;
  request_engine<core::ActionReply>(
      call->api, std::move(request),
      [call](const Result<core::ActionReply>& reply) { answer_with_action(call, 200, reply); });
}

void approve(const CallPtr& call) { decide(call, true); }
void reject(const CallPtr& call) { decide(call, false); }

}  // namespace

void add_action_change_routes(Routes& routes) {
  routes.add("POST", "/v1/actions/{ref}/signals", Permission::Signal, signal);
  routes.add("PATCH", "/v1/actions/{ref}", Permission::Signal, patch);
  routes.add("POST", "/v1/actions/{ref}/approve", Permission::Approve, approve);
  routes.add("POST", "/v1/actions/{ref}/reject", Permission::Approve, reject);
}

}  // namespace muster::controller
