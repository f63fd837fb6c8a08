#include "controller/api_state.h"

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

}  // namespace muster::controller
