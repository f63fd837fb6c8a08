#include "controller/api_state.h"

#include <charconv>

namespace muster::controller {

std::string Call::param(const std::string& name) const {
  const auto found = request.path_params.find(name);
  return found == request.path_params.end() ? std::string() : found->second;
}

std::string Call::header(const std::string& name) const {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? std::string() : found->second;
}

void Call::answer(int status, const Json& body, Headers headers) const {
  answer_text(status, dump_json(body), std::move(headers));
}

void Call::answer_text(int status, std::string body, Headers headers) const {
  http::Response response = http::json_text_response(status, std::move(body));
  for (auto& header : headers) response.headers.push_back(std::move(header));
  responder->respond(std::move(response));
}

void Call::refuse(const Error& error) const { responder->respond(http::problem(error, request)); }

void Routes::add(std::string_view method, std::string_view pattern, Permission permission,
                 void (*handler)(const CallPtr&)) {
  const std::string resource(pattern);
  router_.add(
      method, pattern,
      [api = api_, permission, resource, handler](http::Request request,
                                                  std::shared_ptr<http::Responder> responder) {
        const auto call =
            std::make_shared<const Call>(Call{*api, std::move(request), std::move(responder)});
        const auto& params = call->request.path_params;
        const Result<void> allowed = api->context.authorizer.authorize(
            call->request.identity, permission, params.empty() ? resource : params.begin()->second);
        if (allowed) {
          handler(call);
        } else {
          call->refuse(allowed.error());
        }
      });
}

void engine_stats(ApiState& api, std::function<void(core::EngineStats, Timestamp)> done) {
  ask_engine<core::EngineStats>(
      api, [](const core::Engine& engine, Timestamp) { return engine.stats(); },
      [&api, done = std::move(done)](const Result<core::EngineStats>& fresh) {
        core::EngineStats stats;
        Timestamp at;
        {
          const std::lock_guard lock(api.stats_mutex);
          if (fresh) {
            api.stats = *fresh;
            api.stats_at = api.context.clock();
          }
          stats = api.stats;
          at = api.stats_at;
        }
        done(std::move(stats), at);
      });
}

Result<void> check_json_body(const http::Request& request) {
  const auto found = request.headers.find("content-type");
  const std::string type = found == request.headers.end() ? std::string() : found->second;
  std::string media(type.substr(0, type.find(';')));
  while (!media.empty() && media.back() == ' ') media.pop_back();
  for (char& c : media) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (media == "application/json") return {};
  return fail(ErrorCode::UnsupportedMediaType,
              "the Content-Type is '{}', it must be application/json", type.substr(0, 100));
}

Result<std::optional<std::uint64_t>> parse_if_match(const http::Request& request) {
  const auto found = request.headers.find("if-match");
  if (found == request.headers.end() || found->second == "*") return std::nullopt;
  const std::string& text = found->second;
  std::uint64_t revision = 0;
  const char* first = text.data() + 1;
  const char* last = text.data() + text.size() - 1;
  const bool is_quoted = text.size() > 2 && text.front() == '"' && text.back() == '"';
  if (is_quoted) {
    const auto [end, problem] = std::from_chars(first, last, revision);
    if (problem == std::errc() && end == last) return revision;
  }
  return fail(ErrorCode::InvalidValue,
              "the header If-Match is '{}', it must be an ETag as the action has it, like \"3\"",
              text.substr(0, 64));
}

Error query_error(std::string_view key, ErrorCode code, std::string detail) {
  return Error{code, detail, {{fmt::format("?{}", key), code, detail}}};
}

Result<std::optional<std::uint64_t>> query_number(const http::Query& query, std::string_view key,
                                                  std::uint64_t min, std::uint64_t max) {
  if (!query.has(key)) return std::nullopt;
  const std::string text = query.get(key);
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < min || number > max) {
    return fail(query_error(key, ErrorCode::InvalidValue,
                            fmt::format("{} is '{}', it must be a whole number between {} and {}",
                                        key, text.substr(0, 64), min, max)));
  }
  return number;
}

Result<bool> query_flag(const http::Query& query, std::string_view key) {
  if (!query.has(key)) return false;
  const std::string text = query.get(key);
  if (text == "true" || text == "1" || text.empty()) return true;
  if (text == "false" || text == "0") return false;
  return fail(
      query_error(key, ErrorCode::InvalidValue,
                  fmt::format("{} is '{}', it must be true or false", key, text.substr(0, 64))));
}

}  // namespace muster::controller
