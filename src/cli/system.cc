#include "cli/system.h"

#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/table.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

std::string bytes_text(std::int64_t bytes) {
  constexpr std::int64_t kKiB = 1024;
  if (bytes < kKiB) return fmt::format("{} B", bytes);
  if (bytes < kKiB * kKiB) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  if (bytes < kKiB * kKiB * kKiB) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
  }
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1024.0 * 1024 * 1024));
}

std::string counts_text(const Json& counts) {
  std::string text;
  if (!counts.is_object()) return text;
  for (const auto& [key, value] : counts.items()) {
    if (value.is_number() && value.get<double>() == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", json_cell(value), key);
  }
  return text.empty() ? "none" : text;
}

std::string store_text(const Json& store, Timestamp now) {
  if (json_bool(store, "ok")) return fmt::format("ok, {}", bytes_text(json_int(store, "bytes")));
  const std::string since = json_age(store, "problem_since", now);
  return fmt::format("refuses writes: {}{}", json_text(store, "problem"),
                     since.empty() ? "" : fmt::format(" (for {})", since));
}

}  // namespace

Outcome<ExitCode> show_status(Context& context, ApiClient& client) {
  MUSTER_TRY_ASSIGN(const Json status, client.get("/v1/status"));
  if (wants_document(context)) {
    print_document(context, status);
    return ExitCode::Ok;
  }
  if (context.options.format == Format::Name) {
    context.console.out(json_text(status, "instance_id") + "\n");
    return ExitCode::Ok;
  }
  const Json& store = json_at(status, "store");
  const Timestamp now = context.environment.now();
  const auto number = [](const Json& object, const char* key) {
    return json_cell(json_at(object, key));
  };
  const std::int64_t quarantined = json_int(store, "quarantined");
  context.console.out(detail_lines(
      {{"controller", client.endpoint().to_string()},
       {"version", json_text(status, "version")},
       {"instance", json_text(status, "instance_id")},
       {"term", number(status, "term")},
       {"started", json_text(status, "started_at")},
       {"uptime", json_age(status, "started_at", now)},
       {"store", store_text(store, now)},
       {"actions", fmt::format("{} live, {} finished", number(store, "actions_live"),
                               number(store, "actions_finished"))},
       {"by status", counts_text(json_at(status, "actions"))},
       {"agents", counts_text(json_at(status, "agents"))},
       {"jobs running", number(status, "jobs_running")},
       {"events",
        fmt::format("{} kept, last {}", number(store, "events"), number(status, "last_event"))},
       {"queue", fmt::format("{} inputs, {} steps not yet durable", number(status, "inbox"),
                             number(status, "uncommitted"))},
       {"quarantined",
        quarantined > 0
            ? fmt::format("{} records that cannot be read (muster quarantine list)", quarantined)
            : ""}}));
  return ExitCode::Ok;
}

Outcome<ExitCode> list_kinds(Context& context, ApiClient& client) {
  MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/kinds"));
  if (wants_document(context)) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  Table table({{.title = "KIND"},
               {.title = "RUNS ON"},
               {.title = "SUMMARY", .shrinks = true, .width_min = 10}});
  for (const Json& kind : json_at(answer, "kinds")) {
    const std::string name = json_text(kind, "name");
    if (context.options.format == Format::Name) {
      context.console.out(name + "\n");
      continue;
    }
    const bool engine = json_bool(kind, "engine");
    const bool agent = json_bool(kind, "agent");
    table.add_row({{name},
                   {engine && agent ? "controller, agent"
                    : engine        ? "controller"
                                    : "agent"},
                   {json_text(kind, "summary")}});
  }
  if (context.options.format != Format::Name) {
    context.console.out(table.render(table_options(context)));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> list_quarantine(Context& context, ApiClient& client) {
  MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/quarantine"));
  if (wants_document(context)) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  const Json& entries = json_at(answer, "entries");
  if (entries.empty()) {
    context.console.say("nothing was set aside\n");
    return ExitCode::Ok;
  }
  Table table({{.title = "RECORD"},
               {.title = "KEY"},
               {.title = "BYTES", .spare = 2},
               {.title = "AGE", .spare = 1},
               {.title = "PROBLEM", .shrinks = true, .width_min = 10, .spare = 3}});
  for (const Json& entry : entries) {
    if (context.options.format == Format::Name) {
      context.console.out(json_text(entry, "key") + "\n");
      continue;
    }
    table.add_row({{json_text(entry, "space")},
                   {json_text(entry, "key")},
                   {json_cell(json_at(entry, "bytes"))},
                   {json_age(entry, "at", context.environment.now())},
                   {json_text(entry, "problem"), Style::Dim}});
  }
  if (context.options.format != Format::Name) {
    context.console.out(table.render(table_options(context)));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> show_version(Context& context) {
  Json versions = {{"client", std::string(kVersion)}, {"server", nullptr}};
  if (Outcome<ApiClient> client = connect_controller(context)) {
    const Outcome<Json> server = client->get("/version", {}, Duration::seconds(2));
    if (server) versions["server"] = json_at(*server, "version");
  }
  if (wants_document(context)) {
    print_document(context, versions);
    return ExitCode::Ok;
  }
  const std::string server = json_text(versions, "server");
  context.console.out(fmt::format("muster {}\n", kVersion));
  context.console.say(server.empty() ? "no controller answers\n"
                                     : fmt::format("controller {}\n", printable(server)));
  return ExitCode::Ok;
}

}  // namespace muster::cli
