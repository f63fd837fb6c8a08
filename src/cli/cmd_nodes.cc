#include "cli/backup.h"
#include "cli/commands.h"
#include "cli/events.h"
#include "cli/nodes.h"
#include "cli/system.h"

namespace muster::cli {
namespace {

void add_events(CLI::App& root, Context& context) {
  CLI::App* app = add_command(root, "events", "Show what happened, and what happens",
                              "  muster events\n"
                              "  muster events -f --type action.status\n"
                              "  muster events --after 4711 -o json\n");
  auto options = std::make_shared<EventOptions>();
  app->add_flag("-f,--follow", options->follow, "Go on with what happens");
  app->add_option("--after", options->after, "Only events after this number")->type_name("N");
  app->add_option("--last", options->last, "Without --after: how many of the latest (default 20)")
      ->type_name("N");
  app->add_option("--type", options->type, "Only types that start like this, as action.status")
      ->type_name("PREFIX");
  app->add_option("--subject", options->subject, "Only of this action or agent")->type_name("REF");
  on_controller(app, context, [&context, options](ApiClient& client) {
    return print_events(context, client, *options);
  });
}

void add_backup(CLI::App& root, Context& context) {
  CLI::App* app = add_command(root, "backup", "Save the controller's store while it runs",
                              "  muster backup /var/backups/muster-$(date +%F).db\n");
  auto options = std::make_shared<BackupOptions>();
  app->add_option("file", options->file, "The file to write")->required()->type_name("FILE");
  app->add_flag("--force", options->force, "Replace an existing file");
  on_controller(app, context, [&context, options](ApiClient& client) {
    return backup(context, client, *options);
  });
}

void add_restore(CLI::App& root, Context& context) {
  CLI::App* app = add_command(
      root, "restore", "Put a backup in the place of the store of a stopped controller",
      "  muster restore /var/backups/muster-2026-11-15.db --data-dir /var/lib/muster\n");
  auto options = std::make_shared<RestoreOptions>();
  app->add_option("file", options->file, "The backup")->required()->type_name("FILE");
  app->add_option("--data-dir", options->data_dir, "The controller's data directory")
      ->required()
      ->type_name("DIR");
  on_run(app, context, [&context, options] { return restore(context, *options); });
}

}  // namespace

void add_node_commands(CLI::App& root, Context& context) {
  CLI::App* nodes = add_command(root, "nodes", "List and look at agents",
                                "  muster nodes list -o wide\n"
                                "  muster nodes show db1\n"
                                "  muster nodes refresh\n");
  nodes->alias("node");
  nodes->alias("agents");
  nodes->require_subcommand(1);

  CLI::App* list = add_command(*nodes, "list", "List the agents", "  muster nodes list\n");
  on_controller(list, context,
                [&context](ApiClient& client) { return list_nodes(context, client); });

  CLI::App* show =
      add_command(*nodes, "show", "Show one agent and its queue", "  muster nodes show db1\n");
  auto name = std::make_shared<std::string>();
  show->add_option("name", *name, "The agent")->required()->type_name("AGENT");
  on_controller(show, context,
                [&context, name](ApiClient& client) { return show_node(context, client, *name); });

  CLI::App* refresh =
      add_command(*nodes, "refresh", "Ask agents for their view of their actions now",
                  "  muster nodes refresh\n  muster nodes refresh db1\n");
  auto refreshed = std::make_shared<std::string>();
  refresh->add_option("name", *refreshed, "The agent (default: all)")->type_name("AGENT");
  on_controller(refresh, context, [&context, refreshed](ApiClient& client) {
    return refresh_nodes(context, client, *refreshed);
  });
}

void add_system_commands(CLI::App& root, Context& context) {
  add_events(root, context);
  CLI::App* status =
      add_command(root, "status", "Show how the controller stands", "  muster status\n");
  on_controller(status, context,
                [&context](ApiClient& client) { return show_status(context, client); });
  CLI::App* kinds = add_command(root, "kinds", "List the kinds of action", "  muster kinds\n");
  on_controller(kinds, context,
                [&context](ApiClient& client) { return list_kinds(context, client); });
  CLI::App* quarantine =
      add_command(root, "quarantine", "Look at records that cannot be read and were set aside",
                  "  muster quarantine list\n");
  quarantine->require_subcommand(1);
  CLI::App* entries = add_command(*quarantine, "list", "List them", "  muster quarantine list\n");
  on_controller(entries, context,
                [&context](ApiClient& client) { return list_quarantine(context, client); });
  add_backup(root, context);
  add_restore(root, context);
  CLI::App* version = add_command(root, "version",
                                  "Show the versions of this program and of the "
                                  "controller",
                                  "  muster version -o json\n");
  on_run(version, context, [&context] { return show_version(context); });
}

}  // namespace muster::cli
