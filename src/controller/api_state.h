#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "controller/api.h"
#include "controller/api_backup.h"
#include "controller/api_health.h"
#include "controller/api_plan_bodies.h"
#include "controller/api_timers.h"
#include "controller/api_workers.h"
#include "http/request_checks.h"
#include "http/router.h"

// What the handlers of all routes share, and the small vocabulary that they are written in.
// Internal to the API.

namespace muster::controller {

struct ApiState {
  explicit ApiState(ApiContext context_in)
      : context(std::move(context_in)),
        readiness(context.controller),
        backups(context.controller.store(), context.temp_dir) {}

  // The log broker goes first, because it calls back into the workers.
  ~ApiState() {
    context.logs.stop();
    timers.stop();
    workers.stop();
  }

  store::Store& store() { return context.controller.store(); }

  const ApiContext context;
  std::string openapi;  // JSON text
  std::mutex stats_mutex;
  core::EngineStats stats;  // protected by stats_mutex; the last that the engine told
  Timestamp stats_at;       // protected by stats_mutex
  Readiness readiness;
  BackupSender backups;
  ApiWorkers workers{4};
  ApiTimers timers;
  PlanBodies plan_bodies{context.controller.store(), timers};
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// One request on its way to its answer. Shared by the threads that take part, one after the other.
struct Call {
  ApiState& api;
  http::Request request;
  std::shared_ptr<http::Responder> responder;

  std::string param(const std::string& name) const;   // of the path
  std::string header(const std::string& name) const;  // empty: not there
  void answer(int status, const Json& body, Headers headers = {}) const;
  // With JSON that is text already.
  void answer_text(int status, std::string body, Headers headers = {}) const;
  void refuse(const Error& error) const;
};
using CallPtr = std::shared_ptr<const Call>;

// Passes on the value of a Result, or refuses the call and returns.
#define MUSTER_CALL_TRY_ASSIGN(call, declaration, expression) \
  MUSTER_CALL_TRY_ASSIGN_INNER(MUSTER_CONCAT(muster_call_, __LINE__), call, declaration, expression)
#define MUSTER_CALL_TRY_ASSIGN_INNER(temporary, call, declaration, expression) \
  auto temporary = (expression);                                               \
  if (!temporary) {                                                            \
    (call)->refuse(temporary.error());                                         \
    return;                                                                    \
  }                                                                            \
  declaration = std::move(*temporary)

// Adds routes whose handlers are asked about by the authorizer first.
class Routes {
 public:
  Routes(http::Router& router, std::shared_ptr<ApiState> api)
      : router_(router), api_(std::move(api)) {}

  void add(std::string_view method, std::string_view pattern, Permission permission,
           void (*handler)(const CallPtr&));

 private:
  http::Router& router_;
  std::shared_ptr<ApiState> api_;
};

void add_action_routes(Routes& routes);
void add_action_change_routes(Routes& routes);
void add_log_routes(Routes& routes);
void add_agent_routes(Routes& routes);
void add_event_routes(Routes& routes);
void add_system_routes(Routes& routes);
void add_model_routes(Routes& routes);
void add_revision_routes(Routes& routes);
void add_type_routes(Routes& routes);
void add_plan_routes(Routes& routes);

// A callback that may be called by whoever comes first, the answer or the deadline, and does its
// work once.
template <typename T>
class Once {
 public:
  explicit Once(std::function<void(Result<T>)> done) : done_(std::move(done)) {}
  void operator()(Result<T> result) {
    if (!called_.exchange(true)) done_(std::move(result));
  }

 private:
  std::atomic<bool> called_ = false;
  std::function<void(Result<T>)> done_;
};

// Reads the engine's committed state. `done` runs on a worker: with what `read` answered, or, after
// the deadline, with StoreUnavailable.
template <typename T>
void ask_engine(ApiState& api, std::function<T(const core::Engine&, Timestamp)> read,
                std::function<void(Result<T>)> done) {
  auto once = std::make_shared<Once<T>>(std::move(done));
  const auto timer = api.timers.after(api.context.query_deadline, [&api, once] {
    api.workers.post([&api, once] { (*once)(fail(engine_silent(api.context.controller))); });
  });
  api.context.controller.query(
      [&api, once, timer, read = std::move(read)](const core::Engine& engine, Timestamp now) {
        auto value = std::make_shared<T>(read(engine, now));
        api.timers.cancel(timer);
        api.workers.post([once, value] { (*once)(std::move(*value)); });
      });
}

// Sends a request to the engine. `done` runs on a worker: with the body of the reply, or, after
// the deadline, with Timeout; an Error in the reply is the Result's.
template <typename Body>
void request_engine(ApiState& api, Controller::Request request,
                    std::function<void(Result<Body>)> done) {
  auto once = std::make_shared<Once<Body>>(std::move(done));
  const auto timer = api.timers.after(api.context.request_deadline, [&api, once] {
    api.workers.post([once] { (*once)(fail(outcome_unknown())); });
  });
  api.context.controller.request(std::move(request), [&api, once, timer](const core::Reply& reply) {
    api.timers.cancel(timer);
    api.workers.post([once, body = reply.body] {
      if (const auto* error = std::get_if<Error>(&body)) {
        (*once)(fail(*error));
      } else if (const auto* value = std::get_if<Body>(&body)) {
        (*once)(*value);
      } else {
        (*once)(fail(ErrorCode::Internal, "the engine's reply is not of the expected kind"));
      }
    });
  });
}

// Fresh figures of the engine, or the last known ones with the time they were taken. On a worker.
void engine_stats(ApiState& api, std::function<void(core::EngineStats, Timestamp)> done);

}  // namespace muster::controller
