#include "cli/commands.h"
#include "cli/submit.h"

namespace muster::cli {
namespace {

void add_what(CLI::App& app, SubmitOptions& options) {
  app.add_option("kind", options.kind, "What to do: exec, file.put, noop, ...")->type_name("KIND");
  app.add_option("-f,--file", options.file,
                 "JSON or YAML with {action: ...} or {actions: [...]}; - is stdin")
      ->type_name("FILE");
  app.add_option("--target", options.target, "The agent that executes it")->type_name("AGENT");
  add_repeated(app, "--input", options.inputs,
               "One input; the value is JSON if it parses, else text; dots in the key nest")
      ->type_name("KEY=VALUE");
  app.add_option("--inputs", options.inputs_json, "All inputs as a JSON object")
      ->type_name("JSON|@FILE|-");
  app.add_option("--name", options.name, "A name for people")->type_name("NAME");
  app.add_option("--id", options.id, "The id, instead of a new one")->type_name("UUID");
  app.add_option("--context", options.context_json, "A JSON object kept with the action")
      ->type_name("JSON|@FILE|-");
}

void add_when(CLI::App& app, SubmitOptions& options) {
  add_repeated(app, "--depends-on", options.depends_on, "Runs after this action has succeeded")
      ->type_name("REF");
  add_repeated(app, "--depended-by", options.depended_by, "This action runs after the new one")
      ->type_name("REF");
  app.add_option("--start-time", options.start_time, "Not before")->type_name("TIME|+DURATION");
  app.add_option("--stop-time", options.stop_time, "No run starts later")
      ->type_name("TIME|+DURATION");
  app.add_option("--interval", options.interval, "Repeat this often")->type_name("DURATION");
  app.add_option("--misfire", options.misfire, "What becomes of missed runs")
      ->type_name("skip|run_once")
      ->check(CLI::IsMember({"skip", "run_once"}).description(""));
  app.add_option("--timeout", options.timeout, "Of one execution")->type_name("DURATION");
  app.add_option("--queue-timeout", options.queue_timeout, "Until it has started")
      ->type_name("DURATION");
  app.add_flag("--hold", options.hold, "Do not start before `muster actions resume`");
}

void add_safety(CLI::App& app, SubmitOptions& options) {
  app.add_option("--retries", options.retries, "How often it is executed again after an error")
      ->type_name("N");
  app.add_option("--backoff", options.backoff, "Before the first retry; doubles each time")
      ->type_name("DURATION");
  app.add_option("--max-backoff", options.max_backoff, "The longest wait between retries")
      ->type_name("DURATION");
  app.add_flag("--approval", options.approval, "Somebody else has to approve it first");
  app.add_option("--approvers", options.approvers, "How many different people have to approve")
      ->type_name("N");
  app.add_option("--approval-expires", options.approval_expires,
                 "Cancelled when not approved in this time")
      ->type_name("DURATION");
  app.add_flag("--allow-requester", options.allow_requester,
               "The one who submits may be an approver");
  app.add_option("--idempotency-key", options.idempotency_key,
                 "Submitted once however often it is sent (default: a new key)")
      ->type_name("KEY");
}

}  // namespace

void add_submit_command(CLI::App& actions, Context& context) {
  CLI::App* app = add_command(
      actions, "submit", "Submit actions and wait for them",
      "  muster actions submit exec --target db1 -- /usr/bin/uptime\n"
      "  muster actions submit file.put --target db1 --input path=/etc/motd --input content=hi\n"
      "  muster actions submit noop --depends-on backup --approval --detach\n"
      "  muster actions submit -f actions.yaml\n");
  auto options = std::make_shared<SubmitOptions>();
  add_what(*app, *options);
  add_when(*app, *options);
  add_safety(*app, *options);
  app->add_flag("--detach", options->detach, "Print the ids and do not wait");
  app->add_option("--wait-timeout", options->wait_timeout,
                  "End with exit code 6 after this long; the action goes on")
      ->type_name("DURATION");
  on_controller(app, context, [&context, options](ApiClient& client) {
    return submit(context, client, *options);
  });
  take_trailing(app, context);
  app->footer("\nA command after -- becomes the argv of an exec.\n" + app->get_footer());
}

}  // namespace muster::cli
