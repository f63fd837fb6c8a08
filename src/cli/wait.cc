#include "cli/wait.h"

#include <algorithm>

#include "base/backoff.h"
#include "cli/action_views.h"
#include "cli/fields.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kExplainedFailuresMax = 5;
constexpr std::size_t kTailLines = 3;
constexpr std::size_t kTailBytes = 4096;
constexpr std::size_t kTailPagesMax = 64;
constexpr std::uint32_t kResolveAttempts = 5;
constexpr Backoff kResolveBackoff = {Duration::millis(200), Duration::seconds(2)};

// A reference is looked up a few times, so that a wait that starts while the controller restarts
// does not end at once.
Outcome<Json> resolve(Context& context, ApiClient& client, const std::string& ref) {
  for (std::uint32_t attempt = 1;; ++attempt) {
    Outcome<Json> answer = client.get(action_path(ref));
    const bool again = !answer && answer.error().exit == ExitCode::Unreachable &&
                       attempt < kResolveAttempts && !context.environment.interrupted();
    if (!again) return answer;
    const Duration delay = kResolveBackoff.delay(attempt);
    context.console.say(fmt::format("{}; trying again in {}\n", printable(answer.error().detail),
                                    format_duration(delay)));
    context.environment.sleep(delay);
  }
}

// The end of what the action printed; empty where that cannot be had, since this only adds to a
// report that is complete without it.
std::string output_tail(ApiClient& client, const std::string& id) {
  std::string tail;
  std::string offset = "0";
  for (std::size_t page = 0; page < kTailPagesMax; ++page) {
    Outcome<http::ClientResponse> answer =
        client.fetch(action_path(id, "/logs"), {{"offset", offset}});
    if (!answer || answer->body.empty()) break;
    tail += answer->body;
    if (tail.size() > kTailBytes) tail.erase(0, tail.size() - kTailBytes);
    offset = answer->header("x-muster-log-offset");
    if (offset.empty() || answer->header("x-muster-log-end") == "true") break;
  }
  return tail;
}

void explain_failures(Context& context, ApiClient& client, const WatchSet& set) {
  std::size_t explained = 0;
  for (const WatchedAction& action : set.actions()) {
    const bool bad = action.status == "FAILED" || action.status == "LOST";
    if (!bad || explained == kExplainedFailuresMax) continue;
    ++explained;
    std::string text =
        fmt::format("{} {} {}: {}\n",
                    paint(glyph_of(action.status, context.terminal.utf8), Style::Bad,
                          context.terminal.stderr_color),
                    printable(action.label()), action.status,
                    action.reason.empty() ? "no reason given" : printable(action.reason));
    const std::size_t columns =
        context.terminal.stderr_width > 8 ? context.terminal.stderr_width - 5 : std::size_t{200};
    const std::vector<std::string> lines =
        tail_lines(output_tail(client, action.id), kTailLines, columns);
    for (const std::string& line : lines) text += fmt::format("  | {}\n", line);
    text += fmt::format("  muster {} {}\n", lines.empty() ? "actions show" : "logs", action.id);
    context.console.say(text);
  }
}

// The last answer of every action, whole where documents are printed; the events only told the
// status.
void refresh_documents(const Context& context, ApiClient& client, WatchSet& set) {
  std::vector<std::string> ids;
  for (const WatchedAction& action : set.actions()) ids.push_back(action.id);
  if (context.options.is_table()) {
    Outcome<std::vector<std::string>> missing =
        refresh_rows(client, set, ids, [](const WatchedAction*) {});
    if (missing) ids = std::move(*missing);
  }
  if (context.options.format == Format::Name) return;
  for (const std::string& id : ids) {
    const Outcome<Json> answer = client.get(action_path(id));
    if (answer) set.apply_snapshot(json_at(*answer, "action"));
  }
}

