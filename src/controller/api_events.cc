#include <algorithm>
#include <string>

#include "base/number.h"
#include "controller/api_state.h"
#include "controller/event_json.h"

namespace muster::controller {
namespace {

constexpr std::size_t kPageDefault = 100;
constexpr std::size_t kPageMax = 1'000;
// A filter that matches little must not make one request read the whole log.
constexpr std::size_t kScanMax = 20'000;
constexpr std::uint64_t kSeqMax = (std::uint64_t{1} << 63) - 1;

struct EventsQuery {
  std::optional<std::uint64_t> after;
  std::optional<std::uint64_t> before;
  std::size_t limit = kPageDefault;
  EventFilter filter;
};

Result<EventsQuery> decode_events_query(std::string_view raw) {
  MUSTER_TRY_ASSIGN(const auto query,
                    http::Query::parse(raw, {"after", "before", "limit", "type", "subject"}));
  EventsQuery result;
  MUSTER_TRY_ASSIGN(result.after, query_number(query, "after", 0, kSeqMax));
  MUSTER_TRY_ASSIGN(result.before, query_number(query, "before", 1, kSeqMax));
  if (result.after && result.before) {
    return fail(
        http::query_error("before", ErrorCode::InvalidValue,
                          "before goes back from an event and after forward; give one of them"));
  }
  MUSTER_TRY_ASSIGN(const auto limit, query_number(query, "limit", 1, kPageMax));
  result.limit = static_cast<std::size_t>(limit.value_or(kPageDefault));
  result.filter.type_prefixes = query.all("type");
  result.filter.subjects = query.all("subject");
  return result;
}

bool wants_stream(const CallPtr& call) {
  return call->header("accept").find("text/event-stream") != std::string::npos;
}

// The header wins over the query: a client that reconnects repeats the URL of its first request.
Result<std::optional<std::uint64_t>> last_event_id(const CallPtr& call) {
  const std::string text = call->header("last-event-id");
  if (text.empty()) return std::nullopt;
  const auto seq = whole_number<std::uint64_t>(text);
  if (!seq || *seq > kSeqMax) {
    return fail(ErrorCode::InvalidValue,
                "the header Last-Event-ID is '{}', it must be the id of an event, a whole number",
                text.substr(0, 64));
  }
  return seq;
}

void stream(const CallPtr& call, EventsQuery query) {
  MUSTER_CALL_TRY_ASSIGN(call, const auto resumed, last_event_id(call));
  if (resumed) query.after = resumed;
  const Result<void> subscribed =
      call->api.context.events.subscribe(query.after, std::move(query.filter), [&call] {
        http::Response head;
        head.headers = {{"Content-Type", "text/event-stream"},
                        {"Cache-Control", "no-store"},
                        {"X-Accel-Buffering", "no"}};
        return call->responder->stream(std::move(head));
      });
  if (!subscribed) call->refuse(subscribed.error());
}

void page(const CallPtr& call, const EventsQuery& query) {
  store::Store& store = call->api.store();
  const std::uint64_t published = call->api.context.events.last_published();
  std::uint64_t cursor = query.after.value_or(0);
  std::uint64_t last = published;
  std::size_t scanned = 0;
  Json events = Json::array();
  const bool all = query.filter.type_prefixes.empty() && query.filter.subjects.empty();
  const std::size_t read = all ? query.limit : kPageMax;
  while (events.size() < query.limit && scanned < kScanMax) {
    MUSTER_CALL_TRY_ASSIGN(call, const store::EventPage rows, store.events(cursor, read));
    if (scanned == 0 && query.after) {
      if (const auto position = check_event_position(cursor, rows, published); !position) {
        return call->refuse(position.error());
      }
    }
    last = std::max(last, rows.last);
    if (rows.events.empty()) break;
    for (const store::EventRow& row : rows.events) {
      const core::Event event = event_of_row(row);
      cursor = row.seq;
      if (query.filter.matches(event)) events.push_back(event_json(event));
      if (events.size() == query.limit) break;
    }
    scanned += rows.events.size();
  }
  call->answer(200, {{"events", std::move(events)}, {"next_after", cursor}, {"last", last}});
}

// The latest events before one, still in the order in which they happened.
void page_back(const CallPtr& call, const EventsQuery& query) {
  store::Store& store = call->api.store();
  std::uint64_t cursor = *query.before;  // of what is older nothing is known yet
  std::uint64_t last = call->api.context.events.last_published();
  std::size_t scanned = 0;
  std::vector<Json> found;  // newest first
  bool more = true;
  while (more && found.size() < query.limit && scanned < kScanMax) {
    const std::uint64_t from = cursor > kPageMax + 1 ? cursor - 1 - kPageMax : 0;
    MUSTER_CALL_TRY_ASSIGN(call, const store::EventPage rows, store.events(from, kPageMax));
    last = std::max(last, rows.last);
    // Beyond the end of the log there is nothing to step through.
    if (cursor > rows.last + 1) {
      cursor = rows.last + 1;
      more = rows.last != 0;
      continue;
    }
    std::uint64_t oldest = cursor;
    for (auto row = rows.events.rbegin(); row != rows.events.rend(); ++row) {
      if (row->seq >= cursor) continue;
      const core::Event event = event_of_row(*row);
      oldest = row->seq;
      ++scanned;
      if (query.filter.matches(event)) found.push_back(event_json(event));
      if (found.size() == query.limit) break;
    }
    more = oldest < cursor && oldest > rows.first_kept;
    cursor = oldest;
  }
  Json events = Json::array();
  for (auto event = found.rbegin(); event != found.rend(); ++event) {
    events.push_back(std::move(*event));
  }
  call->answer(200, {{"events", std::move(events)},
                     {"next_before", more ? Json(cursor) : Json(nullptr)},
                     {"last", last}});
}

void events(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, EventsQuery query, decode_events_query(call->request.query));
  if (wants_stream(call)) {
    if (query.before) {
      return call->refuse(http::query_error("before", ErrorCode::InvalidValue,
                                            "before is for a page; a stream goes on from after"));
    }
    stream(call, std::move(query));
  } else if (query.before) {
    page_back(call, query);
  } else {
    page(call, query);
  }
}

}  // namespace

void add_event_routes(Routes& routes) { routes.add("GET", "/v1/events", Permission::Read, events); }

}  // namespace muster::controller
