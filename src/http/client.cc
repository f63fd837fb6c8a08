#include "http/client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <system_error>

#include "base/ascii.h"
#include "base/check.h"

namespace muster::http {

namespace {

struct EasyCleanup {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct ListFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct UrlCleanup {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct CurlFree {
  void operator()(char* text) const { curl_free(text); }
};
using EasyHandle = std::unique_ptr<CURL, EasyCleanup>;
using HeaderList = std::unique_ptr<curl_slist, ListFree>;

EasyHandle make_handle() {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  return EasyHandle(global == CURLE_OK ? curl_easy_init() : nullptr);
}

// A handle of the calling thread, so that requests in a row share a connection. A callback that
// performs a request of its own meets the thread's handle busy and gets one for itself.
class Lease {
 public:
  Lease() {
    Slot& slot = thread_slot();
    if (slot.busy) {
      own_ = make_handle();
      handle_ = own_.get();
      return;
    }
    if (!slot.handle) slot.handle = make_handle();
    handle_ = slot.handle.get();
    slot.busy = true;
    leased_ = true;
  }
  ~Lease() {
    if (!leased_) return;
    // Keeps live connections and caches, forgets the options, which point into the caller's frame.
    if (handle_ != nullptr) curl_easy_reset(handle_);
    thread_slot().busy = false;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  CURL* get() const { return handle_; }

 private:
  struct Slot {
    EasyHandle handle;
    bool busy = false;
  };
  static Slot& thread_slot() {
    thread_local Slot slot;
    return slot;
  }

  EasyHandle own_;
  CURL* handle_ = nullptr;
  bool leased_ = false;
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.remove_suffix(1);
  return text;
}

// What the callbacks of one exchange share.
struct Exchange {
  const ClientRequest& request;
  CURL* handle;
  ClientResponse response = {};
  bool cancelled = false;
  bool ended_by_caller = false;
  bool body_too_large = false;

  bool poll_cancelled() {
    if (!cancelled && request.cancelled && request.cancelled()) cancelled = true;
    return cancelled;
  }
};

// The callbacks are noexcept because an exception must not pass through libcurl's frames.

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) noexcept {
  auto& exchange = *static_cast<Exchange*>(user);
  const std::string_view line(data, size);
  if (line.starts_with("HTTP/")) {
    // A new head: the one before was of a redirect or an interim answer.
    exchange.response.headers.clear();
    return size;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), to_lower);
  exchange.response.headers.emplace_back(std::move(name), trim(line.substr(colon + 1)));
  return size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) noexcept {
  auto& exchange = *static_cast<Exchange*>(user);
  constexpr std::size_t kAbort = 0;
  if (size == 0) return 0;
  if (exchange.poll_cancelled()) return kAbort;
  long status = 0;
  curl_easy_getinfo(exchange.handle, CURLINFO_RESPONSE_CODE, &status);
  if (exchange.request.on_data && status >= 200 && status < 300) {
    if (exchange.request.on_data(std::string_view(data, size))) return size;
    exchange.ended_by_caller = true;
    return kAbort;
  }
  std::string& body = exchange.response.body;
  if (size > exchange.request.body_max - std::min(body.size(), exchange.request.body_max)) {
    exchange.body_too_large = true;
    return kAbort;
  }
  body.append(data, size);
  return size;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
  return static_cast<Exchange*>(user)->poll_cancelled() ? 1 : 0;
}

bool is_loopback_host(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host == "::1" || host.starts_with("127.");
}

struct Endpoint {
  std::string host;
};

// Checks the URL before libcurl sees it, for a better message and to know the host.
Result<Endpoint> parse_url(const std::string& text) {
  const std::unique_ptr<CURLU, UrlCleanup> url(curl_url());
  if (!url) return fail(ErrorCode::Internal, "out of memory while parsing URL \"{}\"", text);
  const auto set = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0);
  if (set != CURLUE_OK) {
    return fail(ErrorCode::InvalidValue, "URL \"{}\" is not valid: {}", text,
                curl_url_strerror(set));
  }
  const auto part = [&url](CURLUPart which) {
    char* raw = nullptr;
    if (curl_url_get(url.get(), which, &raw, 0) != CURLUE_OK) return std::string();
    const std::unique_ptr<char, CurlFree> owned(raw);
    return std::string(raw);
  };
  const std::string scheme = part(CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") {
    return fail(ErrorCode::InvalidValue, "URL \"{}\" has scheme {}, use http or https", text,
                scheme);
  }
  return Endpoint{part(CURLUPART_HOST)};
}

bool has_header(const ClientRequest& request, std::string_view name) {
  return std::any_of(request.headers.begin(), request.headers.end(), [name](const auto& header) {
    return equals_ignoring_case(header.first, name);
  });
}

Result<HeaderList> make_headers(const ClientRequest& request) {
  HeaderList list;
  const auto add = [&list](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) return false;
    (void)list.release();
    list.reset(longer);
    return true;
  };
  bool ok = true;
  for (const auto& [name, value] : request.headers) {
    constexpr std::string_view kBreaks("\r\n\0", 3);
    if (name.empty() || name.find_first_of(kBreaks) != std::string::npos ||
        name.find(':') != std::string::npos || value.find_first_of(kBreaks) != std::string::npos) {
      return fail(ErrorCode::InvalidValue,
                  "header \"{}\" is not valid: a name or value must not hold line breaks", name);
    }
    // "Name:" would remove a header from libcurl's own; "Name;" sends it empty.
    ok = ok && add(value.empty() ? name + ";" : name + ": " + value);
  }
  // libcurl would call a body without a type a form.
  if (!has_header(request, "content-type")) ok = ok && add("Content-Type:");
  if (!ok) return fail(ErrorCode::Internal, "out of memory while setting request headers");
  return list;
}

// A request that must not happen twice. libcurl repeats a request by itself when a kept connection
// turns out dead, and cannot know whether the server acted on it before it died; a connection of
// its own rules that out. With a key the server tells the two apart.
bool needs_fresh_connection(const ClientRequest& request) {
  return (request.method == "POST" || request.method == "PATCH") &&
         !has_header(request, "idempotency-key");
}

// REQUIRES: the duration is not negative. Never rounds a set limit down to "none".
long to_milliseconds(Duration duration) {
  const std::int64_t ms = (duration.us + 999) / 1000;
  return static_cast<long>(std::min<std::int64_t>(ms, std::numeric_limits<int>::max()));
}

void set_method(CURL* handle, const ClientRequest& request) {
  const bool has_body = !request.body.empty();
  if (request.method == "HEAD") {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    return;
  }
  if (has_body || request.method == "POST" || request.method == "PUT" ||
      request.method == "PATCH") {
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.c_str());
    if (request.method == "POST") return;
  } else {
    curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
    if (request.method == "GET") return;
  }
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void set_options(Exchange& exchange, const Endpoint& endpoint, const HeaderList& headers,
                 char* error_text) {
  CURL* handle = exchange.handle;
  const ClientRequest& request = exchange.request;
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error_text);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "muster");
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  if (!request.unix_socket.empty()) {
    curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  }
  if (!request.unix_socket.empty() || is_loopback_host(endpoint.host)) {
    // A proxy of the environment cannot reach this machine's own sockets.
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
  }
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, to_milliseconds(request.timeout));
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, to_milliseconds(request.connect_timeout));
  curl_easy_setopt(handle, CURLOPT_FRESH_CONNECT, needs_fresh_connection(request) ? 1L : 0L);
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, request.follow_redirects ? 1L : 0L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &exchange);
  if (request.cancelled) {
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &on_progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &exchange);
  }
  set_method(handle, request);
}

