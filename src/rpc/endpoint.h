#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::rpc {

// "127.0.0.1:8441", "[::1]:8441", "host.example:8441".
struct Endpoint {
  std::string host;  // without brackets
  std::uint16_t port = 0;

  bool is_loopback() const;  // 127.0.0.0/8, ::1 or localhost
  std::string to_string() const;
};

Result<Endpoint> parse_endpoint(std::string_view text);

// Forbidden unless the endpoint is loopback or `insecure` says that it may be anything: the link
// has neither encryption nor proof of who is at the other end.
Result<void> check_exposure(const Endpoint& endpoint, bool insecure);

// Whether somebody could listen there now. gRPC says only that it could not; this says why.
Result<void> probe_listen(const Endpoint& endpoint);

}  // namespace muster::rpc
