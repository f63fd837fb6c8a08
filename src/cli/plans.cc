#include "cli/plans.h"

#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/plan_views.h"
#include "cli/table.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr Duration kPlanTimeout = Duration::minutes(10);

bool wants_document(const Context& context) {
  return context.options.format == Format::Json || context.options.format == Format::Yaml;
}

std::string path_of(std::uint64_t id, std::string_view below = "") {
  return fmt::format("/v1/plans/{}{}", id, below);
}

Outcome<Json> all_tasks(ApiClient& client, std::uint64_t id) {
  Json tasks = Json::array();
  Query query = {{"limit", "5000"}};
  while (true) {
    MUSTER_TRY_ASSIGN(Json answer, client.get(path_of(id, "/tasks"), query));
    for (Json& task : answer["tasks"]) tasks.push_back(std::move(task));
    const std::string marker = json_cell(json_at(answer, "next_marker"));
    if (marker.empty()) return tasks;
    query = {{"limit", "5000"}, {"marker", marker}};
  }
}

}  // namespace

Outcome<ExitCode> show_plan(Context& context, ApiClient& client, std::uint64_t id,
                            const std::string& graph) {
  MUSTER_TRY_ASSIGN(Json answer, client.get(path_of(id)));
  const Json& phases = json_at(answer, "phases");
  if (!graph.empty()) {
    context.console.out(graph == "svg" ? plan_svg(phases) : plan_dot(phases));
    return ExitCode::Ok;
  }
  if (context.options.format == Format::Name) {
    context.console.out(fmt::format("{}\n", id));
    return ExitCode::Ok;
  }
  MUSTER_TRY_ASSIGN(Json tasks, all_tasks(client, id));
  if (wants_document(context)) {
    answer["tasks"] = std::move(tasks);
    print_document(context, answer);
    return ExitCode::Ok;
  }
  context.console.out(plan_summary(json_at(answer, "plan"), context.terminal));
  context.console.out(plan_text(phases, tasks, context.terminal));
  for (const Json& notice : json_at(answer, "notices")) {
    context.console.say(fmt::format("note: {}\n", printable(json_cell(notice))));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> create_plan(Context& context, ApiClient& client, const PlanOptions& options) {
  Json body = {{"lock", !options.no_lock}, {"initial_locks", options.initial_locks}};
  if (!options.why.empty()) body["why"] = options.why;
  if (!options.no_lock_clusters.empty()) body["no_lock_clusters"] = options.no_lock_clusters;
  MUSTER_TRY_ASSIGN(const Json answer,
                    client.send({.path = "/v1/plans", .body = &body, .timeout = kPlanTimeout}));
  if (json_bool(answer, "nothing_to_do")) {
    if (wants_document(context)) print_document(context, answer);
    context.console.say(
        fmt::format("nothing to do: the hosts are what revision {} of the model "
                    "says\n",
                    json_int(answer, "model_revision")));
    return ExitCode::Ok;
  }
  const auto id = static_cast<std::uint64_t>(json_int(json_at(answer, "plan"), "id"));
  MUSTER_TRY_ASSIGN(const ExitCode shown, show_plan(context, client, id, options.graph));
  return options.detailed_exitcode ? ExitCode::Changes : shown;
}

Outcome<ExitCode> list_plans(Context& context, ApiClient& client) {
  MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/plans"));
  const Json& plans = json_at(answer, "plans");
  if (wants_document(context)) {
    print_document(context, answer);
  } else if (context.options.format == Format::Name) {
    for (const Json& plan : plans) context.console.out(json_cell(json_at(plan, "id")) + "\n");
  } else if (plans.empty()) {
    context.console.say("there is no plan; `muster plan` makes one\n");
  } else {
    Table table({{.title = "PLAN"},
                 {.title = "STATE"},
                 {.title = "AGE"},
                 {.title = "WHO", .shrinks = true},
                 {.title = "MODEL"},
                 {.title = "ADD"},
                 {.title = "CHANGE"},
                 {.title = "REMOVE"},
                 {.title = "TASKS"},
                 {.title = "PHASES"},
                 {.title = "REASON", .shrinks = true, .width_min = 10, .if_any = true}});
    for (const Json& plan : plans) {
      const Json& summary = json_at(plan, "summary");
      table.add_row({{json_cell(json_at(plan, "id"))},
                     {json_text(plan, "state")},
                     {json_age(plan, "created_at", context.environment.now())},
                     {json_text(plan, "who")},
                     {json_cell(json_at(plan, "model_revision"))},
                     {json_cell(json_at(summary, "add"))},
                     {json_cell(json_at(summary, "change"))},
                     {json_cell(json_at(summary, "remove"))},
                     {json_cell(json_at(summary, "tasks"))},
                     {json_cell(json_at(summary, "phases"))},
                     {json_text(plan, "state_reason")}});
    }
    context.console.out(table.render(table_options(context)));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> explain_task(Context& context, ApiClient& client, std::uint64_t id,
                               const std::string& task) {
  MUSTER_TRY_ASSIGN(
      const Json answer,
      client.get(path_of(id, fmt::format("/tasks/{}/explain", percent_encode(task)))));
  if (wants_document(context)) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  const Json& about = json_at(answer, "task");
  const Json& phase = json_at(about, "phase");
  context.console.out(fmt::format("{}\n  {}\n", printable(json_text(about, "description")),
                                  printable(json_text(about, "item"))));
  if (phase.is_null()) {
    context.console.out("is left out: the same task has succeeded, and nothing has changed\n");
    return ExitCode::Ok;
  }
  context.console.out(fmt::format("is in phase {}, because\n", json_cell(phase)));
  for (const Json& reason : json_at(answer, "chain")) {
    context.console.out(fmt::format("  {}\n", printable(json_text(reason, "text"))));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> diff_plans(Context& context, ApiClient& client, std::uint64_t before,
                             std::uint64_t after) {
  MUSTER_TRY_ASSIGN(const Json old_tasks, all_tasks(client, before));
  MUSTER_TRY_ASSIGN(const Json new_tasks, all_tasks(client, after));
  const std::string text = plan_diff(old_tasks, new_tasks, context.terminal);
  context.console.out(text);
  if (text.empty()) context.console.say("both plans have the same tasks in the same phases\n");
  return ExitCode::Ok;
}

Outcome<ExitCode> remove_plan(Context& context, ApiClient& client, std::uint64_t id) {
  MUSTER_TRY_ASSIGN(const Json answer, client.send({.method = "DELETE", .path = path_of(id)}));
  if (wants_document(context)) {
    print_document(context, answer);
  } else {
    context.console.say(fmt::format("plan {} is removed\n", id));
  }
  return ExitCode::Ok;
}

}  // namespace muster::cli