void print_results(Context& context, const WatchSet& set, ExitCode exit) {
  if (context.options.format == Format::Json) {
    for (const WatchedAction& action : set.actions()) {
      context.console.out(ndjson_line("result", {{"action", action.document}}));
    }
    const Tally tally = set.tally();
    context.console.out(ndjson_line("summary", {{"total", tally.total()},
                                                {"succeeded", tally.succeeded},
                                                {"failed", tally.failed},
                                                {"lost", tally.lost},
                                                {"cancelled", tally.cancelled},
                                                {"unknown", tally.unknown},
                                                {"unfinished", tally.unfinished},
                                                {"exit_code", static_cast<int>(exit)}}));
    return;
  }
  Json actions = Json::array();
  for (const WatchedAction& action : set.actions()) actions.push_back(action.document);
  if (context.options.format == Format::Yaml) {
    print_document(context, {{"actions", std::move(actions)}});
  } else if (context.options.format == Format::Name) {
    for (const WatchedAction& action : set.actions()) context.console.out(action.id + "\n");
  } else {
    print_action_results(context, set);
  }
}

ExitCode end_needs_approval(Context& context, const WatchSet& set) {
  for (const WatchedAction& action : set.actions()) {
    if (action.status != "PENDING_APPROVE") continue;
    context.console.warn(fmt::format("{} needs approval\nNext: muster actions approve {}\n",
                                     printable(action.label()), action.id));
  }
  return ExitCode::NeedsApproval;
}

}  // namespace

std::string wait_command_for(const std::vector<std::string>& ids) {
  constexpr std::size_t kIdsMax = 4;
  std::string command = "muster actions wait";
  for (std::size_t i = 0; i < std::min(ids.size(), kIdsMax); ++i) command += " " + ids[i];
  if (ids.size() > kIdsMax) command += " ...";
  return command;
}

Outcome<ExitCode> wait_and_report(Context& context, ApiClient& client, WatchSet& set,
                                  const WaitOptions& options) {
  catch_interrupts();
  const std::unique_ptr<Progress> progress = make_progress(context);
  for (const WatchedAction& action : set.actions()) {
    progress->changed(action, nullptr, context.environment.now());
    if (action.status == "PENDING_APPROVE" && !options.stop_at_approval) {
      progress->note(
          fmt::format("{} needs approval: muster actions approve {}", action.label(), action.id));
    }
  }
  Waiter waiter(context, client, set, *progress, options);
  MUSTER_TRY_ASSIGN(const WaitEnd end, waiter.run());
  const std::vector<std::string> unfinished = set.unfinished_ids();
  ExitCode exit = ExitCode::Ok;
  switch (end) {
    case WaitEnd::Detached:
      context.console.warn(
          fmt::format("detached; {} going. {}\n",
                      unfinished.size() == 1 ? "the action keeps" : "the actions keep",
                      "To wait again: " + wait_command_for(unfinished)));
      // Nothing has succeeded yet, so what follows with && must not go on.
      return context.environment.interrupted() ? ExitCode::Interrupted : ExitCode::WaitTimeout;
    case WaitEnd::Timeout:
      context.console.warn(fmt::format("timed out after {}; to wait again: {}\n",
                                       format_duration(options.timeout.value_or(Duration{})),
                                       wait_command_for(unfinished)));
      exit = ExitCode::WaitTimeout;
      break;
    case WaitEnd::NeedsApproval:
      exit = end_needs_approval(context, set);
      break;
    case WaitEnd::Done:
      exit = exit_code_of(set.tally());
      break;
  }
  refresh_documents(context, client, set);
  print_results(context, set, exit);
  if (context.options.is_table()) {
    explain_failures(context, client, set);
    context.console.say(summary_of(set.tally()) + "\n");
  }
  return exit;
}

Outcome<ExitCode> wait(Context& context, ApiClient& client, const WaitCommandOptions& options) {
  WaitOptions wait_options;
  wait_options.stop_at_approval = options.no_wait_approval;
  if (!options.timeout.empty()) {
    const Result<Duration> timeout = parse_duration(options.timeout);
    if (!timeout) return usage("--timeout: {}", timeout.error().message);
    wait_options.timeout = *timeout;
  }
  WatchSet set;
  for (const std::string& ref : options.refs) {
    MUSTER_TRY_ASSIGN(const Json answer, resolve(context, client, ref));
    set.apply_snapshot(json_at(answer, "action"));
  }
  return wait_and_report(context, client, set, wait_options);
}

}  // namespace muster::cli
