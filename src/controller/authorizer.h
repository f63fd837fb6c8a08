#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "http/server.h"

namespace muster::controller {

// What a request wants to do, as coarse as a role would grant it.
enum class Permission : std::uint8_t {
  Read,     // look at actions, agents, events, the state of the controller
  Submit,   // create actions
  Signal,   // cancel, suspend, resume
  Approve,  // approve or reject
  Refresh,  // nudge agents
  Edit,     // change the deployment model
  Plan,     // make and remove plans
  Admin,    // take a backup, look at quarantined records
};

std::string_view name(Permission permission);

// Asked by every route before anything else. Thread-safe. An implementation answers Forbidden with
// what the caller could do about it.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // `resource` is what the request names: an action, an agent, or empty for a whole collection.
  virtual Result<void> authorize(const http::Identity& identity, Permission permission,
                                 std::string_view resource) = 0;
};

// For a controller that only this host can reach: whoever can open the unix socket or the loopback
// port may do everything, but an approval must carry the name of somebody, which only the unix
// socket proves.
class LocalAuthorizer final : public Authorizer {
 public:
  Result<void> authorize(const http::Identity& identity, Permission permission,
                         std::string_view resource) override;
};

}  // namespace muster::controller
