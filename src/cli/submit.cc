#include "cli/submit.h"

#include "base/uuid.h"
#include "cli/fields.h"
#include "cli/inputs.h"
#include "cli/text.h"
#include "cli/wait.h"

namespace muster::cli {
namespace {

Outcome<Json> body_of(Context& context, const SubmitOptions& options) {
  const std::optional<std::vector<std::string>> argv =
      context.has_trailing ? std::optional(context.trailing) : std::nullopt;
  if (options.file.empty()) {
    if (options.kind.empty()) return usage("name the KIND of the action, or a file with -f");
    MUSTER_TRY_ASSIGN(Json action, action_from_flags(options, argv, context.environment.now()));
    return Json{{"action", std::move(action)}};
  }
  // Only the kind may be missing from the flags; anything else in them would silently be dropped.
  SubmitOptions bare = options;
  bare.kind.clear();
  MUSTER_TRY_ASSIGN(const Json from_flags, action_from_flags(bare, std::nullopt, {}));
  if (!options.kind.empty() || from_flags.size() > 1 || argv) {
    return usage("-f excludes KIND and the flags that describe an action");
  }
  MUSTER_TRY_ASSIGN(const std::string text, read_input_file(options.file));
  Outcome<Json> body = body_from_text(text);
  if (!body) {
    body.error().detail = fmt::format("{}: {}", options.file, body.error().detail);
  }
  return body;
}

std::vector<Json> actions_of(const Json& answer) {
  std::vector<Json> actions;
  if (const Json& one = json_at(answer, "action"); one.is_object()) actions.push_back(one);
  if (const Json& many = json_at(answer, "actions"); many.is_array()) {
    for (const Json& action : many) actions.push_back(action);
  }
  return actions;
}

// Why waiting for this action would not end by itself; empty where it would.
std::string no_end_in_sight(const Json& action) {
  if (json_text(action, "status") == "INIT") return "is held until it is resumed";
  const Json& interval = json_at(action, "interval");
  if (interval.is_number() && interval.get<double>() > 0 &&
      !json_time(action, "scheduled_stop").is_set()) {
    return "repeats without an end";
  }
  return {};
}

ExitCode print_detached(Context& context, const Json& answer, const std::vector<Json>& actions) {
  std::vector<std::string> ids;
  for (const Json& action : actions) ids.push_back(json_text(action, "id"));
  if (wants_document(context)) {
    print_document(context, answer);
  } else {
    for (const std::string& id : ids) context.console.out(id + "\n");
  }
  if (context.terminal.stderr_tty) {
    context.console.say(fmt::format("Next: {}\n", wait_command_for(ids)));
  }
  return ExitCode::Ok;
}

}  // namespace

Outcome<ExitCode> submit(Context& context, ApiClient& client, const SubmitOptions& options) {
  WaitOptions wait_options;
  // Nobody watches who could ask a colleague: say what is needed instead of hanging in a script.
  wait_options.stop_at_approval = !context.terminal.stderr_tty;
  if (!options.wait_timeout.empty()) {
    const Result<Duration> timeout = parse_duration(options.wait_timeout);
    if (!timeout) return usage("--wait-timeout: {}", timeout.error().message);
    wait_options.timeout = *timeout;
  }
  MUSTER_TRY_ASSIGN(const Json body, body_of(context, options));
  // One key for the whole invocation: however often the request is sent, it is accepted once.
  const std::string key =
      options.idempotency_key.empty()
          ? Uuid::v4(context.environment.random(), context.environment.random()).to_string()
          : options.idempotency_key;
  MUSTER_TRY_ASSIGN(const Json answer, client.post_once("/v1/actions", body, key, context));
  const std::vector<Json> actions = actions_of(answer);
  if (options.detach) return print_detached(context, answer, actions);
  for (const Json& action : actions) {
    const std::string why = no_end_in_sight(action);
    if (why.empty()) continue;
    context.console.say(
        fmt::format("{} {}; not waiting for it\n", printable(json_text(action, "name")), why));
    return print_detached(context, answer, actions);
  }
  WatchSet set;
  for (const Json& action : actions) set.apply_snapshot(action);
  return wait_and_report(context, client, set, wait_options);
}

}  // namespace muster::cli
