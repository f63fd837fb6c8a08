#include "http/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/check.h"
#include "http/problem.h"

namespace muster::http {

namespace {

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

// "{path...}", which only the last segment of a pattern can be: it stands for one or more segments.
bool is_rest(std::string_view segment) {
  return is_parameter(segment) && segment.ends_with("...}");
}

std::string name_of(std::string_view parameter) {
  return std::string(parameter.substr(1, parameter.size() - (is_rest(parameter) ? 5 : 2)));
}

// "/a/b" has the segments "a" and "b", "/" the one segment "". A trailing slash makes one more,
// empty segment, which no parameter matches.
template <typename String>
void split(std::string_view path, std::vector<String>& out) {
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    out.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return;
    path.remove_prefix(slash + 1);
  }
}

bool matches(const std::vector<std::string>& segments, std::span<const std::string_view> path) {
  const bool rest = is_rest(segments.back());
  if (rest ? path.size() < segments.size() : path.size() != segments.size()) return false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::string& segment = segments[std::min(i, segments.size() - 1)];
    if (is_parameter(segment) ? path[i].empty() : segment != path[i]) return false;
  }
  return true;
}

// Whether `a` is to be preferred to `b` for a path that both match: the first segment in which only
// one of them is a literal decides, so the order of add() does not matter.
bool more_literal(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const bool a_parameter = is_parameter(a[i]);
    if (a_parameter != is_parameter(b[i])) return !a_parameter;
  }
  return is_rest(b.back()) && !is_rest(a.back());
}

bool same_shape(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const std::string& x, const std::string& y) {
                      return x == y || (is_parameter(x) && is_parameter(y));
                    });
}

// The best entry for the method, or null. HEAD falls back to GET: the server sends no body for it.
template <typename Entries>
auto find_entry(const Entries& entries, std::string_view method,
                std::span<const std::string_view> path) -> decltype(entries.data()) {
  decltype(entries.data()) best = nullptr;
  bool best_exact = false;
  for (const auto& entry : entries) {
    const bool exact = entry.route.method == method;
    if (!exact && !(method == "HEAD" && entry.route.method == "GET")) continue;
    if (!matches(entry.segments, path)) continue;
    const bool better = best == nullptr || more_literal(entry.segments, best->segments) ||
                        (exact && !best_exact && !more_literal(best->segments, entry.segments));
    if (better) {
      best = &entry;
      best_exact = exact;
    }
  }
  return best;
}

}  // namespace

void Router::add(std::string_view method, std::string_view pattern, Handler handler) {
  MUSTER_CHECK(pattern.starts_with('/'), "route pattern \"{}\" does not start with '/'", pattern);
  Entry entry;
  entry.route = {std::string(method), std::string(pattern)};
  split(pattern, entry.segments);
  entry.handler = std::move(handler);
  for (const Entry& other : entries_) {
    MUSTER_CHECK(other.route.method != method || !same_shape(other.segments, entry.segments),
                 "route {} {} cannot be told from {}", method, pattern, other.route.pattern);
  }
  entries_.push_back(std::move(entry));
}

void Router::dispatch(Request request, std::shared_ptr<Responder> responder) const {
  std::vector<std::string_view> segments;
  segments.reserve(8);
  split(std::string_view(request.path), segments);
  const std::span<const std::string_view> path(segments);
  if (const Entry* entry = find_entry(entries_, request.method, path)) {
    for (std::size_t i = 0; i < entry->segments.size(); ++i) {
      const std::string& segment = entry->segments[i];
      if (!is_parameter(segment)) continue;
      std::string value(path[i]);
      if (is_rest(segment)) value = fmt::format("{}", fmt::join(path.subspan(i), "/"));
      request.path_params.emplace(name_of(segment), std::move(value));
    }
    entry->handler(std::move(request), std::move(responder));
    return;
  }
  std::set<std::string_view> allowed;
  for (const Entry& entry : entries_) {
    if (!matches(entry.segments, path)) continue;
    allowed.insert(entry.route.method);
    if (entry.route.method == "GET") allowed.insert("HEAD");
  }
  if (allowed.empty()) {
    responder->respond(
        problem(Error{ErrorCode::NotFound, fmt::format("there is nothing at \"{}\"", request.path)},
                request));
    return;
  }
  const std::string allow = fmt::format("{}", fmt::join(allowed, ", "));
  Response response = problem(Error{ErrorCode::MethodNotSupported,
                                    fmt::format("method {} is not supported for \"{}\", use {}",
                                                request.method, request.path, allow)},
                              request);
  response.headers.emplace_back("Allow", allow);
  responder->respond(std::move(response));
}

std::vector<Router::Route> Router::routes() const {
  std::vector<Route> out;
  out.reserve(entries_.size());
  for (const Entry& entry : entries_) out.push_back(entry.route);
  return out;
}

std::string Router::pattern_of(std::string_view method, std::string_view path) const {
  std::vector<std::string_view> segments;
  split(path, segments);
  const Entry* entry = find_entry(entries_, method, segments);
  return entry != nullptr ? entry->route.pattern : std::string();
}

}  // namespace muster::http
