#include <array>
#include <string>

#include "controller/action_json.h"
#include "controller/api_state.h"
#include "controller/record_text.h"
#include "core/kind/catalog.h"

// What the controller says of itself: health, status, figures, its own contract.

namespace muster::controller {
namespace {

constexpr std::size_t kQuarantineShownMax = 1'000;

void respond_text(const CallPtr& call, int status, std::string type, std::string body) {
  http::Response response;
  response.status = status;
  response.headers = {{"Content-Type", std::move(type)}, {"Cache-Control", "no-store"}};
  response.body = std::move(body);
  call->responder->respond(std::move(response));
}

void livez(const CallPtr& call) { call->answer(200, {{"status", "ok"}}); }

void readyz(const CallPtr& call) {
  ApiState& api = call->api;
  api.readiness.check(api.workers, api.timers, [call](const Readiness::Reasons& reasons) {
    if (reasons.empty()) return call->answer(200, {{"status", "ok"}});
    Error error{ErrorCode::StoreUnavailable, reasons.front()};
    for (const std::string& reason : reasons) {
      error.fields.push_back({"", ErrorCode::StoreUnavailable, reason});
    }
    call->refuse(error);
  });
}

void version(const CallPtr& call) {
  const ApiContext& context = call->api.context;
  call->answer(200,
               {{"version", context.version}, {"api", "v1"}, {"instance_id", context.instance_id}});
}

void openapi(const CallPtr& call) {
  respond_text(call, 200, "application/json", call->api.openapi);
}

void metrics(const CallPtr& call) {
  engine_stats(call->api, [call](core::EngineStats stats, Timestamp) {
    ApiState& api = call->api;
    MetricsSnapshot snapshot;
    snapshot.engine = std::move(stats);
    snapshot.health = api.context.controller.health();
    if (const Result<store::StoreStats> store = api.store().stats()) snapshot.store = *store;
    snapshot.event_subscribers = api.context.events.subscribers();
    respond_text(call, 200, "text/plain; version=0.0.4; charset=utf-8",
                 api.context.metrics.expose(snapshot));
  });
}

void kinds(const CallPtr& call) {
  Json rows = Json::array();
  for (const core::KindInfo& kind : core::KindCatalog::all()) {
    rows.push_back({{"name", kind.name},
                    {"summary", kind.summary},
                    {"engine", kind.on_engine},
                    {"agent", kind.on_agent}});
  }
  call->answer(200, {{"kinds", std::move(rows)}});
}

Json status_json(ApiState& api, const core::EngineStats& stats, Timestamp as_of,
                 const Result<store::StoreStats>& store) {
  const ApiContext& context = api.context;
  const ControllerHealth health = context.controller.health();
  Json actions = Json::object();
  for (const auto& [status, count] : stats.live_by_status) actions[core::name(status)] = count;
  const store::StoreStats figures = store ? *store : store::StoreStats{};
  std::string problem = health.store_problem;
  if (problem.empty() && !store) problem = store.error().message;
  return {{"version", context.version},
          {"instance_id", context.instance_id},
          {"term", context.term},
          {"started_at", time_json(context.started_at)},
          {"uptime", duration_json(context.clock() - context.started_at)},
          {"store",
           {{"ok", health.store_ok && store.has_value()},
            {"problem", problem.empty() ? Json(nullptr) : Json(problem)},
            {"problem_since", time_json(health.store_problem_since)},
            {"bytes", figures.bytes},
            {"actions_live", figures.actions_live},
            {"actions_finished", figures.actions_finished},
            {"events", figures.events},
            {"quarantined", figures.quarantined}}},
          {"agents",
           {{"online", stats.agents_online},
            {"offline", stats.agents_offline},
            {"unknown", stats.agents_unknown}}},
          {"actions", std::move(actions)},
          {"jobs_running", stats.jobs_running},
          {"last_event", stats.last_event},
          {"inbox", health.inbox},
          {"uncommitted", health.uncommitted},
          {"as_of", time_json(as_of)}};
}

void status(const CallPtr& call) {
  engine_stats(call->api, [call](const core::EngineStats& stats, Timestamp as_of) {
    ApiState& api = call->api;
    call->answer(200, status_json(api, stats, as_of, api.store().stats()));
  });
}

void quarantine(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, const auto entries,
                         call->api.store().quarantined(kQuarantineShownMax));
  Json rows = Json::array();
  for (const store::QuarantineEntry& entry : entries) {
    rows.push_back({{"space", space_name(entry.space)},
                    {"key", key_text(entry.space, entry.key)},
                    {"problem", entry.problem},
                    {"at", time_json(entry.at)},
                    {"bytes", entry.value.size()}});
  }
  call->answer(200, {{"entries", std::move(rows)}});
}

void backup(const CallPtr& call) {
  const Result<void> started = call->api.backups.start(
      [call](const BackupSender::Ready& ready) {
        http::Response head;
        head.headers = {{"Content-Type", "application/octet-stream"},
                        {"Content-Disposition", "attachment; filename=\"muster-backup.db\""},
                        {"Cache-Control", "no-store"},
                        {"X-Muster-Sha256", ready.sha256},
                        {"X-Muster-Bytes", std::to_string(ready.bytes)}};
        return call->responder->stream(std::move(head));
      },
      [call](const Error& error) { call->refuse(error); });
  if (!started) call->refuse(started.error());
}

// None of these takes a query.
template <void (*Handler)(const CallPtr&)>
void without_query(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  Handler(call);
}

}  // namespace

void add_system_routes(Routes& routes) {
  routes.add("GET", "/livez", Permission::Read, livez);
  routes.add("GET", "/readyz", Permission::Read, readyz);
  routes.add("GET", "/version", Permission::Read, version);
  routes.add("GET", "/metrics", Permission::Read, metrics);
  routes.add("GET", "/openapi.json", Permission::Read, openapi);
  routes.add("GET", "/v1/openapi.json", Permission::Read, openapi);
  routes.add("GET", "/v1/kinds", Permission::Read, without_query<kinds>);
  routes.add("GET", "/v1/status", Permission::Read, without_query<status>);
  routes.add("GET", "/v1/quarantine", Permission::Admin, without_query<quarantine>);
  routes.add("GET", "/v1/backup", Permission::Admin, without_query<backup>);
}

}  // namespace muster::controller
