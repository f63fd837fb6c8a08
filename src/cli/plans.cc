#include "cli/plans.h"

#include <algorithm>

#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/plan_views.h"
#include "cli/table.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr std::string_view kCleanupGroup = "CLEANUP";
constexpr Duration kPlanTimeout = Duration::minutes(10);

std::string path_of(std::uint64_t id, std::string_view below = "") {
  return fmt::format("/v1/plans/{}{}", id, below);
}

Outcome<std::uint64_t> or_newest(ApiClient& client, std::uint64_t id) {
  if (id != 0) return id;
  MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/plans"));
  const Json& plans = json_at(answer, "plans");
  if (plans.empty()) {
    return fail(Error{ErrorCode::NotFound, "there is no plan; `muster plan` makes one"});
  }
  return static_cast<std::uint64_t>(json_int(plans.front(), "id"));
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

// The id of a task by its number in the text (2.3), a part of its id, or the path of its item.
Outcome<std::string> find_task(ApiClient& client, std::uint64_t plan, const std::string& text) {
  constexpr std::size_t kShown = 5;
  MUSTER_TRY_ASSIGN(const Json tasks, all_tasks(client, plan));
  std::vector<std::string> found;
  std::int64_t phase = 0;
  int place = 0;
  for (const Json& task : tasks) {
    const std::string id = json_text(task, "id");
    const std::int64_t number = json_int(task, "phase");
    place = number == phase ? place + 1 : 1;
    phase = number;
    if (fmt::format("{}.{}", phase, place) == text) return id;
    if (json_text(task, "item") == text || id.find(text) != std::string::npos) found.push_back(id);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return fail(Error{ErrorCode::NotFound,
                      fmt::format("plan {} has no task '{}'; give its number as `muster plans show "
                                  "{}` tells it, its id, or the path of its item",
                                  plan, text, plan)});
  }
  std::string list;
  for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) list += "\n  " + found[i];
  return fail(Error{ErrorCode::Ambiguous,
                    fmt::format("'{}' fits {} tasks of plan {}:{}{}", text, found.size(), plan,
                                list, found.size() > kShown ? "\n  ..." : "")});
}

}  // namespace

Outcome<ExitCode> show_plan(Context& context, ApiClient& client, std::uint64_t id,
                            const std::string& graph) {
  MUSTER_TRY_ASSIGN(id, or_newest(client, id));
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
  const bool wide = context.options.format == Format::Wide;
  context.console.out(
      plan_text(phases, tasks, wide ? PlanDetail::WithIds : PlanDetail::Plain, context.terminal));
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
        fmt::format("nothing to do: revision {} of the model asks for nothing that has not been "
                    "done\n",
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
  MUSTER_TRY_ASSIGN(id, or_newest(client, id));
  const auto ask = [&](const std::string& known) {
    return client.get(path_of(id, fmt::format("/tasks/{}/explain", percent_encode(known))));
  };
  Outcome<Json> asked = ask(task);
  if (!asked && asked.error().http_status == 404) {
    MUSTER_TRY_ASSIGN(const std::string known, find_task(client, id, task));
    asked = ask(known);
  }
  MUSTER_TRY_ASSIGN(const Json answer, std::move(asked));
  if (wants_document(context)) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  const Json& about = json_at(answer, "task");
  const Json& phase = json_at(about, "phase");
  context.console.out(fmt::format("{}\n  {}\n", printable(json_text(about, "description")),
                                  printable(json_text(about, "item"))));
  if (phase.is_null()) {
    context.console.out(
        json_text(about, "left_out") == "node_for_removal"
            ? "is left out: the node that it would configure is to be removed\n"
            : "is left out: the same task has succeeded, and nothing has changed\n");
    return ExitCode::Ok;
  }
  context.console.out(fmt::format("is in phase {}, because\n", json_cell(phase)));
  const std::string group = json_text(json_at(answer, "phase"), "group");
  const std::string tag = json_text(about, "tag");
  // Clean-up comes last by itself.
  if (group != kCleanupGroup) {
    const std::string by = tag.empty() ? "the ruleset" : fmt::format("its tag '{}'", tag);
    context.console.out(printable(fmt::format("  {} puts it into {}", by, group)) + "\n");
  }
  for (const Json& reason : json_at(answer, "chain")) {
    context.console.out(fmt::format("  {}\n", printable(json_text(reason, "text"))));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> diff_plans(Context& context, ApiClient& client, std::uint64_t before,
                             std::uint64_t after) {
  MUSTER_TRY_ASSIGN(const Json old_tasks, all_tasks(client, before));
  MUSTER_TRY_ASSIGN(const Json new_tasks, all_tasks(client, after));
  const Json changes = plan_changes(old_tasks, new_tasks);
  if (wants_document(context)) {
    print_document(context, changes);
    return ExitCode::Ok;
  }
  const std::string text = plan_changes_text(changes, context.terminal);
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