constexpr std::string_view kNoConnection = "cannot connect to ";

std::string where(const ClientRequest& request) {
  if (request.unix_socket.empty()) return request.url;
  return fmt::format("unix socket {}", request.unix_socket);
}

// Of a unix socket; libcurl's own words name the host and port of the URL, which play no part.
std::string connect_problem(CURL* handle) {
  long error = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &error);
  if (error == 0) return "nobody answers";
  return std::generic_category().message(static_cast<int>(error));
}

Result<ClientResponse> finish(Exchange& exchange, CURLcode code, const char* error_text) {
  const ClientRequest& request = exchange.request;
  if (code == CURLE_OK || exchange.ended_by_caller) {
    long status = 0;
    curl_easy_getinfo(exchange.handle, CURLINFO_RESPONSE_CODE, &status);
    exchange.response.status = static_cast<int>(status);
    return std::move(exchange.response);
  }
  const std::string reason = error_text[0] != '\0' ? error_text : curl_easy_strerror(code);
  const std::string what = fmt::format("{} {}", request.method, where(request));
  if (exchange.cancelled) return fail(ErrorCode::Unavailable, "{}: cancelled", what);
  if (exchange.body_too_large) {
    return fail(ErrorCode::BodyTooLarge,
                "{}: the answer is too large, at most {} bytes are allowed", what,
                request.body_max);
  }
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return fail(ErrorCode::Timeout, "{}: {}", what, reason);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return fail(ErrorCode::InvalidValue, "{}: {}", what, reason);
    case CURLE_OUT_OF_MEMORY:
      return fail(ErrorCode::Internal, "{}: {}", what, reason);
    case CURLE_COULDNT_CONNECT:
      return fail(ErrorCode::Unavailable, "{}{}: {}", kNoConnection, where(request),
                  request.unix_socket.empty() ? reason : connect_problem(exchange.handle));
    default:
      return fail(ErrorCode::Unavailable, "{}: {}", what, reason);
  }
}

}  // namespace

std::string ClientResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return {};
}

bool never_connected(const Error& error) {
  return error.code == ErrorCode::Unavailable && error.message.starts_with(kNoConnection);
}

Result<ClientResponse> perform(const ClientRequest& request) {
  MUSTER_CHECK(request.timeout.us >= 0 && request.connect_timeout.us >= 0,
               "timeout {} us, connect timeout {} us", request.timeout.us,
               request.connect_timeout.us);
  // sockaddr_un holds 107 characters; libcurl would only say that it cannot connect.
  if (request.unix_socket.size() > 107) {
    return fail(ErrorCode::InvalidValue,
                "unix socket path \"{}\" is too long ({}), at most 107 characters are allowed",
                request.unix_socket, request.unix_socket.size());
  }
  MUSTER_TRY_ASSIGN(const Endpoint endpoint, parse_url(request.url));
  MUSTER_TRY_ASSIGN(const HeaderList headers, make_headers(request));
  const Lease lease;
  if (lease.get() == nullptr) return fail(ErrorCode::Internal, "libcurl could not be initialised");
  Exchange exchange{request, lease.get()};
  std::array<char, CURL_ERROR_SIZE> error_text{};
  set_options(exchange, endpoint, headers, error_text.data());
  const CURLcode code = curl_easy_perform(lease.get());
  return finish(exchange, code, error_text.data());
}

}  // namespace muster::http
