#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cli/address.h"
#include "cli/context.h"
#include "cli/failure.h"
#include "http/client.h"

// The one way from a command to an API: the controller's, or the local one of an agent. Blocking;
// used from one thread.

namespace muster::cli {

using Query = std::vector<std::pair<std::string, std::string>>;
using Headers = std::vector<std::pair<std::string, std::string>>;

// For one segment of a path or one part of a query.
std::string percent_encode(std::string_view text);

struct StreamRequest {
  std::string path;
  Query query;
  Headers headers;
  Duration timeout;  // zero: none
  std::function<bool()> cancelled;
  std::function<bool(std::string_view)> on_data;
};

class ApiClient {
 public:
  using Transport = std::function<Result<http::ClientResponse>(const http::ClientRequest&)>;

  // `peer` is what the other side is called in messages: "the controller", "the agent".
  ApiClient(Endpoint endpoint, std::string peer, Transport transport = http::perform);

  // Paths start with a slash and are encoded already. A 2xx answer is its JSON body (null for an
  // empty one); anything else a Failure.
  Outcome<Json> get(std::string_view path, const Query& query = {}, Duration timeout = kTimeout);
  Outcome<Json> post(std::string_view path, const Json& body, const Headers& headers = {});

  // What a request with a body, or that changes something, consists of.
  struct Change {
    std::string_view method = "POST";
    std::string path;
    Query query = {};
    const Json* body = nullptr;  // null: none
    Headers headers = {};
    Duration timeout = {};  // zero: as long as the controller itself takes to give up
  };
  Outcome<Json> send(const Change& change);

  // As send(), but a lost connection, a full queue and a twin of this request that is still being
  // worked on are tried again a few times. Safe because of the Idempotency-Key, which it needs.
  Outcome<Json> send_once(Change change, std::string_view key, Context& context);
  Outcome<Json> post_once(std::string_view path, const Json& body, std::string_view key,
                          Context& context) {
    return send_once({.path = std::string(path), .body = &body}, key, context);
  }

  // Hands the body of a 2xx answer over as it comes. Answers with the response (headers; no body).
  Outcome<http::ClientResponse> stream(const StreamRequest& request);
  // The whole answer of a GET as text.
  Outcome<http::ClientResponse> fetch(std::string_view path, const Query& query);

  const Endpoint& endpoint() const { return endpoint_; }

  static constexpr Duration kTimeout = Duration::seconds(30);

 private:
  http::ClientRequest make_request(std::string_view method, std::string_view path,
                                   const Query& query) const;
  Outcome<http::ClientResponse> perform(const http::ClientRequest& request);
  Failure unreachable(const Error& error) const;

  Endpoint endpoint_;
  std::string peer_;
  Transport transport_;
};

// The controller that the global options name.
Outcome<ApiClient> connect_controller(const Context& context);

// "/v1/actions/REF" with the reference encoded.
std::string action_path(std::string_view ref, std::string_view below = "");

}  // namespace muster::cli
