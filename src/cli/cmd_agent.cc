#include "cli/agent_local.h"
#include "cli/agent_process.h"
#include "cli/commands.h"
#include "cli/interrupt.h"

namespace muster::cli {
namespace {

constexpr const char* kLocalRef = "UUID, name, or the first digits of an id";

using AgentCommand = std::function<Outcome<ExitCode>(ApiClient&)>;

void on_agent(CLI::App* app, Context& context, const std::shared_ptr<AgentFlags>& flags,
              AgentCommand run) {
  app->footer(
      "\nThe agent: --state-dir DIR (default /var/lib/muster-agent) or --socket PATH "
      "(default STATE_DIR/agent.sock)\n" +
      app->get_footer());
  on_run(app, context, [flags, run = std::move(run)]() -> Outcome<ExitCode> {
    ignore_broken_pipes();
    MUSTER_TRY_ASSIGN(ApiClient client, connect_agent({flags->socket, flags->state_dir}));
    return run(client);
  });
}

void add_schedule(CLI::App& actions, Context& context, const std::shared_ptr<AgentFlags>& flags) {
  CLI::App* app =
      add_command(actions, "schedule", "Schedule an action on this agent, without the controller",
                  "  muster agent actions schedule exec -- /usr/bin/uptime\n"
                  "  muster agent actions schedule facts --name look\n");
  auto options = std::make_shared<ScheduleOptions>();
  app->add_option("kind", options->kind, "What to do")->required()->type_name("KIND");
  app->add_option("--id", options->id, "The id, instead of a new one")->type_name("UUID");
  app->add_option("--name", options->name, "A name for people")->type_name("NAME");
  add_repeated(*app, "--input", options->inputs,
               "One input; the value is JSON if it parses, else text; dots in the key nest")
      ->type_name("KEY=VALUE");
  app->add_option("--inputs", options->inputs_json, "All inputs as a JSON object")
      ->type_name("JSON|@FILE|-");
  app->add_option("--timeout", options->timeout, "Of the execution")->type_name("DURATION");
  take_trailing(app, context);
  on_agent(app, context, flags, [&context, options](ApiClient& client) {
    return agent_schedule(context, client, *options);
  });
}

void add_local_logs(CLI::App& actions, Context& context, const std::shared_ptr<AgentFlags>& flags) {
  CLI::App* app = add_command(actions, "logs", "Print what an action has printed",
                              "  muster agent actions logs -f 3f2a\n");
  auto options = std::make_shared<LogOptions>();
  app->add_option("ref", options->ref, kLocalRef)->required()->type_name("REF");
  app->add_flag("-f,--follow", options->follow, "Go on as more is printed, until the action ends");
  app->add_option("--offset", options->offset, "Start at this byte")->type_name("N");
  on_agent(app, context, flags, [&context, options](ApiClient& client) -> Outcome<ExitCode> {
    MUSTER_TRY_ASSIGN(options->ref, resolve_local(client, options->ref));
    return print_logs(context, client, *options);
  });
}

void add_local_actions(CLI::App& agent, Context& context,
                       const std::shared_ptr<AgentFlags>& flags) {
  CLI::App* actions = add_command(agent, "actions", "The actions of the agent on this host",
                                  "  muster agent actions list\n");
  actions->alias("action");
  actions->require_subcommand(1);
  add_schedule(*actions, context, flags);

  CLI::App* list = add_command(*actions, "list", "List its queue and what has ended",
                               "  muster agent actions list --state queue\n");
  auto listed = std::make_shared<AgentListOptions>();
  list->add_option("--state", listed->state, "Only what waits or runs, or only what has ended")
      ->type_name("all|queue|finished")
      ->check(CLI::IsMember({"all", "queue", "finished"}).description(""));
  list->add_option("--limit", listed->limit, "At most this many (default: all)")->type_name("N");
  on_agent(list, context, flags,
           [&context, listed](ApiClient& client) { return agent_list(context, client, *listed); });

  CLI::App* show = add_command(*actions, "show", "Show one of its actions",
                               "  muster agent actions show 3f2a\n");
  auto shown = std::make_shared<std::string>();
  show->add_option("ref", *shown, kLocalRef)->required()->type_name("REF");
  on_agent(show, context, flags, [&context, shown](ApiClient& client) -> Outcome<ExitCode> {
    MUSTER_TRY_ASSIGN(const std::string id, resolve_local(client, *shown));
    return show_action(context, client, id);
  });

  CLI::App* cancel = add_command(*actions, "cancel", "Cancel one of its actions",
                                 "  muster agent actions cancel 3f2a --reason stuck\n");
  auto cancelled = std::make_shared<std::string>();
  auto reason = std::make_shared<std::string>();
  cancel->add_option("ref", *cancelled, kLocalRef)->required()->type_name("REF");
  cancel->add_option("--reason", *reason, "Why; kept in the record")->type_name("TEXT");
  on_agent(cancel, context, flags,
           [&context, cancelled, reason](ApiClient& client) -> Outcome<ExitCode> {
             MUSTER_TRY_ASSIGN(const std::string id, resolve_local(client, *cancelled));
             return agent_cancel(context, client, id, *reason);
           });
  add_local_logs(*actions, context, flags);
}

}  // namespace

void add_agent_commands(CLI::App& root, Context& context) {
  CLI::App* agent =
      add_command(root, "agent", "Run an agent, or talk to the one on this host",
                  "  muster agent --name db1 --controller 127.0.0.1:8441 --label role=db\n"
                  "  muster agent actions list\n"
                  "  muster agent info --state-dir /var/lib/muster-agent\n");
  agent->require_subcommand(0, 1);
  auto flags = std::make_shared<AgentFlags>();
  agent->add_option("--name", flags->name, "Its name (default: the host's)")->type_name("NAME");
  agent
      ->add_option("--state-dir", flags->state_dir,
                   "Where its journal lives (default /var/lib/muster-agent)")
      ->type_name("DIR");
  add_repeated(*agent, "--controller", flags->controllers,
               "Address of a controller's agent port; several are tried in turn")
      ->type_name("ADDR");
  add_repeated(*agent, "--label", flags->labels, "A label")->type_name("KEY=VALUE");
  agent
      ->add_option("--socket", flags->socket,
                   "Unix socket of the local API (default STATE_DIR/agent.sock)")
      ->type_name("PATH");
  agent->add_option("--socket-mode", flags->socket_mode, "Its permissions (default 0600)")
      ->type_name("OCTAL");
  agent->add_option("--listen", flags->listen, "TCP address of the local API (default: none)")
      ->type_name("ADDR");
  agent->add_flag("--insecure", flags->insecure,
                  "Allow addresses other than loopback, without encryption or authentication");
  agent->add_option("--log-level", flags->log_level, "Least level that is logged (default info)")
      ->type_name("trace|debug|info|warn|error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error"}).description(""));
  agent->add_option("--log-format", flags->log_format, "How lines look (default text)")
      ->type_name("text|json")
      ->check(CLI::IsMember({"text", "json"}).description(""));
  hide(agent->add_option("--parent-pid", flags->parent, "Ends with this process"));
  on_run(agent, context, [flags] { return run_agent_process(*flags); });
  add_local_actions(*agent, context, flags);
  CLI::App* info =
      add_command(*agent, "info", "Show what the agent says of itself", "  muster agent info\n");
  on_agent(info, context, flags,
           [&context](ApiClient& client) { return agent_info(context, client); });
}

}  // namespace muster::cli
