#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "controller/authorizer.h"
#include "controller/controller.h"
#include "controller/event_hub.h"
#include "controller/log_broker.h"
#include "controller/metrics.h"
#include "http/router.h"
#include "model/schema.h"
#include "store/store.h"

// The controller's REST API, as api/openapi.yaml describes it.

namespace muster::controller {

class PlanMaker;

struct ApiContext {
  Controller& controller;
  EventHub& events;
  LogBroker& logs;
  Metrics& metrics;
  Authorizer& authorizer;
  std::string version;
  std::string instance_id;
  store::Term term = 0;
  Timestamp started_at;
  std::function<Timestamp()> clock;
  PlanMaker* plans = nullptr;         // null: no plans can be made
  model::SchemaPtr schema = nullptr;  // of the model; null: there is none
  std::string temp_dir;               // where a backup is written before it is sent; must exist
  // While the store refuses writes the engine answers nobody, and a client must hear that instead
  // of hanging: how long to wait for a look at the engine's state, and for the reply to a change.
  Duration query_deadline = Duration::seconds(5);
  Duration request_deadline = Duration::seconds(60);
};

// All routes. Everything in the context must outlive the router. The router owns the threads that
// do the API's blocking work, and joins them when it is destroyed: destroy it after the HTTP
// server, the agents' link and the controller have stopped, and before the context's members.
std::unique_ptr<http::Router> make_api(ApiContext context);

// What to give to http::Server: dispatches, and counts every request, also those without a route.
// Borrows both.
http::Handler make_handler(const http::Router& router, Metrics& metrics);

// api/openapi.yaml as it was built into this program.
std::string_view openapi_yaml();

}  // namespace muster::controller
