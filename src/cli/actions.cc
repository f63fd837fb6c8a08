#include "cli/actions.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kAllPagesMax = 20'000;  // of --all-pages; at 500 rows, ten million actions

Query query_of(const ListOptions& options) {
  Query query;
  const auto add = [&](const char* key, const std::vector<std::string>& values) {
    for (const std::string& value : values) query.emplace_back(key, value);
  };
  for (std::string status : options.status) {
    std::transform(status.begin(), status.end(), status.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    query.emplace_back("status", std::move(status));
  }
  add("target", options.target);
  add("name", options.name);
  add("action", options.kind);
  query.emplace_back("limit", std::to_string(options.limit));
  if (!options.sort.empty()) query.emplace_back("sort", options.sort);
  return query;
}

std::string next_page_command(const ListOptions& options, const std::string& marker) {
  std::string command = "muster actions list";
  const auto add = [&](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) command += fmt::format(" {} {}", flag, value);
  };
  add("--status", options.status);
  add("--target", options.target);
  add("--name", options.name);
  add("--kind", options.kind);
  return fmt::format("{} --limit {} --sort {} --marker {}", command, options.limit, options.sort,
                     marker);
}

}  // namespace

Outcome<ExitCode> list_actions(Context& context, ApiClient& client, const ListOptions& options) {
  std::string marker = options.marker;
  Json rows = Json::array();
  Json next = nullptr;
  Json warnings = Json::array();
  for (std::size_t page = 0; page < (options.all_pages ? kAllPagesMax : 1); ++page) {
    Query query = query_of(options);
    if (!marker.empty()) query.emplace_back("marker", marker);
    MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/actions", query));
    for (const Json& row : json_at(answer, "actions")) rows.push_back(row);
    for (const Json& warning : json_at(answer, "warnings")) warnings.push_back(warning);
    next = json_at(answer, "next_marker");
    if (!next.is_string()) break;
    marker = next.get<std::string>();
  }
  for (const Json& warning : warnings) {
    context.console.warn(fmt::format("warning: {}\n", printable(json_cell(warning))));
  }
  const bool wide = context.options.format == Format::Wide;
  Json document;
  switch (context.options.format) {
    case Format::Json:
    case Format::Yaml:
      document = {{"actions", std::move(rows)}, {"next_marker", next}};
      if (!warnings.empty()) document["warnings"] = std::move(warnings);
      print_document(context, document);
      return ExitCode::Ok;
    case Format::Name:
      for (const Json& row : rows) context.console.out(json_text(row, "id") + "\n");
      return ExitCode::Ok;
    case Format::Table:
    case Format::Wide:
      break;
  }
  if (rows.empty())
    context.console.say("no actions match\n");
  else {
    context.console.out(action_table(rows, context.environment.now(), wide, context.terminal.utf8)
                            .render(table_options(context)));
  }
  if (next.is_string()) {
    context.console.say(
        fmt::format("Next page: {}\n", next_page_command(options, next.get<std::string>())));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> show_action(Context& context, ApiClient& client, const std::string& ref) {
  MUSTER_TRY_ASSIGN(const Json answer, client.get(action_path(ref)));
  if (!context.options.is_table()) {
    print_action(context, answer);
    return ExitCode::Ok;
  }
  context.console.out(
      action_details(json_at(answer, "action"), context.environment.now(), context.terminal));
  return ExitCode::Ok;
}

Outcome<ExitCode> signal_action(Context& context, ApiClient& client, const SignalOptions& options) {
  std::string signal = options.signal;
  std::transform(signal.begin(), signal.end(), signal.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (signal != "CANCEL" && signal != "SUSPEND" && signal != "RESUME") {
    return usage("signal '{}' is not CANCEL, SUSPEND or RESUME", options.signal);
  }
  const Json body = {{"signal", signal}, {"reason", options.reason}, {"force", options.force}};
  MUSTER_TRY_ASSIGN(const Json answer, client.post(action_path(options.ref, "/signals"), body,
                                                   if_match(options.if_match)));
  print_action(context, answer);
  const Json& action = json_at(answer, "action");
  if (!is_final_status(json_text(action, "status")) && context.terminal.stderr_tty) {
    context.console.say(fmt::format("{} was recorded\nNext: muster actions wait {}\n", signal,
                                    json_text(action, "id")));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> decide_action(Context& context, ApiClient& client, const DecideOptions& options) {
  const Json body = {{"reason", options.reason}};
  MUSTER_TRY_ASSIGN(const Json answer,
                    client.post(action_path(options.ref, options.approve ? "/approve" : "/reject"),
                                body, if_match(options.if_match)));
  print_action(context, answer);
  return ExitCode::Ok;
}

Outcome<ExitCode> explain_action(Context& context, ApiClient& client, const std::string& ref) {
  MUSTER_TRY_ASSIGN(const Json answer, client.get(action_path(ref, "/explain")));
  if (wants_document(context)) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  const Json& explain = json_at(answer, "explain");
  if (context.options.format == Format::Name) {
    context.console.out(json_text(explain, "id") + "\n");
    return ExitCode::Ok;
  }
  const Timestamp now = context.environment.now();
  const std::string status = json_text(explain, "status");
  const std::string action_name = json_text(explain, "name");
  std::string text =
      fmt::format("{} {} {}: {}\n",
                  paint(glyph_of(status, context.terminal.utf8), style_of(status),
                        context.terminal.stdout_color),
                  printable(action_name.empty() ? short_id(json_text(explain, "id")) : action_name),
                  status, printable(json_text(explain, "summary")));
  for (const Json& blocker : json_at(explain, "blockers")) {
    text += fmt::format("  waits for {}", printable(json_text(blocker, "what")));
    const std::string subject = json_text(blocker, "subject");
    if (!subject.empty()) text += " " + printable(subject);
    const std::string detail = json_text(blocker, "detail");
    if (!detail.empty()) text += ": " + printable(detail);
    const std::string since = json_age(blocker, "since", now);
    if (!since.empty()) text += fmt::format(" (for {})", since);
    const Timestamp until = json_time(blocker, "until");
    if (until.is_set()) text += fmt::format(", at most {} more", format_age(until - now));
    text += '\n';
  }
  const auto at = [&](const char* key) {
    const Timestamp time = json_time(explain, key);
    if (!time.is_set()) return std::string();
    return fmt::format(
        "{} ({})", format_rfc3339(time),
        time < now ? format_age(now - time) + " ago" : "in " + format_age(time - now));
  };
  const std::string effect = json_text(explain, "deadline_effect");
  const std::string deadline = at("deadline");
  text += detail_lines(
      {{"  control", json_text(explain, "control")},
       {"  next try", at("next_try")},
       {"  deadline", deadline.empty() || effect.empty() ? deadline : deadline + ": " + effect}});
  context.console.out(text);
  return ExitCode::Ok;
}

}  // namespace muster::cli
