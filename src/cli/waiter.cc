#include "cli/waiter.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/backoff.h"
#include "cli/fields.h"
#include "cli/reconnect.h"
#include "cli/sse.h"

namespace muster::cli {
namespace {

// The stream ended for a reason that another connection may cure.
bool is_transient(const Failure& failure) {
  return failure.exit == ExitCode::Unreachable || failure.code == "compacted" ||
         failure.http_status == 429 || failure.http_status >= 500;
}

}  // namespace

Outcome<std::vector<std::string>> refresh_rows(
    ApiClient& client, WatchSet& set, const std::vector<std::string>& ids,
    const std::function<void(const WatchedAction*)>& changed) {
  constexpr std::size_t kFew = 8;     // a request each: their whole answers are wanted
  constexpr std::size_t kPage = 500;  // what the controller takes
  if (ids.size() <= kFew) return ids;
  std::vector<std::string> missing;
  for (std::size_t first = 0; first < ids.size(); first += kPage) {
    const std::size_t last = std::min(first + kPage, ids.size());
    std::string list;
    for (std::size_t i = first; i < last; ++i) list += (list.empty() ? "" : ",") + ids[i];
    MUSTER_TRY_ASSIGN(const Json answer, client.get("/v1/actions", {{"ids", list}}));
    std::set<std::string> found;
    for (const Json& row : json_at(answer, "actions")) {
      found.insert(json_text(row, "id"));
      changed(set.apply_snapshot(row));
    }
    for (std::size_t i = first; i < last; ++i) {
      if (!found.contains(ids[i])) missing.push_back(ids[i]);
    }
  }
  return missing;
}

Waiter::Waiter(Context& context, ApiClient& client, WatchSet& set, Progress& progress,
               const WaitOptions& options)
    : context_(context),
      client_(client),
      set_(set),
      progress_(progress),
      options_(options),
      started_(context.environment.now()) {}

Duration Waiter::remaining() const {
  if (!options_.timeout) return Duration::days(36'500);
  return started_ + *options_.timeout - context_.environment.now();
}

std::optional<WaitEnd> Waiter::ended() const {
  if (set_.all_final()) return WaitEnd::Done;
  if (options_.stop_at_approval && set_.stuck_at_approval()) return WaitEnd::NeedsApproval;
  if (context_.environment.interrupted() || context_.console.out_closed()) {
    return WaitEnd::Detached;
  }
  if (remaining().us <= 0) return WaitEnd::Timeout;
  return std::nullopt;
}

Outcome<WaitEnd> Waiter::run() {
  while (true) {
    Outcome<std::int64_t> after = take_snapshot();
    if (after && !is_over()) {
      Outcome<void> followed = follow(*after);
      if (!followed) after = fail(std::move(followed.error()));
    }
    if (const std::optional<WaitEnd> end = ended()) {
      progress_.finish();
      return *end;
    }
    if (!after) {
      MUSTER_TRY(back_off(after.error()));
    } else {
      // A clean end of the stream, as of a controller that is being stopped.
      MUSTER_TRY(back_off(Failure(Error{ErrorCode::Unavailable, "the event stream ended"})));
    }
  }
}

Outcome<void> Waiter::back_off(const Failure& failure) {
  if (!is_transient(failure)) {
    progress_.finish();
    return fail(Failure(failure));
  }
  const Timestamp now = context_.environment.now();
  if (!unreachable_since_.is_set()) unreachable_since_ = now;
  if (now - unreachable_since_ > kGiveUpAfter) {
    progress_.finish();
    return fail(Failure(failure));
  }
  ++failures_;
  Duration delay = kReconnect.delay(failures_);
  // Half fixed, half random: never at once, never all clients together.
  delay = Duration::micros(delay.us / 2 +
                           static_cast<std::int64_t>(context_.environment.random() %
                                                     static_cast<std::uint64_t>(delay.us / 2 + 1)));
  delay = std::min(delay, std::max(remaining(), Duration::millis(1)));
  if (failures_ == 1) {
    progress_.note(
        fmt::format("connection lost ({}); the actions go on, connecting again", failure.detail));
  }
  context_.environment.sleep(delay);
  return {};
}

Outcome<std::int64_t> Waiter::take_snapshot() {
  // The place in the log first: what happens between the two requests is in the snapshot and comes
  // again as an event that is no longer news.
  MUSTER_TRY_ASSIGN(const Json status, client_.get("/v1/status"));
  const std::int64_t last = json_int(status, "last_event");
  if (std::exchange(failures_, 0) > 0) progress_.note("connected again");
  const auto show = [this](const WatchedAction* changed) {
    if (changed != nullptr) progress_.changed(*changed, nullptr, context_.environment.now());
  };
  MUSTER_TRY_ASSIGN(const std::vector<std::string> missing,
                    refresh_rows(client_, set_, set_.unfinished_ids(), show));
  for (const std::string& id : missing) {
    Outcome<Json> answer = client_.get(action_path(id));
    if (answer) {
      show(set_.apply_snapshot(json_at(*answer, "action")));
    } else if (answer.error().http_status == 404) {
      show(set_.mark_unknown(id));
    } else {
      return fail(std::move(answer.error()));
    }
    if (context_.environment.interrupted()) break;
  }
  unreachable_since_ = {};
  progress_.tick(set_, context_.environment.now());
  return last;
}

Outcome<void> Waiter::follow(std::int64_t after) {
  StreamRequest request;
  request.path = "/v1/events";
  request.query = {{"after", std::to_string(after)}, {"type", "action."}};
  const std::vector<std::string> ids = set_.unfinished_ids();
  if (ids.size() == 1) request.query.emplace_back("subject", ids.front());
  request.headers = {{"Accept", "text/event-stream"}};
  if (options_.timeout) request.timeout = remaining();

  Timestamp heard = context_.environment.now();
  SseParser parser;
  std::optional<Error> broken;
  request.cancelled = [&] {
    const Timestamp now = context_.environment.now();
    progress_.tick(set_, now);
    return is_over() || now - heard > kSilenceMax;
  };
  request.on_data = [&](std::string_view bytes) {
    heard = context_.environment.now();
    Result<bool> fed = parser.feed(bytes, [&](const SseEvent& sse) {
      const Result<Json> event = parse_json(sse.data);
      if (!event) return true;
      const WatchedAction* changed = set_.apply_event(*event);
      if (changed != nullptr) progress_.changed(*changed, &*event, heard);
      return !is_over();
    });
    progress_.tick(set_, heard);
    if (!fed) broken = fed.error();
    return fed && *fed;
  };
  MUSTER_TRY_ASSIGN(const http::ClientResponse response, client_.stream(request));
  if (broken) return fail(std::move(*broken));
  return {};
}

}  // namespace muster::cli
