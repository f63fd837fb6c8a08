#include "cli/nodes.h"

#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/table.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

std::string os_of(const Json& facts) {
  const std::string version = json_text(facts, "os_version");
  return json_text(facts, "os") + (version.empty() ? "" : " " + version);
}

Cell state_cell(const Json& agent, bool utf8) {
  const std::string state = json_text(agent, "state");
  return {fmt::format("{} {}", glyph_of(state, utf8), state), style_of(state)};
}

Table node_table(const Json& agents, Timestamp now, bool utf8) {
  Table table({{.title = "NAME", .shrinks = true, .width_min = 8},
               {.title = "STATE"},
               {.title = "SINCE", .spare = 2},
               {.title = "LAST SEEN", .spare = 1},
               {.title = "OS", .shrinks = true, .width_min = 6, .spare = 4},
               {.title = "ARCH", .spare = 6},
               {.title = "VERSION", .spare = 5},
               {.title = "LABELS", .shrinks = true, .width_min = 8, .spare = 3},
               {.title = "HOSTNAME", .wide_only = true},
               {.title = "ADDRESSES", .wide_only = true},
               {.title = "KINDS", .wide_only = true},
               {.title = "REASON", .wide_only = true}});
  for (const Json& agent : agents) {
    const Json& facts = json_at(agent, "facts");
    table.add_row({{json_text(agent, "name")},
                   state_cell(agent, utf8),
                   {json_age(agent, "state_since", now)},
                   {json_age(agent, "last_seen", now)},
                   {os_of(facts)},
                   {json_text(facts, "arch")},
                   {json_text(facts, "version")},
                   {json_cell(json_at(agent, "labels"))},
                   {json_text(facts, "hostname")},
                   {json_cell(json_at(facts, "addresses"))},
                   {json_cell(json_at(agent, "kinds"))},
                   {json_text(agent, "state_reason")}});
  }
  return table;
}

}  // namespace

Outcome<ExitCode> list_nodes(Context& context, ApiClient& client) {
  MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/agents"));
  const Json& agents = json_at(answer, "agents");
  if (wants_document(context)) {
    print_document(context, answer);
  } else if (context.options.format == Format::Name) {
    for (const Json& agent : agents) context.console.out(json_text(agent, "name") + "\n");
  } else if (agents.empty()) {
    context.console.say("no agent has connected yet\n");
  } else {
    context.console.out(node_table(agents, context.environment.now(), context.terminal.utf8)
                            .render(table_options(context)));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> show_node(Context& context, ApiClient& client, const std::string& name) {
  MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/agents/" + percent_encode(name)));
  const Json& agent = json_at(answer, "agent");
  if (wants_document(context)) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  if (context.options.format == Format::Name) {
    context.console.out(json_text(agent, "name") + "\n");
    return ExitCode::Ok;
  }
  const Timestamp now = context.environment.now();
  const Json& facts = json_at(agent, "facts");
  const auto ago = [&](const char* key) {
    const std::string age = json_age(agent, key, now);
    return age.empty() ? age : fmt::format("{} ({} ago)", json_text(agent, key), age);
  };
  const std::string state = json_text(agent, "state");
  std::string text = paint(fmt::format("{} {}", glyph_of(state, context.terminal.utf8), state),
                           style_of(state), context.terminal.stdout_color);
  const std::string reason = json_text(agent, "state_reason");
  text += (reason.empty() ? "" : ": " + printable(reason)) + "\n";
  text += detail_lines({{"name", json_text(agent, "name")},
                        {"state since", ago("state_since")},
                        {"last seen", ago("last_seen")},
                        {"registered", ago("registered_at")},
                        {"labels", json_cell(json_at(agent, "labels"))},
                        {"kinds", json_cell(json_at(agent, "kinds"))},
                        {"hostname", json_text(facts, "hostname")},
                        {"addresses", json_cell(json_at(facts, "addresses"))},
                        {"os", os_of(facts)},
                        {"kernel", json_text(facts, "kernel")},
                        {"arch", json_text(facts, "arch")},
                        {"version", json_text(facts, "version")},
                        {"journal", json_text(agent, "journal_id")},
                        {"instance", json_text(agent, "instance_id")}});
  context.console.out(text);
  const Json& queue = json_at(agent, "queue");
  if (queue.is_array() && !queue.empty()) {
    context.console.out("queue:\n");
    context.console.out(
        action_table(queue, now, context.options.format == Format::Wide, context.terminal.utf8)
            .render(table_options(context)));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> refresh_nodes(Context& context, ApiClient& client, const std::string& name) {
  const std::string path =
      name.empty() ? "/v1/agents/refresh" : "/v1/agents/" + percent_encode(name) + "/refresh";
  MUSTER_TRY_ASSIGN(const Json answer, client.post(path, Json::object()));
  if (wants_document(context)) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  const Json& refreshed = json_at(answer, "refreshed");
  for (const Json& agent : refreshed) context.console.out(printable(json_cell(agent)) + "\n");
  context.console.say(fmt::format("asked {} agent{} for a sync\n", refreshed.size(),
                                  refreshed.size() == 1 ? "" : "s"));
  return ExitCode::Ok;
}

}  // namespace muster::cli
