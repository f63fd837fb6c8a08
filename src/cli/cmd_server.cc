#include "cli/commands.h"
#include "cli/dev_spawn.h"
#include "cli/dev_supervisor.h"
#include "cli/numbers.h"
#include "cli/system.h"
#include "controller/server_main.h"

namespace muster::cli {
namespace {

// The flags whose text is not yet the value.
struct ServerFlags {
  controller::ServerOptions options;
  std::string socket_mode;
  std::string retention_age;
  std::string default_timeout;
  std::string default_queue_timeout;
  pid_t parent = 0;
};

Outcome<ExitCode> run_server(const ServerFlags& flags) {
  controller::ServerOptions options = flags.options;
  options.version = kVersion;
  MUSTER_TRY(set_mode(options.socket_mode, flags.socket_mode, "--socket-mode"));
  MUSTER_TRY(set_duration(options.retention_age, flags.retention_age, "--retention-age"));
  MUSTER_TRY(set_duration(options.default_timeout, flags.default_timeout, "--default-timeout"));
  MUSTER_TRY(set_duration(options.default_queue_timeout, flags.default_queue_timeout,
                          "--default-queue-timeout"));
  if (flags.parent != 0) MUSTER_TRY(end_with_parent(flags.parent));
  return static_cast<ExitCode>(controller::run_server(options));
}

void add_server_limits(CLI::App& app, ServerFlags& flags) {
  controller::ServerOptions& options = flags.options;
  app.add_option("--retention-age", flags.retention_age,
                 "Finished actions are kept this long (default 30 days)")
      ->type_name("DURATION");
  app.add_option("--retention-count", options.retention_count,
                 "At most this many finished actions are kept (default 1000000)")
      ->type_name("N");
  app.add_option("--retention-events", options.retention_events,
                 "At most this many events are kept (default 1000000)")
      ->type_name("N");
  app.add_option("--default-timeout", flags.default_timeout,
                 "Of an execution that names none (default 1h)")
      ->type_name("DURATION");
  app.add_option("--default-queue-timeout", flags.default_queue_timeout,
                 "Until an action has started, where it names none (default 24h)")
      ->type_name("DURATION");
  app.add_option("--workers", options.workers,
                 "Actions that the controller itself executes at a time (default 32)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
  app.add_option("--http-threads", options.http_threads, "Threads of the API (default 2)")
      ->type_name("N")
      ->check(CLI::Range(1, 64).description(""));
}

void add_server_packs(CLI::App& app, controller::ServerOptions& options) {
  app.add_option("--packs", options.packs,
                 "Folder of the packs that the model is made with (default: those that came with "
                 "muster)")
      ->type_name("DIR");
  app.add_option("--core-pack", options.core_pack, "Folder of another core pack")->type_name("DIR");
  app.add_option("--pack", options.extra_packs, "Folder of one more pack; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--model-revisions", options.model_revisions,
                 "Revisions of the model that are kept (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""));
}

void add_server(CLI::App& root, Context& context) {
  CLI::App* app = add_command(root, "server", "Run the controller",
                              "  muster server --socket-group operators\n"
                              "  muster server --data-dir /srv/muster --retention-age 90d\n");
  auto flags = std::make_shared<ServerFlags>();
  controller::ServerOptions& options = flags->options;
  app->add_option("--data-dir", options.data_dir, "Where the store lives (default /var/lib/muster)")
      ->type_name("DIR");
  app->add_option(
         "--socket", options.socket,
         "Unix socket of the API (default /run/muster/muster.sock; with another --data-dir "
         "DATA_DIR/muster.sock)")
      ->type_name("PATH");
  app->add_option("--socket-mode", flags->socket_mode, "Its permissions (default 0660)")
      ->type_name("OCTAL");
  app->add_option("--socket-group", options.socket_group,
                  "The group that owns it and so may use it (default: that of the process)")
      ->type_name("GROUP");
  app->add_option("--listen", options.listen,
                  "TCP address of the API; empty for none (default 127.0.0.1:8440)")
      ->type_name("ADDR");
  app->add_option("--agent-listen", options.agent_listen,
                  "TCP address for agents (default 127.0.0.1:8441)")
      ->type_name("ADDR");
  app->add_flag("--insecure", options.insecure,
                "Allow addresses other than loopback, without encryption or authentication");
  add_server_packs(*app, options);
  add_server_limits(*app, *flags);
  app->add_option("--log-level", options.log_level, "Least level that is logged (default info)")
      ->type_name("trace|debug|info|warn|error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error"}).description(""));
  app->add_option("--log-format", options.log_format, "How lines look (default text)")
      ->type_name("text|json")
      ->check(CLI::IsMember({"text", "json"}).description(""));
  hide(app->add_option("--parent-pid", flags->parent, "Ends with this process"));
  on_run(app, context, [flags] { return run_server(*flags); });
}

void add_dev(CLI::App& root, Context& context) {
  CLI::App* app = add_command(root, "dev", "Run a controller and a few agents here, for play",
                              "  muster dev\n"
                              "  muster dev --agents 10 --data-dir /tmp/fleet\n");
  auto options = std::make_shared<DevOptions>();
  app->add_option("--agents", options->agents, "How many (default 3)")->type_name("N");
  app->add_option("--data-dir", options->data_dir, "Where everything lives (default .muster-dev)")
      ->type_name("DIR");
  app->add_option("--listen", options->listen,
                  "TCP address of the API (default 127.0.0.1:8440, or a free port)")
      ->type_name("ADDR");
  app->add_option("--agent-listen", options->agent_listen,
                  "TCP address for agents (default 127.0.0.1:8441, or a free port)")
      ->type_name("ADDR");
  app->add_option("--agent-prefix", options->agent_prefix,
                  "Agents are called PREFIX1, PREFIX2, ... (default a)")
      ->type_name("PREFIX");
  app->add_option("--log-level", options->log_level, "Of all processes (default info)")
      ->type_name("trace|debug|info|warn|error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error"}).description(""));
  on_run(app, context, [&context, options] { return run_dev(context, *options); });
}

}  // namespace

void add_server_commands(CLI::App& root, Context& context) {
  add_server(root, context);
  add_dev(root, context);
}

}  // namespace muster::cli
