#include "cli/actions.h"
#include "cli/commands.h"
#include "cli/wait.h"

namespace muster::cli {
namespace {

void add_list(CLI::App& actions, Context& context) {
  CLI::App* app = add_command(actions, "list", "List actions, newest first",
                              "  muster actions list --status RUNNING --status WAITING\n"
                              "  muster actions list --target db1 --sort status,created_at:desc\n"
                              "  muster actions list -o json --all-pages | jq .actions[].id\n");
  auto options = std::make_shared<ListOptions>();
  add_repeated(*app, "--status", options->status, "Only with this status")->type_name("STATUS");
  add_repeated(*app, "--target", options->target, "Only on this agent")->type_name("AGENT");
  add_repeated(*app, "--name", options->name, "Only with this name")->type_name("NAME");
  add_repeated(*app, "--kind", options->kind, "Only of this kind")->type_name("KIND");
  app->add_option("--limit", options->limit, "Rows of a page, 1 to 500 (default 50)")
      ->type_name("N")
      ->check(CLI::Range(1, 500).description(""));
  app->add_option("--sort", options->sort,
                  "Keys with directions: name, target, action, status, created_at, updated_at, "
                  "stop_time (default created_at:desc)")
      ->type_name("KEY[:asc|:desc],...");
  app->add_option("--marker", options->marker, "Start after this action")->type_name("ID");
  app->add_flag("--all-pages", options->all_pages, "All pages, one request each");
  on_controller(app, context, [&context, options](ApiClient& client) {
    return list_actions(context, client, *options);
  });
}

void add_show_action(CLI::App& actions, Context& context) {
  CLI::App* app = add_command(actions, "show", "Show everything about one action",
                              "  muster actions show nightly-backup\n"
                              "  muster actions show 3f2a -o yaml\n");
  auto ref = std::make_shared<std::string>();
  app->add_option("ref", *ref, "UUID, name, or the first digits of an id")
      ->required()
      ->type_name("REF");
  on_controller(app, context,
                [&context, ref](ApiClient& client) { return show_action(context, client, *ref); });
}

void add_signal_options(CLI::App& app, SignalOptions& options) {
  app.add_option("--reason", options.reason, "Why; kept in the record")->type_name("TEXT");
  app.add_option("--if-match", options.if_match, "Only if the action still has this revision")
      ->type_name("REVISION");
}

void add_signal(CLI::App& actions, Context& context) {
  CLI::App* app = add_command(actions, "signal", "Send CANCEL, SUSPEND or RESUME to an action",
                              "  muster actions signal 3f2a SUSPEND --reason 'disk is filling up'\n"
                              "  muster actions signal 3f2a CANCEL --force\n");
  auto options = std::make_shared<SignalOptions>();
  app->add_option("ref", options->ref, "The action")->required()->type_name("REF");
  app->add_option("signal", options->signal, "The signal")
      ->required()
      ->type_name("CANCEL|SUSPEND|RESUME");
  add_signal_options(*app, *options);
  app->add_flag("--force", options->force,
                "Cancel in the record at once, also when the agent cannot be asked");
  on_controller(app, context, [&context, options](ApiClient& client) {
    return signal_action(context, client, *options);
  });
}

void add_signal_shortcut(CLI::App& actions, Context& context, const std::string& verb,
                         const std::string& signal, const std::string& description) {
  CLI::App* app = add_command(actions, verb, description,
                              "  muster actions " + verb + " nightly-backup --reason 'asked to'\n");
  auto options = std::make_shared<SignalOptions>();
  options->signal = signal;
  app->add_option("ref", options->ref, "The action")->required()->type_name("REF");
  add_signal_options(*app, *options);
  if (signal == "CANCEL") {
    app->add_flag("--force", options->force,
                  "Cancel in the record at once, also when the agent cannot be asked");
  }
  on_controller(app, context, [&context, options](ApiClient& client) {
    return signal_action(context, client, *options);
  });
}

void add_decision(CLI::App& actions, Context& context, bool approve) {
  const std::string verb = approve ? "approve" : "reject";
  CLI::App* app = add_command(
      actions, verb,
      approve ? "Approve an action that waits for it" : "Reject an action: it is cancelled",
      "  muster actions " + verb + " upgrade-db1 --reason 'change 4711'\n");
  auto options = std::make_shared<DecideOptions>();
  options->approve = approve;
  app->add_option("ref", options->ref, "The action")->required()->type_name("REF");
  app->add_option("--reason", options->reason, "Why; kept in the record")->type_name("TEXT");
  app->add_option("--if-match", options->if_match, "Only if the action still has this revision")
      ->type_name("REVISION");
  on_controller(app, context, [&context, options](ApiClient& client) {
    return decide_action(context, client, *options);
  });
}

}  // namespace

void add_wait_command(CLI::App& parent, Context& context) {
  CLI::App* app = add_command(parent, "wait", "Wait until actions have ended",
                              "  muster wait nightly-backup --timeout 30m\n"
                              "  muster actions wait 3f2a 91bc && echo both succeeded\n");
  auto options = std::make_shared<WaitCommandOptions>();
  app->add_option("ref", options->refs, "The actions")->required()->type_name("REF");
  app->add_option("--timeout", options->timeout, "End with exit code 6 after this long")
      ->type_name("DURATION");
  app->add_flag("--no-wait-approval", options->no_wait_approval,
                "End with exit code 8 when only an approval is waited for");
  on_controller(app, context,
                [&context, options](ApiClient& client) { return wait(context, client, *options); });
}

void add_logs_command(CLI::App& parent, Context& context) {
  CLI::App* app = add_command(parent, "logs", "Print what an action has printed",
                              "  muster logs nightly-backup\n"
                              "  muster logs -f 3f2a\n"
                              "  muster logs 3f2a --attempt 1\n");
  auto options = std::make_shared<LogOptions>();
  app->add_option("ref", options->ref, "The action")->required()->type_name("REF");
  app->add_flag("-f,--follow", options->follow, "Go on as more is printed, until the action ends");
  app->add_option("--attempt", options->attempt, "Of this execution (default: the last)")
      ->type_name("N");
  app->add_option("--offset", options->offset, "Start at this byte")->type_name("N");
  on_controller(app, context, [&context, options](ApiClient& client) {
    return print_logs(context, client, *options);
  });
}

void add_explain_command(CLI::App& parent, Context& context) {
  CLI::App* app = add_command(parent, "explain", "Tell why an action is not progressing",
                              "  muster explain nightly-backup\n");
  auto ref = std::make_shared<std::string>();
  app->add_option("ref", *ref, "The action")->required()->type_name("REF");
  on_controller(app, context, [&context, ref](ApiClient& client) {
    return explain_action(context, client, *ref);
  });
}

void add_action_commands(CLI::App& root, Context& context) {
  CLI::App* actions = add_command(root, "actions", "Submit, list, watch and steer actions",
                                  "  muster actions submit exec --target db1 -- /usr/bin/uptime\n"
                                  "  muster actions list --status RUNNING\n"
                                  "  muster actions wait nightly-backup\n");
  actions->alias("action");
  actions->require_subcommand(1);
  add_submit_command(*actions, context);
  add_list(*actions, context);
  add_show_action(*actions, context);
  add_wait_command(*actions, context);
  add_logs_command(*actions, context);
  add_explain_command(*actions, context);
  add_signal(*actions, context);
  add_signal_shortcut(*actions, context, "cancel", "CANCEL", "Cancel an action");
  add_signal_shortcut(*actions, context, "suspend", "SUSPEND", "Freeze an action");
  add_signal_shortcut(*actions, context, "resume", "RESUME",
                      "Let a suspended or held action go on");
  add_decision(*actions, context, true);
  add_decision(*actions, context, false);
  add_logs_command(root, context);
  add_wait_command(root, context);
  add_explain_command(root, context);
}

}  // namespace muster::cli
