#include "controller/agent_json.h"

#include "controller/action_json.h"

namespace muster::controller {

Json agent_json(const core::Agent& agent) {
  const core::AgentIdentity& identity = agent.identity;
  const core::AgentFacts& facts = identity.facts;
  return {{"name", identity.name},
          {"state", core::name(agent.state)},
          {"state_reason", agent.state_reason},
          {"state_since", time_json(agent.state_since)},
          {"registered_at", time_json(agent.registered_at)},
          {"last_seen", time_json(agent.last_seen)},
          {"labels", identity.labels},
          {"kinds", identity.kinds},
          {"facts",
           {{"os", facts.os},
            {"os_version", facts.os_version},
            {"arch", facts.arch},
            {"kernel", facts.kernel},
            {"hostname", facts.hostname},
            {"addresses", facts.addresses},
            {"version", facts.version}}},
          {"journal_id", identity.journal_id},
          {"instance_id", identity.instance_id},
          {"revision", agent.revision}};
}

}  // namespace muster::controller
