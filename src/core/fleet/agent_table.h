#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/action/action.h"
#include "core/fleet/agent.h"

namespace muster::core {

// The connection of an agent that is online.
struct Session {
  SessionId id = 0;
  Timestamp last_heard;
  // The sync that is under way; nothing is sent before the first one is complete.
  bool ready = false;
  bool syncing = true;
  std::uint64_t sync = 0;
  std::set<ActionId> seen;  // by the sync under way
  Timestamp next_sync;
  std::string problem;  // what keeps the agent from working; empty: nothing
  Timestamp problem_since;
};

// The known agents and their sessions.
class AgentTable {
 public:
  AgentPtr find(const AgentName& name) const;
  void put(const AgentPtr& agent);
  std::vector<AgentPtr> all() const;  // by name
  std::size_t size() const { return agents_.size(); }

  // Null: not online.
  Session* session_of(const AgentName& name);
  const Session* session_of(const AgentName& name) const;
  // The agent that a session belongs to; empty: the session is not a current one.
  AgentName agent_of(SessionId session) const;
  Session& open(const AgentName& name, SessionId session);
  void close(const AgentName& name);
  std::size_t online() const { return sessions_.size(); }
  std::vector<AgentName> online_names() const;

 private:
  std::map<AgentName, AgentPtr> agents_;
  std::map<AgentName, Session> sessions_;
  std::unordered_map<SessionId, AgentName> names_;
};

}  // namespace muster::core
