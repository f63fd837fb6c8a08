#include "core/fleet/agent_table.h"

namespace muster::core {

std::string_view name(AgentState state) {
  switch (state) {
    case AgentState::Unknown:
      return "unknown";
    case AgentState::Online:
      return "online";
    case AgentState::Offline:
      return "offline";
  }
  return "unknown";
}

AgentPtr AgentTable::find(const AgentName& name) const {
  const auto found = agents_.find(name);
  return found == agents_.end() ? nullptr : found->second;
}

void AgentTable::put(const AgentPtr& agent) { agents_[agent->identity.name] = agent; }

std::vector<AgentPtr> AgentTable::all() const {
  std::vector<AgentPtr> result;
  result.reserve(agents_.size());
  for (const auto& [name, agent] : agents_) result.push_back(agent);
  return result;
}

Session* AgentTable::session_of(const AgentName& name) {
  const auto found = sessions_.find(name);
  return found == sessions_.end() ? nullptr : &found->second;
}

const Session* AgentTable::session_of(const AgentName& name) const {
  const auto found = sessions_.find(name);
  return found == sessions_.end() ? nullptr : &found->second;
}

AgentName AgentTable::agent_of(SessionId session) const {
  const auto found = names_.find(session);
  return found == names_.end() ? AgentName() : found->second;
}

Session& AgentTable::open(const AgentName& name, SessionId session) {
  close(name);
  names_[session] = name;
  Session& opened = sessions_[name];
  opened.id = session;
  return opened;
}

void AgentTable::close(const AgentName& name) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end()) return;
  names_.erase(found->second.id);
  sessions_.erase(found);
}

std::vector<AgentName> AgentTable::online_names() const {
  std::vector<AgentName> result;
  result.reserve(sessions_.size());
  for (const auto& [name, session] : sessions_) result.push_back(name);
  return result;
}

}  // namespace muster::core
