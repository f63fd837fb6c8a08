#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"

// What the controller keeps of an agent. An agent is known by its name; its journal id tells
// whether it is still the one that remembers what it was sent.

namespace muster::core {

using AgentName = std::string;
using SessionId = std::uint64_t;  // of one connection; never reused while a controller lives

enum class AgentState : std::uint8_t {
  Unknown,  // not heard of since this controller started
  Online,
  Offline,
};

std::string_view name(AgentState state);

struct AgentFacts {
  std::string os;
  std::string os_version;
  std::string arch;
  std::string kernel;
  std::string hostname;
  std::vector<std::string> addresses;
  std::string version;  // of the agent program

  bool operator==(const AgentFacts&) const = default;
};

// What an agent says of itself when it connects.
struct AgentIdentity {
  AgentName name;
  std::string journal_id;
  std::string instance_id;  // of the process
  std::map<std::string, std::string> labels;
  std::vector<std::string> kinds;  // what it can execute
  AgentFacts facts;
  std::uint64_t term_seen = 0;  // the highest of the controllers it has met; not recorded

  bool operator==(const AgentIdentity&) const = default;
};

// The durable record. `state` and `since` are what was last known; after a restart of the
// controller every agent starts as Unknown.
struct Agent {
  AgentIdentity identity;
  std::uint64_t revision = 1;
  AgentState state = AgentState::Unknown;
  std::string state_reason;
  Timestamp state_since;
  Timestamp registered_at;
  Timestamp last_seen;
};

using AgentPtr = std::shared_ptr<const Agent>;

}  // namespace muster::core
