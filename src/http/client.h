#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// A blocking HTTP client over libcurl, for the CLI, the `http` kind and tests.

namespace muster::http {

struct ClientRequest {
  std::string method = "GET";
  std::string url;          // with a unix socket the host part is ignored
  std::string unix_socket;  // empty: TCP
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  Duration timeout = Duration::seconds(30);  // of the whole exchange; zero: none
  Duration connect_timeout = Duration::seconds(5);
  std::size_t body_max = std::size_t{64} << 20;
  bool follow_redirects = false;
  // Polled about once a second and on every read; answering true aborts with Unavailable.
  std::function<bool()> cancelled;
  // With it, the body is handed over as it comes and ClientResponse::body stays empty; answering
  // false ends the exchange without an error. Only called for 2xx answers.
  std::function<bool(std::string_view)> on_data;
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  std::string header(std::string_view name) const;  // empty: not there
};

// Errors: Unavailable (cannot connect, connection lost), Timeout, BodyTooLarge, InvalidValue (bad
// URL). Any HTTP status is a response, not an error.
Result<ClientResponse> perform(const ClientRequest& request);

// Of an error of perform(): there was no connection, so the peer has seen nothing of the request.
bool never_connected(const Error& error);

}  // namespace muster::http
