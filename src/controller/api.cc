#include "controller/api.h"

#include <chrono>

#include "base/check.h"
#include "controller/api_openapi.h"
#include "controller/api_state.h"

namespace muster::controller {
namespace {

// Counts an answer when its head goes out; for a stream that is when it starts, since how long one
// stays says nothing about the server.
class MeteredResponder final : public http::Responder {
 public:
  MeteredResponder(std::shared_ptr<http::Responder> inner, Metrics& metrics, std::string route,
                   std::string method)
      : inner_(std::move(inner)),
        metrics_(metrics),
        route_(std::move(route)),
        method_(std::move(method)) {}

  void respond(http::Response response) override {
    count(response.status);
    inner_->respond(std::move(response));
  }
  std::shared_ptr<http::Stream> stream(http::Response head) override {
    count(head.status);
    return inner_->stream(std::move(head));
  }

 private:
  void count(int status) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started_;
    metrics_.on_http(route_, method_, status, taken.count());
  }

  const std::shared_ptr<http::Responder> inner_;
  Metrics& metrics_;
  const std::string route_;
  const std::string method_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<http::Router> make_api(ApiContext context) {
  auto api = std::make_shared<ApiState>(std::move(context));
  const Result<Json> contract = yaml_to_json(openapi_yaml());
  MUSTER_CHECK(contract.has_value(), "api/openapi.yaml: {}", contract.error().message);
  api->openapi = dump_json(*contract);
  auto router = std::make_unique<http::Router>();
  Routes routes(*router, std::move(api));
  add_action_routes(routes);
  add_action_change_routes(routes);
  add_log_routes(routes);
  add_agent_routes(routes);
  add_event_routes(routes);
  add_system_routes(routes);
  add_model_routes(routes);
  add_revision_routes(routes);
  add_type_routes(routes);
  add_plan_routes(routes);
  return router;
}

http::Handler make_handler(const http::Router& router, Metrics& metrics) {
  return [&router, &metrics](http::Request request, std::shared_ptr<http::Responder> responder) {
    std::string route = router.pattern_of(request.method, request.path);
    auto metered = std::make_shared<MeteredResponder>(std::move(responder), metrics,
                                                      std::move(route), request.method);
    router.dispatch(std::move(request), std::move(metered));
  };
}

}  // namespace muster::controller
