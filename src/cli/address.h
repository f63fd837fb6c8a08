#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/terminal.h"

namespace muster::cli {

inline constexpr std::string_view kDefaultSocket = "/run/muster/muster.sock";
inline constexpr std::string_view kDevSocket = ".muster-dev/muster.sock";

// Where an HTTP API answers: a unix socket, or a base URL.
struct Endpoint {
  std::string unix_socket;  // empty: TCP
  std::string base_url = "http://localhost";

  std::string to_string() const;
  bool operator==(const Endpoint&) const = default;
};

// "unix:/path", "/path", "./path" or "http://host:port".
Result<Endpoint> parse_endpoint(std::string_view text);

// The controller: `flag`, else MUSTER_ADDR, else the socket of the installed controller, else that
// of a `muster dev` in the current directory where one is there.
Result<Endpoint> controller_endpoint(std::string_view flag, const GetEnv& env);

}  // namespace muster::cli
