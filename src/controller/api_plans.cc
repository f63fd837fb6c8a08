
#include "base/field_errors.h"
#include "base/number.h"
#include "controller/api_body.h"
#include "controller/api_model.h"
#include "controller/plan_json.h"
#include "controller/plan_maker.h"

// Deployment plans: making them, looking at them, asking why a task is where it is.

namespace muster::controller {
namespace {

constexpr std::size_t kTasksLimitDefault = 1000;
constexpr std::size_t kTasksLimitMax = 5000;
constexpr std::size_t kClusterCharactersMax = 16'384;
constexpr std::size_t kClustersMax = 1000;
constexpr std::size_t kWhyMax = 2000;

Result<PlanWish> decode_wish(const http::Request& request) {
  PlanWish wish;
  wish.who = request.identity.name;
  if (request.body.empty()) return wish;
  MUSTER_TRY(check_json_body(request));
  MUSTER_TRY_ASSIGN(const Json json, parse_body(request.body));
  Problems problems;
  ObjectReader reader(json, "", problems);
  wish.why = reader.text("why", kWhyMax, true).value_or("");
  wish.locks.lock = reader.flag("lock").value_or(true);
  wish.locks.initial = reader.flag("initial_locks").value_or(false);
  if (const auto clusters = reader.texts("no_lock_clusters", kClustersMax, kClusterCharactersMax)) {
    for (std::size_t i = 0; i < clusters->size(); ++i) {
      if ((*clusters)[i].empty()) continue;
      auto path = model::Path::parse((*clusters)[i]);
      if (path) {
        wish.locks.not_in.push_back(std::move(*path));
      } else {
        problems.add(fmt::format("/no_lock_clusters/{}", i), ErrorCode::InvalidValue,
                     path.error().message);
      }
    }
  }
  reader.finish();
  if (!problems.empty()) return fail(problems.to_error());
  return wish;
}

void answer_made(const CallPtr& call, const Result<PlanMade>& made) {
  if (!made) return call->refuse(made.error());
  if (made->plan) {
    const std::uint64_t number = made->plan->number;
    return call->answer(201, {{"plan", plan_json(*made->plan)}, {"nothing_to_do", false}},
                        {{"Location", fmt::format("/v1/plans/{}", number)}});
  }
  call->answer(200, {{"plan", nullptr},
                     {"nothing_to_do", true},
                     {"model_revision", made->model_revision},
                     {"left_out", made->left_out},
                     {"notices", made->notices}});
}

void make_plan(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  PlanMaker* maker = call->api.context.plans;
  if (maker == nullptr) return call->refuse(no_model());
  MUSTER_CALL_TRY_ASSIGN(call, PlanWish wish, decode_wish(call->request));
  const auto taken = maker->make(std::move(wish),
                                 [call](const Result<PlanMade>& made) { answer_made(call, made); });
  if (!taken) call->refuse(taken.error());
}

Result<std::uint64_t> plan_number(const Call& call) {
  const std::string text = call.param("id");
  if (const auto number = whole_number<std::uint64_t>(text)) return *number;
  return fail(ErrorCode::NotFound, "there is no plan {}; plans are numbered", in_quotes(text));
}

void list_plans(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  using Plans = std::vector<core::PlanRecordPtr>;
  ask_engine<Plans>(
      call->api, [](const core::Engine& engine, Timestamp) { return engine.plans(); },
      [call](const Result<Plans>& plans) {
        if (!plans) return call->refuse(plans.error());
        Json rows = Json::array();
        for (const core::PlanRecordPtr& plan : *plans) rows.push_back(plan_json(*plan));
        call->answer(200, {{"plans", std::move(rows)}});
      });
}

// Passes the plan on to a worker, with its body.
void with_plan(const CallPtr& call,
               std::function<void(const core::PlanRecord&, const core::PlanBody&)> use) {
  MUSTER_CALL_TRY_ASSIGN(call, const std::uint64_t number, plan_number(*call));
  ask_engine<core::PlanRecordPtr>(
      call->api,
      [number](const core::Engine& engine, Timestamp) { return engine.find_plan(number); },
      [call, number, use = std::move(use)](const Result<core::PlanRecordPtr>& plan) {
        if (!plan) return call->refuse(plan.error());
        std::shared_ptr<const core::PlanBody> body;
        if (*plan) {
          MUSTER_CALL_TRY_ASSIGN(call, body, call->api.plan_bodies.read(**plan));
        }
        if (!body) {
          return call->refuse({ErrorCode::NotFound, fmt::format("there is no plan {}", number)});
        }
        use(**plan, *body);
      });
}

void show_plan(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  with_plan(call, [call](const core::PlanRecord& plan, const core::PlanBody& body) {
    Json phases = Json::array();
    for (std::size_t i = 0; i < body.plan.phases.size(); ++i) {
      phases.push_back(phase_json(body.plan, i));
    }
    call->answer(
        200,
        {{"plan", plan_json(plan)}, {"phases", std::move(phases)}, {"notices", body.plan.notices}},
        {{"ETag", fmt::format("\"{}\"", plan.revision)}});
  });
}

void list_tasks(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, const auto query,
                         http::Query::parse(call->request.query, {"limit", "marker", "phase"}));
  MUSTER_CALL_TRY_ASSIGN(call, const auto limit,
                         http::query_number(query, "limit", 1, kTasksLimitMax));
  MUSTER_CALL_TRY_ASSIGN(call, const auto marker,
                         http::query_number(query, "marker", 1, std::uint64_t{1} << 32));
  MUSTER_CALL_TRY_ASSIGN(call, const auto phase,
                         http::query_number(query, "phase", 1, std::uint64_t{1} << 32));
  with_plan(call, [=](const core::PlanRecord&, const core::PlanBody& body) {
    std::size_t first = static_cast<std::size_t>(marker.value_or(0));
    std::size_t end = body.plan.tasks.size();
    if (phase) {
      if (*phase > body.plan.phases.size()) {
        return call->refuse(
            http::query_error("phase", ErrorCode::InvalidValue,
                              fmt::format("the plan has {} phases", body.plan.phases.size())));
      }
      const plan::Phase& only = body.plan.phases[static_cast<std::size_t>(*phase) - 1];
      first = std::max<std::size_t>(first, only.first);
      end = std::size_t{only.first} + only.count;
    }
    const std::size_t stop =
        std::min(end, first + static_cast<std::size_t>(limit.value_or(kTasksLimitDefault)));
    Json rows = Json::array();
    for (std::size_t i = first; i < stop; ++i) rows.push_back(task_json(body, i));
    call->answer(200,
                 {{"tasks", std::move(rows)}, {"next_marker", stop < end ? Json(stop) : Json()}});
  });
}

void explain_task(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  with_plan(call, [call](const core::PlanRecord& plan, const core::PlanBody& body) {
    const std::string wanted = call->param("task");
    const auto task = body.plan.find(wanted);
    if (!task) {
      return call->refuse({ErrorCode::NotFound,
                           fmt::format("plan {} has no task {}", plan.number, in_quotes(wanted))});
    }
    Json answer = {{"task", task_json(body, *task)}, {"phase", nullptr}, {"chain", Json::array()}};
    if (const auto phase = body.plan.placements[*task].phase; phase != plan::kNone) {
      answer["phase"] = phase_json(body.plan, phase);
      answer["chain"] = explain_json(body.plan, *task);
    }
    call->answer(200, answer);
  });
}

void remove_plan(const CallPtr& call) {
  if (const auto query = http::Query::parse(call->request.query, {}); !query) {
    return call->refuse(query.error());
  }
  MUSTER_CALL_TRY_ASSIGN(call, const std::uint64_t number, plan_number(*call));
  MUSTER_CALL_TRY_ASSIGN(call, const auto if_revision, parse_if_match(call->request));
  core::RemovePlan request;
  request.if_revision = if_revision;
  request.who = call->request.identity.name;
  request.number = number;
  request_engine<core::PlanReply>(call->api, std::move(request),
                                  [call](const Result<core::PlanReply>& reply) {
                                    if (!reply) return call->refuse(reply.error());
                                    call->answer(200, {{"plan", plan_json(*reply->plan)}});
                                  });
}

}  // namespace

void add_plan_routes(Routes& routes) {
  routes.add("POST", "/v1/plans", Permission::Plan, make_plan);
  routes.add("GET", "/v1/plans", Permission::Read, list_plans);
  routes.add("GET", "/v1/plans/{id}", Permission::Read, show_plan);
  routes.add("DELETE", "/v1/plans/{id}", Permission::Plan, remove_plan);
  routes.add("GET", "/v1/plans/{id}/tasks", Permission::Read, list_tasks);
  routes.add("GET", "/v1/plans/{id}/tasks/{task}/explain", Permission::Read, explain_task);
}

}  // namespace muster::controller
