#include "http/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <random>

#include "base/ascii.h"
#include "http/percent.h"

namespace muster::http {

namespace {

bool is_ours(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kOurs = {
      "content-length", "transfer-encoding", "connection", "date", "server", "x-request-id"};
  return std::any_of(kOurs.begin(), kOurs.end(),
                     [name](std::string_view ours) { return equals_ignoring_case(name, ours); });
}

void append_value(std::string& out, std::string_view value) {
  const std::size_t start = out.size();
  out += value;
  // A value that reached this point from a client must not be able to start another header.
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
}

void append_date(std::string& out) {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  // Formatting costs more than the rest of a small head, and changes once a second.
  thread_local std::time_t cached_second = 0;
  thread_local std::string cached;
  const std::time_t now = std::time(nullptr);
  if (now != cached_second || cached.empty()) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    cached = fmt::format("Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n",
                         kDays[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                         kMonths[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900,
                         utc.tm_hour, utc.tm_min, utc.tm_sec);
    cached_second = now;
  }
  out += cached;
}

}  // namespace

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

bool has_body(int status) { return status != 204 && status != 304; }

void append_head(std::string& out, const Response& response, const HeadContext& context) {
  const auto into = std::back_inserter(out);
  fmt::format_to(into, "HTTP/1.1 {} {}\r\nServer: ", response.status,
                 reason_phrase(response.status));
  append_value(out, context.server);
  out += "\r\n";
  append_date(out);
  out += "X-Request-Id: ";
  append_value(out, context.request_id);
  out += "\r\n";
  for (const auto& [name, value] : response.headers) {
    if (is_ours(name)) continue;
    append_value(out, name);
    out += ": ";
    append_value(out, value);
    out += "\r\n";
  }
  if (context.framing == Framing::Chunked) {
    out += "Transfer-Encoding: chunked\r\n";
  } else if (context.framing == Framing::Length && has_body(response.status)) {
    fmt::format_to(into, "Content-Length: {}\r\n", response.body.size());
  }
  if (!context.keep_alive) {
    out += "Connection: close\r\n";
  } else if (context.http10) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
}

Result<Target> parse_target(std::string_view target) {
  std::string_view rest = target;
  if (rest == "*") return Target{"*", ""};
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (rest.size() < scheme.size() ||
        !equals_ignoring_case(rest.substr(0, scheme.size()), scheme)) {
      continue;
    }
    rest.remove_prefix(scheme.size());
    rest.remove_prefix(std::min(rest.find_first_of("/?"), rest.size()));
    break;
  }
  if (rest.size() != target.size() && !rest.starts_with('/')) {
    // An absolute URL may leave out an empty path.
    if (rest.empty() || rest.front() == '?') {
      return Target{"/", std::string(rest.empty() ? rest : rest.substr(1))};
    }
  }
  if (!rest.starts_with('/')) {
    return fail(ErrorCode::InvalidRequest, "request target \"{}\" does not start with '/'", target);
  }
  if (rest.find('#') != std::string_view::npos) {
    return fail(ErrorCode::InvalidRequest, "request target \"{}\" has a fragment", target);
  }
  const std::size_t question = std::min(rest.find('?'), rest.size());
  auto path = percent_decode(rest.substr(0, question), PlusIs::Plus);
  if (!path) {
    return fail(ErrorCode::InvalidRequest,
                "request target \"{}\" has a '%' that is not followed by two hex digits", target);
  }
  if (path->find('\0') != std::string::npos) {
    return fail(ErrorCode::InvalidRequest, "request target \"{}\" has an encoded zero byte",
                target);
  }
  return Target{std::move(*path), std::string(rest.substr(std::min(question + 1, rest.size())))};
}

bool is_valid_request_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::string make_request_id() {
  static const std::string prefix = fmt::format("{:08x}", std::random_device{}());
  static std::atomic<std::uint64_t> counter = 0;
  return fmt::format("{}-{}", prefix, counter.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace muster::http
