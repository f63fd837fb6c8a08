#include "cli/events.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/backoff.h"
#include "cli/fields.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/reconnect.h"
#include "cli/sse.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kEventReconnectsMax = 120;  // in a row: about ten minutes
constexpr Duration kSilenceMax = Duration::seconds(45);
constexpr std::uint32_t kEventsPage = 500;

std::string event_line(const Json& event, bool wide) {
  const std::string subject = json_text(event, "subject");
  std::string line = fmt::format("{:>8}  {:<27}  {:<17}  {}", json_int(event, "seq"),
                                 json_text(event, "at"), printable(json_text(event, "type")),
                                 printable(wide ? subject : short_id(subject)));
  const auto add = [&](const char* key, std::string_view before) {
    const std::string value = json_text(event, key);
    if (!value.empty()) line += fmt::format(" {}{}", before, printable(value));
  };
  add("name", "");
  add("target", "on ");
  add("status", "");
  add("actor", "by ");
  const std::string reason = json_text(event, "reason");
  if (!reason.empty()) line += ": " + printable(reason);
  return line;
}

class EventPrinter {
 public:
  explicit EventPrinter(Context& context) : context_(context) {}

  bool print(const Json& event) {
    if (context_.options.format == Format::Json) {
      if (!std::exchange(started_, true)) {
        context_.console.out(
            ndjson_line("version", {{"format_version", std::string(kFormatVersion)}}));
      }
      return context_.console.out(ndjson_line("event", {{"event", event}}));
    }
    if (context_.options.format == Format::Yaml) {
      context_.console.out("---\n");
      print_document(context_, event);
      return !context_.console.out_closed();
    }
    if (context_.options.format == Format::Name) {
      return context_.console.out(json_cell(json_at(event, "seq")) + "\n");
    }
    const bool wide = context_.options.format == Format::Wide;
    std::string line = event_line(event, wide);
    if (!wide && context_.terminal.stdout_width > 0) {
      line = fit(line, context_.terminal.stdout_width, context_.terminal.utf8);
    }
    return context_.console.out(line + "\n");
  }

 private:
  Context& context_;
  bool started_ = false;
};

Query filters_of(const EventOptions& options) {
  Query query;
  if (!options.type.empty()) query.emplace_back("type", options.type);
  if (!options.subject.empty()) query.emplace_back("subject", options.subject);
  return query;
}

// An action may be named by any reference; events carry its UUID.
Outcome<std::string> resolve_subject(ApiClient& client, const std::string& subject) {
  if (subject.empty()) return std::string();
  const Outcome<Json> answer = client.get(action_path(subject));
  if (answer) return json_text(json_at(*answer, "action"), "id");
  if (answer.error().http_status == 404) return subject;  // the name of an agent
  return fail(Failure(answer.error()));
}

// The latest events that match, oldest first, and the number of the newest of the whole log.
struct Latest {
  std::deque<Json> events;
  std::int64_t last = 0;
  std::int64_t next_after = 0;
};

Outcome<Latest> latest_events(ApiClient& client, const EventOptions& options) {
  MUSTER_TRY_ASSIGN(const Json status, client.get("/v1/status"));
  Latest latest;
  latest.last = json_int(status, "last_event");
  latest.next_after = latest.last;
  Json before = latest.last + 1;
  while (before.is_number() && latest.events.size() < options.last) {
    Query query = filters_of(options);
    query.emplace_back("before", std::to_string(before.get<std::int64_t>()));
    query.emplace_back("limit", std::to_string(std::min<std::size_t>(
                                    options.last - latest.events.size(), kEventsPage)));
    MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/events", query));
    const Json& events = json_at(answer, "events");
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      latest.events.push_front(*event);
    }
    before = json_at(answer, "next_before");
  }
  return latest;
}

