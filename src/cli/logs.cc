#include <algorithm>

#include "base/backoff.h"
#include "base/number.h"
#include "cli/actions.h"
#include "cli/fields.h"
#include "cli/interrupt.h"
#include "cli/reconnect.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kLogReconnectsMax = 60;  // in a row without a byte: about five minutes

Query query_of(const LogOptions& options, std::uint64_t offset) {
  Query query = {{"offset", std::to_string(offset)}};
  if (options.attempt) query.emplace_back("attempt", std::to_string(*options.attempt));
  return query;
}

void tell_gaps(Context& context, const http::ClientResponse& response) {
  const std::string truncated = response.header("x-muster-log-truncated");
  if (!truncated.empty() && truncated != "false" && truncated != "0") {
    context.console.say(
        "the output is not complete: what went beyond its limit, or found no room on the agent's "
        "disk, was not kept\n");
  }
}

Outcome<ExitCode> print_pages(Context& context, ApiClient& client, const LogOptions& options) {
  std::uint64_t offset = options.offset;
  const std::string path = action_path(options.ref, "/logs");
  while (true) {
    MUSTER_TRY_ASSIGN(const http::ClientResponse page,
                      client.fetch(path, query_of(options, offset)));
    if (!context.console.out(page.body)) return ExitCode::Ok;
    const std::uint64_t next = whole_number<std::uint64_t>(page.header("x-muster-log-offset"))
                                   .value_or(offset + page.body.size());
    // An action that still runs has no end yet: what there is now has been printed.
    const bool is_last = page.header("x-muster-log-end") == "true" || page.body.empty();
    if (is_last || next <= offset) {
      tell_gaps(context, page);
      return ExitCode::Ok;
    }
    offset = next;
  }
}

// Follows over lost connections. The controller goes on with the next attempt by itself where one
// follows, so the place is only known within the attempt that the connection began with.
class LogFollower {
 public:
  LogFollower(Context& context, ApiClient& client, const LogOptions& options)
      : context_(context), client_(client), options_(options), offset_(options.offset) {}

  Outcome<ExitCode> run() {
    catch_interrupts();
    while (true) {
      Outcome<void> placed = find_place();
      Outcome<http::ClientResponse> end =
          placed ? stream() : Outcome<http::ClientResponse>(fail(std::move(placed.error())));
      if (context_.environment.interrupted()) {
        context_.console.warn(fmt::format(
            "detached; to follow again: muster logs -f {} --offset {}\n", options_.ref, offset_));
        return ExitCode::Ok;
      }
      if (end || context_.console.out_closed()) {
        if (end) tell_gaps(context_, *end);
        return ExitCode::Ok;
      }
      MUSTER_TRY(back_off(end.error()));
    }
  }

 private:
  Outcome<http::ClientResponse> stream() {
    StreamRequest request;
    request.path = action_path(options_.ref, "/logs");
    request.query = query_of(options_, offset_);
    request.query.emplace_back("follow", "true");
    request.cancelled = [this] { return context_.environment.interrupted(); };
    request.on_data = [this](std::string_view bytes) {
      offset_ += bytes.size();
      failures_ = 0;
      return context_.console.out(bytes);
    };
    return client_.stream(request);
  }

  Outcome<void> find_place() {
    if (options_.attempt) return {};
    MUSTER_TRY_ASSIGN(const Json answer, client_.get(action_path(options_.ref)));
    const std::int64_t attempt = json_int(json_at(answer, "action"), "attempt");
    if (attempt_ && *attempt_ != attempt) {
      offset_ = 0;
      context_.console.say(fmt::format("attempt {} from its start:\n", attempt));
    }
    attempt_ = attempt;
    return {};
  }

  Outcome<void> back_off(const Failure& failure) {
    const bool again = failure.exit == ExitCode::Unreachable || failure.http_status == 503;
    if (!again || ++failures_ > kLogReconnectsMax) return fail(Failure(failure));
    if (failures_ == 1) {
      context_.console.say(
          fmt::format("connection lost ({}); connecting again\n", printable(failure.detail)));
    }
    context_.environment.sleep(kReconnect.delay(failures_));
    return {};
  }

  Context& context_;
  ApiClient& client_;
  const LogOptions& options_;
  std::uint64_t offset_;
  std::optional<std::int64_t> attempt_;
  std::uint32_t failures_ = 0;
};

}  // namespace

Outcome<ExitCode> print_logs(Context& context, ApiClient& client, const LogOptions& options) {
  return options.follow ? LogFollower(context, client, options).run()
                        : print_pages(context, client, options);
}

}  // namespace muster::cli
