#include "cli/agent_local.h"

#include <algorithm>
#include <cstdint>

#include "base/ascii.h"
#include "base/uuid.h"
#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/submit.h"
#include "cli/yaml.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLocalPagesMax = 1000;
constexpr std::size_t kLocalPage = 500;
constexpr std::size_t kMatchesShown = 5;

Outcome<Json> list_all(ApiClient& client, const AgentListOptions& options) {
  Json actions = Json::array();
  const std::size_t wanted = options.limit.value_or(SIZE_MAX);
  for (std::size_t page = 0; page < kLocalPagesMax && actions.size() < wanted; ++page) {
    Query query = {{"limit", std::to_string(std::min(wanted - actions.size(), kLocalPage))}};
    if (options.state != "all") query.emplace_back("state", options.state);
    if (!actions.empty()) query.emplace_back("marker", json_text(actions.back(), "id"));
    MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/actions", query));
    const Json& rows = json_at(answer, "actions");
    for (const Json& row : rows) actions.push_back(row);
    if (!json_bool(answer, "more") || rows.empty()) break;
  }
  return actions;
}

}  // namespace

Outcome<std::string> resolve_local(ApiClient& client, const std::string& ref) {
  if (Uuid::parse(ref)) return ref;
  MUSTER_TRY_ASSIGN(const Json actions, list_all(client, {}));
  std::vector<std::string> named;
  std::vector<std::string> prefixed;
  const std::string digits = in_lower_case(ref);
  for (const Json& action : actions) {
    const std::string id = json_text(action, "id");
    if (json_text(action, "name") == ref) named.push_back(id);
    if (!digits.empty() && id.starts_with(digits)) prefixed.push_back(id);
  }
  const std::vector<std::string>& found = named.empty() ? prefixed : named;
  if (found.size() == 1) return found.front();
  Failure failure(Error{found.empty() ? ErrorCode::NotFound : ErrorCode::Ambiguous, ""});
  failure.exit = ExitCode::Error;
  if (found.empty()) {
    failure.detail = fmt::format("the agent has no action with the id, name or short id '{}'", ref);
    failure.hint = "`muster agent actions list` shows its actions";
    return fail(std::move(failure));
  }
  const std::size_t shown = std::min(found.size(), kMatchesShown);
  failure.detail =
      fmt::format("'{}' matches {} actions of the agent: {}{}", ref, found.size(),
                  fmt::join(found.begin(), found.begin() + static_cast<int>(shown), ", "),
                  shown < found.size() ? ", ..." : "");
  failure.hint = "use more digits of the id, or the whole id";
  return fail(std::move(failure));
}

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
  if (wants_document(context)) {
    print_document(context, answer);
  } else {
    context.console.out(submit.id + "\n");
  }
  if (context.terminal.stderr_tty) {
    context.console.say(fmt::format("Next: muster agent actions show {}\n", submit.id));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> agent_list(Context& context, ApiClient& client, const AgentListOptions& options) {
  MUSTER_TRY_ASSIGN(const Json actions, list_all(client, options));
  if (wants_document(context)) {
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
