#include "controller/authorizer.h"

namespace muster::controller {

std::string_view name(Permission permission) {
  switch (permission) {
    case Permission::Read:
      return "read";
    case Permission::Submit:
      return "submit";
    case Permission::Signal:
      return "signal";
    case Permission::Approve:
      return "approve";
    case Permission::Refresh:
      return "refresh";
    case Permission::Edit:
      return "edit";
    case Permission::Plan:
      return "plan";
    case Permission::Admin:
      return "admin";
  }
  return "?";
}

Result<void> LocalAuthorizer::authorize(const http::Identity& identity, Permission permission,
                                        std::string_view resource) {
  if (permission != Permission::Approve || identity.authenticated) return {};
  return fail(ErrorCode::Forbidden,
              "'{}' over {} is not an authenticated identity and may not {} '{}'; use the unix "
              "socket, which proves who is asking",
              identity.name, identity.how, name(permission), resource);
}

}  // namespace muster::controller
