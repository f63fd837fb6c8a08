#include "cli/action_views.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/fields.h"
#include "cli/text.h"
#include "cli/yaml.h"

namespace muster::cli {
namespace {

Cell status_cell(const std::string& status, const std::string& control, bool utf8) {
  std::string text = fmt::format("{} {}", glyph_of(status, utf8), status);
  if (!control.empty() && !is_final_status(status)) text += fmt::format(" ({})", control);
  return {std::move(text), style_of(status)};
}

// "2026-11-15T19:26:00Z (3m ago)", "(in 3m)".
std::string when(const Json& action, std::string_view key, Timestamp now) {
  const Timestamp time = json_time(action, key);
  if (!time.is_set()) return {};
  const std::string relative =
      time <= now ? format_age(now - time) + " ago" : "in " + format_age(time - now);
  return fmt::format("{} ({})", json_text(action, key), relative);
}

std::string seconds(const Json& action, std::string_view key) {
  const Json& value = json_at(action, key);
  if (!value.is_number() || value.get<double>() <= 0) return {};
  return format_duration(Duration::micros(static_cast<std::int64_t>(value.get<double>() * 1e6)));
}

std::string retry_text(const Json& action) {
  const Json& retry = json_at(action, "retry");
  const std::int64_t attempts = json_int(retry, "attempts");
  if (attempts <= 1) return {};
  return fmt::format("{} executions at most, back-off {} to {}", attempts,
                     seconds(retry, "backoff"), seconds(retry, "max_backoff"));
}

std::string approval_text(const Json& action) {
  const Json& approval = json_at(action, "approval");
  if (!approval.is_object()) return {};
  std::string text = fmt::format("{} needed", json_int(approval, "count"));
  for (const Json& decision : json_at(approval, "decisions")) {
    text += fmt::format("; {} by {}", json_bool(decision, "approved") ? "approved" : "rejected",
                        json_text(decision, "who"));
    const std::string reason = json_text(decision, "reason");
    if (!reason.empty()) text += fmt::format(" ({})", reason);
  }
  return text;
}

std::string section(std::string_view title, const Json& value) {
  if (value.is_null() || (value.is_structured() && value.empty())) return {};
  std::string text = fmt::format("{}:\n", title);
  for (std::string& line : split(dump_yaml(value), '\n')) {
    if (!line.empty()) {
      const std::size_t indent = line.find_first_not_of(' ');
      text += "  " + line.substr(0, indent) + printable(line.substr(indent)) + "\n";
    }
  }
  return text;
}

}  // namespace

TableOptions table_options(const Context& context) {
  return {.width = context.terminal.stdout_width,
          .headers = !context.options.no_headers,
          .color = context.terminal.stdout_color,
          .utf8 = context.terminal.utf8,
          .wide = context.options.format == Format::Wide};
}

Table action_table(const Json& actions, Timestamp now, bool wide, bool utf8) {
  Table table({{.title = "ID"},
               {.title = "NAME", .shrinks = true, .width_min = 8},
               {.title = "ACTION", .shrinks = true, .width_min = 6, .spare = 2},
               {.title = "TARGET", .shrinks = true, .width_min = 6, .if_any = true, .spare = 1},
               {.title = "STATUS"},
               {.title = "AGE", .spare = 3},
               {.title = "ATTEMPT", .wide_only = true},
               {.title = "REQUESTED BY", .wide_only = true},
               {.title = "UPDATED", .wide_only = true},
               {.title = "REASON", .shrinks = true, .width_min = 8, .spare = 4}});
  for (const Json& action : actions) {
    const std::string status = json_text(action, "status");
    table.add_row({{wide ? json_text(action, "id") : short_id(json_text(action, "id"))},
                   {json_text(action, "name")},
                   {json_text(action, "action")},
                   {json_text(action, "target")},
                   status_cell(status, json_text(action, "control"), utf8),
                   {json_age(action, "created_at", now)},
                   {json_cell(json_at(action, "attempt"))},
                   {json_text(action, "requested_by")},
                   {json_age(action, "updated_at", now)},
                   {json_text(action, "status_reason"), Style::Dim}});
  }
  return table;
}

std::string detail_lines(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::size_t width = 0;
  for (const auto& [key, value] : pairs) {
    if (!value.empty()) width = std::max(width, key.size());
  }
  std::string text;
  for (const auto& [key, value] : pairs) {
    if (!value.empty()) text += fmt::format("{:<{}}  {}\n", key, width, printable(value));
  }
  return text;
}

std::string action_details(const Json& action, Timestamp now, const Terminal& terminal) {
  const std::string status = json_text(action, "status");
  std::string text = paint(fmt::format("{} {}", glyph_of(status, terminal.utf8), status),
                           style_of(status), terminal.stdout_color);
  const std::string reason = json_text(action, "status_reason");
  if (!reason.empty()) text += ": " + printable(reason);
  text += '\n';
  const auto plain = [&](const char* key) { return json_cell(json_at(action, key)); };
  text += detail_lines({{"id", plain("id")},
                        {"name", plain("name")},
                        {"action", plain("action")},
                        {"target", plain("target")},
                        {"side", plain("side")},
                        {"status since", when(action, "status_since", now)},
                        {"control", plain("control")},
                        {"control reason", plain("control_reason")},
                        {"cause", plain("cause")},
                        {"origin", plain("origin")},
                        {"parent", plain("parent")},
                        {"owner", plain("owner")},
                        {"requested by", plain("requested_by")},
                        {"attempt", plain("attempt")},
                        {"runs", json_int(action, "runs") > 0 ? plain("runs") : ""},
                        {"retry", retry_text(action)},
                        {"approval", approval_text(action)},
                        {"timeout", seconds(action, "timeout")},
                        {"queue timeout", seconds(action, "queue_timeout")},
                        {"interval", seconds(action, "interval")},
                        {"misfire", seconds(action, "interval").empty() ? "" : plain("misfire")},
                        {"scheduled start", when(action, "scheduled_start", now)},
                        {"scheduled stop", when(action, "scheduled_stop", now)},
                        {"created", when(action, "created_at", now)},
                        {"started", when(action, "start_time", now)},
                        {"stopped", when(action, "stop_time", now)},
                        {"updated", when(action, "updated_at", now)},
                        {"next try", when(action, "next_try", now)},
                        {"deadline", when(action, "deadline", now)},
                        {"depends on", plain("depends_on")},
                        {"still waits for", plain("depends_on_left")},
                        {"depended by", plain("depended_by")},
                        {"plan", plain("plan")},
                        {"task", plain("task")},
                        {"revision", plain("revision")}});
  text += section("inputs", json_at(action, "inputs"));
  text += section("outputs", json_at(action, "outputs"));
  text += section("data", json_at(action, "data"));
  text += section("context", json_at(action, "context"));
  return text;
}

void print_action_results(Context& context, const WatchSet& set) {
  const bool wide = context.options.format == Format::Wide;
  const Timestamp now = context.environment.now();
  Table table({{.title = "ID"},
               {.title = "NAME", .shrinks = true, .width_min = 8},
               {.title = "ACTION", .shrinks = true, .width_min = 6, .spare = 2},
               {.title = "TARGET", .shrinks = true, .width_min = 6, .if_any = true, .spare = 1},
               {.title = "STATUS"},
               {.title = "DURATION", .spare = 3},
               {.title = "REASON", .shrinks = true, .width_min = 8, .spare = 4}});
  for (const WatchedAction& action : set.actions()) {
    table.add_row({{wide ? action.id : short_id(action.id)},
                   {action.name},
                   {action.kind},
                   {action.target},
                   status_cell(action.status, action.control, context.terminal.utf8),
                   {format_elapsed(action.elapsed(now))},
                   {action.reason, Style::Dim}});
  }
  context.console.out(table.render(table_options(context)));
}

void print_action(Context& context, const Json& answer) {
  const Json& action = json_at(answer, "action");
  switch (context.options.format) {
    case Format::Json:
    case Format::Yaml:
      print_document(context, answer);
      break;
    case Format::Name:
      context.console.out(json_text(action, "id") + "\n");
      break;
    case Format::Table:
    case Format::Wide:
      context.console.out(action_table(Json::array({action}), context.environment.now(),
                                       context.options.format == Format::Wide,
                                       context.terminal.utf8)
                              .render(table_options(context)));
      break;
  }
}

}  // namespace muster::cli
