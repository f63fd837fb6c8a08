#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace muster::core {

// One entry of the global, durable, gaplessly numbered event log. It names what changed and how it
// stands now; whoever needs more fetches the thing.
struct Event {
  std::uint64_t seq = 0;
  Timestamp at;
  std::string type;     // "action.created", "action.status", "action.run", "action.control",
                        // "action.approval", "action.conflict", "agent.registered", "agent.state",
                        // "agent.sync", "model.revision"
  std::string subject;  // action UUID, agent name or number of the revision
  std::string name;     // of the action
  std::string kind;     // of the action
  std::string target;   // of the action
  std::string status;   // of the action or agent, after the change
  std::string reason;
  std::string actor;  // who asked, where somebody did
  std::uint64_t revision = 0;

  bool operator==(const Event&) const = default;
};

}  // namespace muster::core
