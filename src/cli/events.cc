#include "cli/events.h"

#include <algorithm>

#include "base/backoff.h"
#include "cli/fields.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/sse.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr Backoff kReconnect = {Duration::millis(200), Duration::seconds(5)};
constexpr std::uint32_t kReconnectsMax = 120;  // in a row: about ten minutes
constexpr Duration kSilenceMax = Duration::seconds(45);
constexpr std::uint32_t kPage = 500;

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

Outcome<std::uint64_t> start_of(ApiClient& client, const EventOptions& options) {
  if (options.after) return *options.after;
  MUSTER_TRY_ASSIGN(const Json status, client.get("/v1/status"));
  const std::int64_t last = json_int(status, "last_event");
  const std::int64_t kept = json_int(json_at(status, "store"), "events");
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, last - std::min<std::int64_t>(options.last, kept)));
}

Outcome<ExitCode> print_page(Context& context, ApiClient& client, const EventOptions& options,
                             std::uint64_t after) {
  EventPrinter printer(context);
  Query query = filters_of(options);
  query.emplace_back("after", std::to_string(after));
  query.emplace_back("limit", std::to_string(kPage));
  MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/events", query));
  const Json& events = json_at(answer, "events");
  if (context.options.format == Format::Json || context.options.format == Format::Yaml) {
    print_document(context, answer);
    return ExitCode::Ok;
  }
  for (const Json& event : events) {
    if (!printer.print(event)) return ExitCode::Ok;
  }
  if (events.empty()) context.console.say("no events\n");
  if (events.size() == kPage) {
    context.console.say(
        fmt::format("Next page: muster events --after {}\n", json_int(events.back(), "seq")));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> follow_events(Context& context, ApiClient& client, const EventOptions& options,
                                std::uint64_t after) {
  catch_interrupts();
  EventPrinter printer(context);
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
      if (!again || failures >= kReconnectsMax) return fail(Failure(failure));
    }
    if (++failures == 1) context.console.say("connection lost; connecting again\n");
    context.environment.sleep(kReconnect.delay(failures));
  }
}

}  // namespace

Outcome<ExitCode> print_events(Context& context, ApiClient& client, const EventOptions& given) {
  EventOptions options = given;
  MUSTER_TRY_ASSIGN(options.subject, resolve_subject(client, given.subject));
  MUSTER_TRY_ASSIGN(const std::uint64_t after, start_of(client, options));
  return options.follow ? follow_events(context, client, options, after)
                        : print_page(context, client, options, after);
}

}  // namespace muster::cli
