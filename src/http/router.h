#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "http/server.h"

// Routes, problem documents and query strings: what every API of Muster has in common.

namespace muster::http {

// Matches method and path ("/v1/actions/{id}/signals"); "{path...}" at the end of a pattern takes
// all segments that are left, at least one. An unknown path is a 404 problem, a known
// one with another method a 405 with Allow. Where several patterns match, literal segments win over
// parameters, whatever the order of add(). HEAD is answered by GET's handler unless it has its own.
// Not thread-safe while routes are added, then freely shared.
class Router {
 public:
  void add(std::string_view method, std::string_view pattern, Handler handler);
  void dispatch(Request request, std::shared_ptr<Responder> responder) const;

  struct Route {
    std::string method;
    std::string pattern;
  };
  std::vector<Route> routes() const;
  // The pattern that a path matches, for metrics; empty: none.
  std::string pattern_of(std::string_view method, std::string_view path) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string> segments;
    Handler handler;
  };
  std::vector<Entry> entries_;
};

// RFC 9457. `type` is "urn:muster:problem:<code>".
int http_status(ErrorCode code);
Response problem(const Error& error, const Request& request);
Response json_response(int status, const Json& body);
Response json_text_response(int status, std::string text);  // JSON already

// A query string as repeated keys. Percent-decoding errors and unknown keys are reported, all at
// once.
class Query {
 public:
  static Result<Query> parse(std::string_view raw, const std::vector<std::string>& known_keys);
  // What can be read; the rest is added to `errors`, for a caller that looks for more of them.
  static Query parse(std::string_view raw, const std::vector<std::string>& known_keys,
                     std::vector<FieldError>& errors);

  bool has(std::string_view key) const;
  std::string get(std::string_view key) const;               // first value; empty: none
  std::vector<std::string> all(std::string_view key) const;  // every value

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
};

}  // namespace muster::http
