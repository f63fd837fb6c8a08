#include "agent/local_api.h"

#include <algorithm>
#include <utility>

#include "agent/entry_json.h"
#include "agent/local_logs.h"
#include "agent/local_request.h"
#include "core/kind/catalog.h"
#include "exec/facts.h"
#include "http/request_checks.h"

namespace muster::agent {
namespace {

constexpr std::size_t kConnectionsMax = 128;
constexpr Duration kStopGrace = Duration::seconds(1);

using Core = core::agent::AgentCore;

Json facts_json(const core::AgentFacts& facts) {
  return {
      {"os", facts.os},          {"os_version", facts.os_version}, {"arch", facts.arch},
      {"kernel", facts.kernel},  {"hostname", facts.hostname},     {"addresses", facts.addresses},
      {"version", facts.version}};
}

Json link_json(const LinkState& state) {
  return {{"up", state.up},
          {"controller_id", state.controller_id},
          {"term", state.term},
          {"since", time_json(state.since)},
          {"problem", state.problem}};
}

Json journal_json(const std::string& id, const JournalHealth& health) {
  return {{"id", id},
          {"ok", health.ok},
          {"problem", health.problem},
          {"problem_since", time_json(health.since)}};
}

Result<Json> list_json(const Core& core, const ListQuery& query) {
  std::vector<core::JournalEntryPtr> all;
  if (query.state != ListState::Finished) all = core.queue();
  if (query.state != ListState::Queue) {
    auto finished = core.finished(SIZE_MAX);
    all.insert(all.end(), finished.begin(), finished.end());
  }
  auto first = all.begin();
  if (query.marker) {
    first = std::ranges::find_if(all, [&](const auto& entry) { return entry->id == query.marker; });
    if (first == all.end()) {
      return fail(ErrorCode::InvalidMarker, "marker {} is not in the list (any more)",
                  query.marker->to_string());
    }
    ++first;
  }
  Json actions = Json::array();
  for (; first != all.end() && actions.size() < query.limit; ++first) {
    actions.push_back(entry_row_json(**first));
  }
  return Json{{"actions", std::move(actions)}, {"more", first != all.end()}};
}

Error unknown_action(const core::ActionId& id) {
  return {ErrorCode::NotFound, fmt::format("no action {}", id.to_string())};
}

}  // namespace

LocalApi::LocalApi(LocalApiInfo info, AgentLoop& loop, const LinkInlet* link,
                   std::function<Timestamp()> clock, std::function<std::uint64_t()> random)
    : info_(std::move(info)),
      loop_(loop),
      link_(link),
      clock_(std::move(clock)),
      random_(std::move(random)) {
  const auto add = [this](std::string_view method, std::string_view pattern,
                          void (LocalApi::*handler)(const http::Request&, const ResponderPtr&)) {
    router_.add(method, pattern, [this, handler](http::Request request, ResponderPtr responder) {
      (this->*handler)(request, responder);
    });
  };
  router_.add("GET", "/livez", [](const http::Request&, const ResponderPtr& responder) {
    responder->respond(http::json_response(200, {{"status", "ok"}}));
  });
  router_.add("GET", "/v1/kinds", [this](const http::Request&, const ResponderPtr& responder) {
    get_kinds(responder);
  });
  add("GET", "/v1/info", &LocalApi::get_info);
  add("GET", "/v1/actions", &LocalApi::list_actions);
  add("POST", "/v1/actions", &LocalApi::create_action);
  add("GET", "/v1/actions/{id}", &LocalApi::get_action);
  add("POST", "/v1/actions/{id}/signals", &LocalApi::signal_action);
  add("GET", "/v1/actions/{id}/logs", &LocalApi::get_logs);
}

Result<void> LocalApi::start(const LocalApiOptions& options) {
  http::ServerOptions server;
  server.unix_path = options.unix_path;
  server.unix_mode = options.unix_mode;
  server.tcp_address = options.tcp_address;
  server.insecure = options.insecure;
  server.connections_max = kConnectionsMax;
  server.threads = 1;
  server.server_header = "muster-agent";
  MUSTER_TRY_ASSIGN(server_, http::Server::start(std::move(server), [this](http::Request request,
                                                                           ResponderPtr responder) {
                      router_.dispatch(std::move(request), std::move(responder));
                    }));
  return {};
}

void LocalApi::stop() {
  if (server_) server_->stop(kStopGrace);
}

// Answers also while the journal refuses writes; what waits in the core is then left out.
void LocalApi::get_info(const http::Request& request, const ResponderPtr& responder) {
  Json json = {{"name", info_.identity.name},
               {"version", info_.identity.facts.version},
               {"instance_id", info_.identity.instance_id},
               {"labels", info_.identity.labels},
               {"kinds", info_.identity.kinds},
               {"facts", facts_json(exec::gather_facts(info_.identity.facts.version))},
               {"journal", journal_json(info_.identity.journal_id, loop_.health())},
               {"controllers", info_.controllers},
               {"link", link_ == nullptr ? Json(nullptr) : link_json(link_->state())},
               {"state_dir", info_.state_dir},
               {"started_at", time_json(info_.started_at)},
               {"time", time_json(clock_())}};
  loop_.query({[json = std::move(json), request, responder](Result<const Core*> core) mutable {
    if (!core && core.error().code != ErrorCode::StoreUnavailable) {
      return responder->respond(http::problem(core.error(), request));
    }
    if (core) {
      const auto queue = (*core)->queue();
      const bool runs = !queue.empty() && queue.front()->status != core::Status::New;
      json["running"] = runs ? entry_row_json(*queue.front()) : Json(nullptr);
      json["queued"] = queue.size() - (runs ? 1 : 0);
      json["finished"] = (*core)->finished(SIZE_MAX).size();
    }
    responder->respond(http::json_response(200, json));
  }});
}

void LocalApi::get_kinds(const ResponderPtr& responder) {
  Json kinds = Json::array();
  for (const auto& kind : info_.identity.kinds) {
    const auto* known = core::KindCatalog::find(kind);
    kinds.push_back({{"name", kind}, {"summary", known == nullptr ? "" : known->summary}});
  }
  responder->respond(http::json_response(200, {{"kinds", std::move(kinds)}}));
}

void LocalApi::list_actions(const http::Request& request, const ResponderPtr& responder) {
  const auto query = decode_list_query(request.query);
  if (!query) return responder->respond(http::problem(query.error(), request));
  loop_.query({[query = *query, request, responder](Result<const Core*> core) {
    if (!core) return responder->respond(http::problem(core.error(), request));
    const auto list = list_json(**core, query);
    responder->respond(list ? http::json_response(200, *list)
                            : http::problem(list.error(), request));
  }});
}

void LocalApi::create_action(const http::Request& request, const ResponderPtr& responder) {
  auto body = [&]() -> Result<CreateBody> {
    MUSTER_TRY(check_json_body(request));
    return decode_create(request.body);
  }();
  if (!body) return responder->respond(http::problem(body.error(), request));
  const std::uint64_t random = random_();
  const core::ActionId id = body->id.value_or(Uuid::v4(random, random_()));
  core::agent::Schedule action{
      .id = id,
      .attempt = 1,
      .name = body->name.empty() ? fmt::format("{}-{}", body->kind, id.short_id()) : body->name,
      .kind = body->kind,
      .inputs = std::move(body->inputs),
      .timeout = body->timeout,
      .requested_by = request.identity.name,
      .created_at = clock_()};
  loop_.request({core::agent::LocalSchedule{0, std::move(action)},
                 [request, responder](Result<core::JournalEntryPtr> entry) {
                   if (!entry) return responder->respond(http::problem(entry.error(), request));
                   auto response = http::json_response(201, {{"action", entry_json(**entry)}});
                   response.headers.emplace_back("Location",
                                                 "/v1/actions/" + (*entry)->id.to_string());
                   responder->respond(std::move(response));
                 }});
}

void LocalApi::get_action(const http::Request& request, const ResponderPtr& responder) {
  const auto id = path_id(request);
  if (!id) return responder->respond(http::problem(id.error(), request));
  loop_.query({[id = *id, request, responder](Result<const Core*> core) {
    if (!core) return responder->respond(http::problem(core.error(), request));
    const auto entry = (*core)->find(id);
    responder->respond(entry ? http::json_response(200, {{"action", entry_json(*entry)}})
                             : http::problem(unknown_action(id), request));
  }});
}

void LocalApi::signal_action(const http::Request& request, const ResponderPtr& responder) {
  const auto id = path_id(request);
  if (!id) return responder->respond(http::problem(id.error(), request));
  const auto body = [&]() -> Result<SignalBody> {
    MUSTER_TRY(check_json_body(request));
    return decode_signal(request.body);
  }();
  if (!body) return responder->respond(http::problem(body.error(), request));
  loop_.request({core::agent::LocalSignal{.request = 0,
                                          .id = *id,
                                          .signal = body->signal,
                                          .who = request.identity.name,
                                          .reason = body->reason},
                 [request, responder](Result<core::JournalEntryPtr> entry) {
                   if (!entry) return responder->respond(http::problem(entry.error(), request));
                   const bool pending = (*entry)->control != core::Signal::None;
                   responder->respond(
                       http::json_response(pending ? 202 : 200, {{"action", entry_json(**entry)}}));
                 }});
}

void LocalApi::get_logs(const http::Request& request, const ResponderPtr& responder) {
  const auto id = path_id(request);
  if (!id) return responder->respond(http::problem(id.error(), request));
  const auto query = decode_log_query(request.query);
  if (!query) return responder->respond(http::problem(query.error(), request));
  loop_.query({[this, id = *id, query = *query, request, responder](Result<const Core*> core) {
    if (!core) return responder->respond(http::problem(core.error(), request));
    if (!(*core)->find(id)) return responder->respond(http::problem(unknown_action(id), request));
    if (query.follow) {
      follow_log(loop_, id, query, responder);
    } else {
      respond_with_log(loop_, id, query, request, responder);
    }
  }});
}

}  // namespace muster::agent
