#include <memory>
#include <string>
#include <vector>

#include "controller/action_json.h"
#include "controller/agent_json.h"
#include "controller/api_body.h"
#include "controller/api_state.h"
#include "store/record_codec.h"

namespace muster::controller {
namespace {

constexpr std::size_t kQueueShownMax = 500;
constexpr std::size_t kLoadPage = 1'000;

// The agents as they were last written, for when the engine does not answer because the store
// refuses writes: an old answer is better than none then.
Result<std::vector<core::AgentPtr>> stored_agents(store::Store& store) {
  std::vector<core::AgentPtr> agents;
  std::string after;
  while (true) {
    MUSTER_TRY_ASSIGN(const store::RecordPage page,
                      store.load(store::Space::Agent, after, kLoadPage));
    for (const store::Record& record : page.records) {
      if (Result<core::AgentPtr> agent = store::decode_agent(record.value)) {
        agents.push_back(*std::move(agent));
      }
    }
    if (!page.more || page.records.empty()) return agents;
    after = page.records.back().key;
  }
}

void list_agents(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  using Agents = std::vector<core::AgentPtr>;
  ask_engine<Agents>(
      call->api, [](const core::Engine& engine, Timestamp) { return engine.agents(); },
      [call](Result<Agents> agents) {
        if (!agents) agents = stored_agents(call->api.store());
        if (!agents) return call->refuse(agents.error());
        Json rows = Json::array();
        for (const core::AgentPtr& agent : *agents) rows.push_back(agent_json(*agent));
        call->answer(200, {{"agents", std::move(rows)}});
      });
}

// The agent's unfinished actions in the order in which it will run them, which is that of seq.
Result<Json> queue_json(store::Store& store, const core::AgentName& agent) {
  store::ActionQuery query;
  query.filter.targets = {agent};
  query.filter.live = true;
  query.limit = kQueueShownMax;
  MUSTER_TRY_ASSIGN(const auto records, store.query_actions(query));
  Json rows = Json::array();
  for (const store::Record& record : records) {
    const Result<core::ActionPtr> action = store::decode_action(record.value);
    if (action && (*action)->spec->side == core::Side::Agent) {
      rows.push_back(action_row_json(**action));
    }
  }
  return rows;
}

Error no_agent(std::string_view name) {
  return Error{ErrorCode::NotFound, fmt::format("there is no agent {}", in_quotes(name))};
}

void answer_with_agent(const CallPtr& call, const core::AgentPtr& agent) {
  if (!agent) return call->refuse(no_agent(call->param("name")));
  MUSTER_CALL_TRY_ASSIGN(call, Json queue, queue_json(call->api.store(), agent->identity.name));
  Json body = agent_json(*agent);
  body["queue"] = std::move(queue);
  call->answer(200, {{"agent", std::move(body)}},
               {{"ETag", fmt::format("\"{}\"", agent->revision)}});
}

void get_agent(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  ask_engine<core::AgentPtr>(
      call->api,
      [name = call->param("name")](const core::Engine& engine, Timestamp) {
        return engine.find_agent(name);
      },
      [call](const Result<core::AgentPtr>& agent) {
        if (agent) return answer_with_agent(call, *agent);
        MUSTER_CALL_TRY_ASSIGN(call, const auto value,
                               call->api.store().get(store::Space::Agent, call->param("name")));
        if (!value) return call->refuse(no_agent(call->param("name")));
        MUSTER_CALL_TRY_ASSIGN(call, const core::AgentPtr stored, store::decode_agent(*value));
        answer_with_agent(call, stored);
      });
}

void refresh(const CallPtr& call, core::AgentName agent) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  core::RefreshRequest request;
  request.who = call->request.identity.name;
  request.agent = std::move(agent);
  request_engine<core::RefreshReply>(call->api, std::move(request),
                                     [call](const Result<core::RefreshReply>& reply) {
                                       if (!reply) return call->refuse(reply.error());
                                       call->answer(202, {{"refreshed", reply->refreshed}});
                                     });
}

void refresh_one(const CallPtr& call) { refresh(call, call->param("name")); }
void refresh_all(const CallPtr& call) { refresh(call, {}); }

}  // namespace

void add_agent_routes(Routes& routes) {
  routes.add("GET", "/v1/agents", Permission::Read, list_agents);
  routes.add("GET", "/v1/agents/{name}", Permission::Read, get_agent);
  routes.add("POST", "/v1/agents/refresh", Permission::Refresh, refresh_all);
  routes.add("POST", "/v1/agents/{name}/refresh", Permission::Refresh, refresh_one);
}

}  // namespace muster::controller
