#include "cli/api_client.h"

#include <unistd.h>

#include <cerrno>

#include "base/backoff.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

// Longer than the controller itself takes to give up on a request.
constexpr Duration kPostTimeout = Duration::seconds(75);
constexpr std::uint32_t kPostAttempts = 5;
constexpr Backoff kPostBackoff = {Duration::millis(200), Duration::seconds(2)};

Outcome<Json> read_body(const http::ClientResponse& response) {
  if (response.body.empty()) return Json(nullptr);
  Result<Json> body = parse_json(response.body, {.bytes_max = std::size_t{64} << 20});
  if (!body) {
    Failure failure(std::move(body.error()).wrap("the answer is not what this client understands"));
    failure.exit = ExitCode::Error;
    return fail(std::move(failure));
  }
  return std::move(*body);
}

bool worth_another_try(const Failure& failure) {
  return failure.exit == ExitCode::Unreachable || failure.code == "idempotency_in_flight" ||
         failure.code == "overloaded";
}

// The request may have reached the controller and may still be carried out.
bool outcome_is_open(const Failure& failure) {
  return (failure.exit == ExitCode::Unreachable && failure.sent) ||
         failure.code == "idempotency_in_flight" || failure.http_status >= 500;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

ApiClient::ApiClient(Endpoint endpoint, std::string peer, Transport transport)
    : endpoint_(std::move(endpoint)), peer_(std::move(peer)), transport_(std::move(transport)) {}

http::ClientRequest ApiClient::make_request(std::string_view method, std::string_view path,
                                            const Query& query) const {
  http::ClientRequest request;
  request.method = method;
  request.unix_socket = endpoint_.unix_socket;
  request.url = endpoint_.base_url + std::string(path);
  char separator = '?';
  for (const auto& [key, value] : query) {
    request.url += separator + percent_encode(key) + "=" + percent_encode(value);
    separator = '&';
  }
  request.headers.emplace_back("Accept", "application/json");
  request.timeout = kTimeout;
  return request;
}

Failure ApiClient::unreachable(const Error& error) const {
  Failure failure(Error{error.code, fmt::format("cannot reach {} at {}: {}", peer_,
                                                endpoint_.to_string(), error.message)});
  failure.sent = !http::never_connected(error);
  const std::string& socket = endpoint_.unix_socket;
  if (error.code != ErrorCode::Unavailable || socket.empty()) return failure;
  if (access(socket.c_str(), W_OK) == 0) return failure;
  if (errno == EACCES) {
    failure.exit = ExitCode::Forbidden;
    failure.code = "forbidden";
    failure.detail = fmt::format("no permission to use the socket '{}' of {}", socket, peer_);
    failure.hint = fmt::format("join the group that owns '{}', or run as its owner", socket);
  } else if (errno == ENOENT) {
    failure.hint = fmt::format(
        "no socket '{}'; is {} running? `muster dev` starts a small fleet, and --addr or "
        "MUSTER_ADDR names another controller",
        socket, peer_);
  }
  return failure;
}

Outcome<http::ClientResponse> ApiClient::perform(const http::ClientRequest& request) {
  Result<http::ClientResponse> response = transport_(request);
  if (!response) {
    const ErrorCode code = response.error().code;
    if (code == ErrorCode::Unavailable || code == ErrorCode::Timeout) {
      return fail(unreachable(response.error()));
    }
    return fail(std::move(response.error()));
  }
  if (response->status < 200 || response->status > 299) {
    return fail(failure_of_answer(response->status, response->body));
  }
  return std::move(*response);
}

Outcome<Json> ApiClient::get(std::string_view path, const Query& query, Duration timeout) {
  http::ClientRequest request = make_request("GET", path, query);
  request.timeout = timeout;
  MUSTER_TRY_ASSIGN(const http::ClientResponse response, perform(request));
  return read_body(response);
}

Outcome<Json> ApiClient::post(std::string_view path, const Json& body, const Headers& headers) {
  return send({.path = std::string(path), .body = &body, .headers = headers});
}

Outcome<Json> ApiClient::send(const Change& change) {
  http::ClientRequest request = make_request(change.method, change.path, change.query);
  request.headers.insert(request.headers.end(), change.headers.begin(), change.headers.end());
  if (change.body != nullptr) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = dump_json(*change.body);
  }
  request.timeout = change.timeout.is_zero() ? kPostTimeout : change.timeout;
  MUSTER_TRY_ASSIGN(const http::ClientResponse response, perform(request));
  return read_body(response);
}

Outcome<Json> ApiClient::send_once(Change change, std::string_view key, Context& context) {
  change.headers.emplace_back("Idempotency-Key", std::string(key));
  bool open = false;
  for (std::uint32_t attempt = 1;; ++attempt) {
    Outcome<Json> answer = send(change);
    open = open || (!answer && outcome_is_open(answer.error()));
    const bool again = !answer && worth_another_try(answer.error()) && attempt < kPostAttempts &&
                       !context.environment.interrupted();
    if (!answer && !again && open) {
      std::string& hint = answer.error().hint;
      if (!hint.empty()) hint += "; ";
      hint += fmt::format(
          "it may have been accepted all the same; repeat it with --idempotency-key {}, and it is "
          "done once",
          key);
    }
    if (!again) return answer;
    const Duration delay = kPostBackoff.delay(attempt);
    context.console.say(fmt::format("{}; trying again in {}\n", printable(answer.error().detail),
                                    format_duration(delay)));
    context.environment.sleep(delay);
  }
}

Outcome<http::ClientResponse> ApiClient::stream(const StreamRequest& stream) {
  http::ClientRequest request = make_request("GET", stream.path, stream.query);
  request.headers = stream.headers;
  request.timeout = stream.timeout;
  request.cancelled = stream.cancelled;
  request.on_data = stream.on_data;
  return perform(request);
}

Outcome<http::ClientResponse> ApiClient::fetch(std::string_view path, const Query& query) {
  http::ClientRequest request = make_request("GET", path, query);
  request.headers.clear();
  return perform(request);
}

Outcome<ApiClient> connect_controller(const Context& context) {
  MUSTER_TRY_ASSIGN(Endpoint endpoint,
                    controller_endpoint(context.options.addr, context.environment.env));
  return ApiClient(std::move(endpoint), "the controller");
}

std::string action_path(std::string_view ref, std::string_view below) {
  return fmt::format("/v1/actions/{}{}", percent_encode(ref), below);
}

}  // namespace muster::cli