// Pages that a filter left short are put together.
Outcome<Latest> events_after(ApiClient& client, const EventOptions& options, std::uint64_t after) {
  Latest found;
  while (found.events.size() < kEventsPage) {
    Query query = filters_of(options);
    query.emplace_back("after", std::to_string(after));
    query.emplace_back("limit", std::to_string(kEventsPage - found.events.size()));
    MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/events", query));
    for (const Json& event : json_at(answer, "events")) found.events.push_back(event);
    found.last = json_int(answer, "last");
    found.next_after = json_int(answer, "next_after");
    const auto next = static_cast<std::uint64_t>(found.next_after);
    if (next <= after || std::cmp_greater_equal(next, found.last)) break;
    after = next;
  }
  return found;
}

Outcome<ExitCode> print_page(Context& context, const Latest& found) {
  if (wants_document(context)) {
    Json events = Json::array();
    for (const Json& event : found.events) events.push_back(event);
    print_document(
        context,
        {{"events", std::move(events)}, {"next_after", found.next_after}, {"last", found.last}});
    return ExitCode::Ok;
  }
  EventPrinter printer(context);
  for (const Json& event : found.events) {
    if (!printer.print(event)) return ExitCode::Ok;
  }
  if (found.events.empty()) context.console.say("no events\n");
  return ExitCode::Ok;
}

Outcome<ExitCode> follow_events(Context& context, ApiClient& client, const EventOptions& options,
                                EventPrinter& printer, std::uint64_t after) {
  catch_interrupts();
  std::uint32_t failures = 0;
  while (true) {
    SseParser parser;
    Timestamp heard = context.environment.now();
    bool closed = false;
    StreamRequest request;
    request.path = "/v1/events";
    request.query = filters_of(options);
    request.query.emplace_back("after", std::to_string(after));
    request.headers = {{"Accept", "text/event-stream"}};
    request.cancelled = [&] {
      return context.environment.interrupted() || context.environment.now() - heard > kSilenceMax;
    };
    request.on_data = [&](std::string_view bytes) {
      heard = context.environment.now();
      failures = 0;
      const Result<bool> fed = parser.feed(bytes, [&](const SseEvent& sse) {
        const Result<Json> event = parse_json(sse.data);
        if (!event || sse.type == "problem") return true;
        after = static_cast<std::uint64_t>(json_int(*event, "seq"));
        closed = !printer.print(*event);
        return !closed;
      });
      return fed && *fed;
    };
    const Outcome<http::ClientResponse> end = client.stream(request);
    if (context.environment.interrupted() || closed) return ExitCode::Ok;
    if (!end) {
      const Failure& failure = end.error();
      const bool again = failure.exit == ExitCode::Unreachable || failure.http_status >= 500;
      if (!again || failures >= kEventReconnectsMax) return fail(Failure(failure));
    }
    if (++failures == 1) context.console.say("connection lost; connecting again\n");
    context.environment.sleep(kReconnect.delay(failures));
  }
}

}  // namespace

Outcome<ExitCode> print_events(Context& context, ApiClient& client, const EventOptions& given) {
  EventOptions options = given;
  MUSTER_TRY_ASSIGN(options.subject, resolve_subject(client, given.subject));
  EventPrinter printer(context);
  if (options.after) {
    if (options.follow) return follow_events(context, client, options, printer, *options.after);
    MUSTER_TRY_ASSIGN(const Latest found, events_after(client, options, *options.after));
    MUSTER_TRY_ASSIGN(const ExitCode exit, print_page(context, found));
    if (found.events.size() == kEventsPage && context.options.is_table()) {
      context.console.say(fmt::format("Next page: muster events --after {}\n",
                                      json_int(found.events.back(), "seq")));
    }
    return exit;
  }
  MUSTER_TRY_ASSIGN(const Latest latest, latest_events(client, options));
  if (!options.follow) return print_page(context, latest);
  for (const Json& event : latest.events) {
    if (!printer.print(event)) return ExitCode::Ok;
  }
  return follow_events(context, client, options, printer, static_cast<std::uint64_t>(latest.last));
}

}  // namespace muster::cli
