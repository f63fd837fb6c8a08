#include "cli/agent_local.h"

#include "base/uuid.h"
#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/submit.h"
#include "cli/yaml.h"

namespace muster::cli {
namespace {

constexpr std::size_t kPagesMax = 1000;

}  // namespace

Outcome<ApiClient> connect_agent(const AgentAddress& address) {
  const std::string text =
      address.socket.empty() ? address.state_dir + "/agent.sock" : address.socket;
  Result<Endpoint> endpoint = parse_endpoint(text);
  if (!endpoint) {
    // A plain relative path is a socket too.
    endpoint = parse_endpoint("unix:" + text);
  }
  MUSTER_TRY(endpoint);
  return ApiClient(std::move(*endpoint), "the agent");
}

Outcome<ExitCode> agent_info(Context& context, ApiClient& client) {
  MUSTER_TRY_ASSIGN(const Json info, client.get("/v1/info"));
  if (context.options.is_table()) {
    context.console.out(dump_yaml(info));
  } else if (context.options.format == Format::Name) {
    context.console.out(json_text(info, "name") + "\n");
  } else {
    print_document(context, info);
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> agent_schedule(Context& context, ApiClient& client,
                                 const ScheduleOptions& options) {
  SubmitOptions submit;
  submit.kind = options.kind;
  // An id is made here where none is given, so that a repeated request is the same action.
  submit.id = options.id.empty()
                  ? Uuid::v4(context.environment.random(), context.environment.random()).to_string()
                  : options.id;
  submit.name = options.name;
  submit.inputs = options.inputs;
  submit.inputs_json = options.inputs_json;
  submit.timeout = options.timeout;
  const std::optional<std::vector<std::string>> argv =
      context.has_trailing ? std::optional(context.trailing) : std::nullopt;
  MUSTER_TRY_ASSIGN(Json action, action_from_flags(submit, argv, context.environment.now()));
  MUSTER_TRY_ASSIGN(const Json answer, client.post("/v1/actions", {{"action", std::move(action)}}));
  if (context.options.format == Format::Json || context.options.format == Format::Yaml) {
    print_document(context, answer);
  } else {
    context.console.out(submit.id + "\n");
  }
  if (context.terminal.stderr_tty) {
    context.console.say(fmt::format("Next: muster agent actions show {}\n", submit.id));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> agent_list(Context& context, ApiClient& client) {
  Json actions = Json::array();
  for (std::size_t page = 0; page < kPagesMax; ++page) {
    Query query;
    if (!actions.empty()) query.emplace_back("marker", json_text(actions.back(), "id"));
    MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/actions", query));
    const Json& rows = json_at(answer, "actions");
    for (const Json& row : rows) actions.push_back(row);
    if (!json_bool(answer, "more") || rows.empty()) break;
  }
  if (context.options.format == Format::Json || context.options.format == Format::Yaml) {
    print_document(context, {{"actions", actions}});
  } else if (context.options.format == Format::Name) {
    for (const Json& action : actions) context.console.out(json_text(action, "id") + "\n");
  } else if (actions.empty()) {
    context.console.say("the agent has no actions\n");
  } else {
    context.console.out(action_table(actions, context.environment.now(),
                                     context.options.format == Format::Wide, context.terminal.utf8)
                            .render(table_options(context)));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> agent_cancel(Context& context, ApiClient& client, const std::string& id,
                               const std::string& reason) {
  MUSTER_TRY_ASSIGN(const Json answer, client.post(action_path(id, "/signals"),
                                                   {{"signal", "CANCEL"}, {"reason", reason}}));
  print_action(context, answer);
  return ExitCode::Ok;
}

}  // namespace muster::cli
