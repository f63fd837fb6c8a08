#include "base/number.h"
#include "cli/commands.h"
#include "cli/plans.h"

namespace muster::cli {
namespace {

void add_graph(CLI::App& app, std::string& graph) {
  app.add_option("--graph", graph, "Draw the phases instead")
      ->type_name("dot|svg")
      ->check(CLI::IsMember({"dot", "svg"}).description(""));
}

void add_create_plan(CLI::App& app, Context& context) {
  auto options = std::make_shared<PlanOptions>();
  app.add_option("--why", options->why, "The reason, kept with the plan")->type_name("TEXT");
  app.add_flag("--no-lock", options->no_lock, "Take no node out of service meanwhile");
  add_repeated(app, "--no-lock-cluster", options->no_lock_clusters,
               "Take no node of this cluster out of service; may be repeated")
      ->type_name("PATH");
  app.add_flag("--initial-locks", options->initial_locks,
               "Also lock nodes that were never applied");
  app.add_flag("--detailed-exitcode", options->detailed_exitcode,
               "End with 2 if there is something to do");
  add_graph(app, options->graph);
  on_controller(&app, context, [&context, options](ApiClient& client) {
    return create_plan(context, client, *options);
  });
}

CLI::Option* add_id(CLI::App& app, std::uint64_t& id) {
  return add_serial_number(app, "id", id, "Number of the plan")->type_name("PLAN");
}

void add_looks(CLI::App& plans, Context& context) {
  CLI::App* list = add_command(plans, "list", "List the plans", "  muster plans list\n");
  on_controller(list, context,
                [&context](ApiClient& client) { return list_plans(context, client); });

  CLI::App* show = add_command(plans, "show", "Show a plan",
                               "  muster plans show\n"
                               "  muster plans show 3\n"
                               "  muster plans show 3 --graph svg > plan.svg\n");
  auto shown = std::make_shared<std::uint64_t>(0);
  auto graph = std::make_shared<std::string>();
  add_serial_number(*show, "id", *shown, "Number of the plan; the newest if not given")
      ->type_name("PLAN")
      ->required(false);
  add_graph(*show, *graph);
  on_controller(show, context, [&context, shown, graph](ApiClient& client) {
    return show_plan(context, client, *shown, *graph);
  });

  CLI::App* explain = add_command(
      plans, "explain", "Tell why a task is in its phase",
      "  muster plans explain 2.1\n"
      "  muster plans explain 3 /deployments/d1/clusters/db/nodes/n1/items/nginx\n"
      "  muster plans explain 3 config:deployments,d1,clusters,db,nodes,n1:package:nginx\n");
  auto words = std::make_shared<std::vector<std::string>>();
  explain
      ->add_option("task", *words,
                   "Its number in the plan, its id (-o wide) or a part of it, or its item; before "
                   "it the number of the plan, if not the newest")
      ->required()
      ->expected(1, 2)
      ->type_name("[PLAN] TASK");
  on_controller(explain, context, [&context, words](ApiClient& client) -> Outcome<ExitCode> {
    std::uint64_t plan = 0;
    if (words->size() == 2) {
      const auto number = whole_number<std::uint64_t>(words->front());
      if (!number) {
        return fail(
            Error{ErrorCode::NotFound,
                  fmt::format("there is no plan '{}'; plans are numbered", words->front())});
      }
      plan = *number;
    }
    return explain_task(context, client, plan, words->back());
  });

  CLI::App* diff = add_command(plans, "diff", "Show what differs between two plans",
                               "  muster plans diff 3 4\n");
  auto before = std::make_shared<std::uint64_t>(0);
  auto after = std::make_shared<std::uint64_t>(0);
  add_serial_number(*diff, "before", *before, "A plan")->type_name("A");
  add_serial_number(*diff, "after", *after, "Another one")->type_name("B");
  on_controller(diff, context, [&context, before, after](ApiClient& client) {
    return diff_plans(context, client, *before, *after);
  });
}

}  // namespace

void add_plan_commands(CLI::App& root, Context& context) {
  CLI::App* plan = add_command(root, "plan", "Work out what must change, and show it",
                               "  muster plan\n"
                               "  muster plan --detailed-exitcode -o json\n");
  add_create_plan(*plan, context);

  CLI::App* plans = add_command(root, "plans", "Make plans and look at them",
                                "  muster plans list\n  muster plans show 3\n");
  plans->require_subcommand(1);
  add_create_plan(*add_command(*plans, "create", "Work out what must change, and show it",
                               "  muster plans create --why 'security update'\n"),
                  context);
  add_looks(*plans, context);
  CLI::App* remove = add_command(*plans, "remove", "Remove a plan", "  muster plans remove 3\n");
  auto removed = std::make_shared<std::uint64_t>(0);
  add_id(*remove, *removed);
  on_controller(remove, context, [&context, removed](ApiClient& client) {
    return remove_plan(context, client, *removed);
  });
}

}  // namespace muster::cli
