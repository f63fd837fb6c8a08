#include <algorithm>
#include <memory>
#include <string>

#include "controller/api_log_record.h"
#include "controller/api_ref.h"
#include "controller/api_state.h"
#include "store/record_codec.h"

// The output of actions: pulled from the agent that has it, or what the record kept of it.

namespace muster::controller {
namespace {

constexpr std::size_t kChunkMax = 256 << 10;  // of one request to an agent
constexpr std::size_t kBodyDefault = std::size_t{1} << 20;
constexpr std::size_t kBodyMax = std::size_t{4} << 20;
constexpr std::size_t kUnsentMax = std::size_t{1} << 20;
constexpr std::uint64_t kOffsetMax = std::uint64_t{1} << 62;
// Waits of a follower: for a client that reads slowly, for an agent that has nothing yet, for one
// that is away.
constexpr Duration kRoomDelay = Duration::millis(50);
constexpr Duration kEmptyDelay = Duration::millis(200);
constexpr Duration kAwayDelay = Duration::seconds(1);

struct LogQuery {
  std::uint64_t offset = 0;
  std::size_t limit = kBodyDefault;
  std::uint32_t attempt = 0;
  bool follow = false;
};

Result<LogQuery> decode_log_query(std::string_view raw) {
  MUSTER_TRY_ASSIGN(const auto query,
                    http::Query::parse(raw, {"offset", "limit", "attempt", "follow"}));
  LogQuery result;
  MUSTER_TRY_ASSIGN(const auto offset, query_number(query, "offset", 0, kOffsetMax));
  MUSTER_TRY_ASSIGN(const auto limit, query_number(query, "limit", 1, kBodyMax));
  MUSTER_TRY_ASSIGN(const auto attempt, query_number(query, "attempt", 1, 0xFFFF'FFFF));
  MUSTER_TRY_ASSIGN(result.follow, query_flag(query, "follow"));
  result.offset = offset.value_or(0);
  result.limit = static_cast<std::size_t>(limit.value_or(kBodyDefault));
  result.attempt = static_cast<std::uint32_t>(attempt.value_or(0));
  return result;
}

void respond_with(const CallPtr& call, OutputPart part, std::string_view source) {
  http::Response response;
  response.headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"X-Muster-Log-Offset", std::to_string(part.next)},
                      {"X-Muster-Log-End", part.end ? "true" : "false"},
                      {"X-Muster-Log-Source", std::string(source)},
                      {"X-Muster-Log-Truncated", part.truncated ? "true" : "false"}};
  response.body = std::move(part.data);
  call->responder->respond(std::move(response));
}

// The record keeps the tail of one attempt: the last that has ended.
bool record_has(const core::Action& action, std::uint32_t attempt) {
  return attempt == 0 || attempt == action.attempt ||
         (!action.is_final() && attempt + 1 == action.attempt);
}

Error no_longer_kept(const core::Action& action, std::uint32_t attempt) {
  return Error{ErrorCode::NotFound,
               fmt::format("the output of attempt {} is no longer kept; the newest attempt is {}",
                           attempt, action.attempt)};
}

// Reads up to the limit from the agent, chunk by chunk.
class LogRead : public std::enable_shared_from_this<LogRead> {
 public:
  LogRead(CallPtr call, core::ActionPtr action, const LogQuery& query)
      : call_(std::move(call)), action_(std::move(action)), query_(query) {
    part_.next = query.offset;
  }

  void step() {
    const std::size_t room = query_.limit - part_.data.size();
    call_->api.context.logs.fetch(
        action_->spec->target,
        {.request = 0,
         .id = action_->id(),
         .attempt = query_.attempt,
         .offset = part_.next,
         .limit = static_cast<std::uint32_t>(std::min(room, kChunkMax)),
         .wait = false},
        [self = shared_from_this()](Result<rpc::LogChunk> chunk) {
          auto kept = std::make_shared<Result<rpc::LogChunk>>(std::move(chunk));
          self->call_->api.workers.post([self, kept] { self->take(*kept); });
        });
  }

 private:
  void take(const Result<rpc::LogChunk>& chunk) {
    if (!chunk || !chunk->known) {
      // What came before an agent went away is still right; the client asks again for the rest.
      if (!part_.data.empty()) return respond_with(call_, std::move(part_), "agent");
      if (!record_has(*action_, query_.attempt)) {
        return call_->refuse(chunk ? no_longer_kept(*action_, query_.attempt) : chunk.error());
      }
      return respond_with(
          call_, recorded_output(*action_, query_.attempt, query_.offset, query_.limit), "record");
    }
    const std::size_t room = query_.limit - part_.data.size();
    const std::string_view data = std::string_view(chunk->data).substr(0, room);
    part_.data += data;
    part_.next = chunk->offset + data.size();
    part_.truncated = chunk->truncated;
    part_.end = chunk->end && data.size() == chunk->data.size();
    if (part_.end || data.empty() || part_.data.size() >= query_.limit) {
      return respond_with(call_, std::move(part_), "agent");
    }
    step();
  }

  const CallPtr call_;
  const core::ActionPtr action_;
  const LogQuery query_;
  OutputPart part_;
};

// Streams output as it comes, over retries and through absences of the agent, until the action has
// ended or the client leaves. With a given attempt, until that one has ended.
class LogFollow : public std::enable_shared_from_this<LogFollow> {
 public:
  LogFollow(ApiState& api, core::ActionPtr action, const LogQuery& query,
            std::shared_ptr<http::Stream> stream)
      : api_(api),
        action_(std::move(action)),
        one_attempt_(query.attempt != 0),
        attempt_(one_attempt_ ? query.attempt : action_->attempt),
        offset_(query.offset),
        stream_(std::move(stream)) {}

  void step() {
    if (!stream_->open()) return;
    if (stream_->queued() > kUnsentMax) return later(kRoomDelay, &LogFollow::step);
    if (action_->spec->side == core::Side::Engine) return settle(kEmptyDelay);
    api_.context.logs.fetch(action_->spec->target,
                            {.request = 0,
                             .id = action_->id(),
                             .attempt = attempt_,
                             .offset = offset_,
                             .limit = kChunkMax,
                             .wait = true},
                            [self = shared_from_this()](Result<rpc::LogChunk> chunk) {
                              auto kept = std::make_shared<Result<rpc::LogChunk>>(std::move(chunk));
                              self->api_.workers.post([self, kept] { self->take(*kept); });
                            });
  }

 private:
  void take(const Result<rpc::LogChunk>& chunk) {
    if (!chunk) return settle(kAwayDelay);
    if (!chunk->known) return settle(kEmptyDelay);
    if (!chunk->data.empty() && !stream_->write(chunk->data)) return;
    offset_ = std::max(offset_, chunk->offset + chunk->data.size());
    if (chunk->end) return attempt_ended();
    // An agent that has nothing holds its answer back; the delay is for one that does not.
    if (chunk->data.empty()) return later(kEmptyDelay, &LogFollow::step);
    step();
  }

  // The agent has no (more) output: the record says whether any can follow.
  void attempt_ended() {
    if (!stream_->open()) return;
    if (one_attempt_ || !refresh() || action_->is_final()) return stream_->close();
    if (action_->attempt != attempt_) return next_attempt();
    later(kEmptyDelay, &LogFollow::attempt_ended);
  }

  // The agent is away, or does not know the action (yet, or any more).
  void settle(Duration delay) {
    if (!stream_->open()) return;
    if (!refresh()) return stream_->close();
    if (action_->is_final()) {
      // Whatever its size: the tail in a record is bounded.
      OutputPart part = recorded_output(*action_, one_attempt_ ? attempt_ : 0, offset_, kBodyMax);
      if (!part.data.empty()) stream_->write(std::move(part.data));
      return stream_->close();
    }
    if (!one_attempt_ && action_->attempt != attempt_) return next_attempt();
    later(delay, &LogFollow::step);
  }

  void next_attempt() {
    attempt_ = action_->attempt;
    offset_ = 0;
    later(kEmptyDelay, &LogFollow::step);
  }

  // False: the record is gone or cannot be read.
  bool refresh() {
    const auto value = api_.store().get(store::Space::Action, action_->id().bytes());
    if (!value || !*value) return false;
    Result<core::ActionPtr> action = store::decode_action(**value);
    if (!action) return false;
    action_ = *std::move(action);
    return true;
  }

  void later(Duration delay, void (LogFollow::*next)()) {
    api_.timers.after(delay, [self = shared_from_this(), next] {
      self->api_.workers.post([self, next] { (*self.*next)(); });
    });
  }

  ApiState& api_;
  core::ActionPtr action_;
  const bool one_attempt_;
  std::uint32_t attempt_;
  std::uint64_t offset_;
  const std::shared_ptr<http::Stream> stream_;
};

void logs(const CallPtr& call) {
  MUSTER_CALL_TRY_ASSIGN(call, const LogQuery query, decode_log_query(call->request.query));
  MUSTER_CALL_TRY_ASSIGN(call, const core::ActionPtr action,
                         resolve_action(call->api.store(), call->param("ref")));
  const bool on_agent = action->spec->side == core::Side::Agent;
  if (query.attempt > action->attempt) {
    return call->refuse(
        Error{ErrorCode::NotFound, fmt::format("there is no attempt {} yet; the newest is {}",
                                               query.attempt, action->attempt)});
  }
  if (!on_agent && !record_has(*action, query.attempt)) {
    return call->refuse(no_longer_kept(*action, query.attempt));
  }
  if (query.follow) {
    http::Response head;
    head.headers = {{"Content-Type", "text/plain; charset=utf-8"},
                    {"Cache-Control", "no-store"},
                    {"X-Muster-Log-Source", on_agent ? "agent" : "record"}};
    std::make_shared<LogFollow>(call->api, action, query, call->responder->stream(std::move(head)))
        ->step();
  } else if (on_agent) {
    std::make_shared<LogRead>(call, action, query)->step();
  } else {
    respond_with(call, recorded_output(*action, query.attempt, query.offset, query.limit),
                 "record");
  }
}

}  // namespace

void add_log_routes(Routes& routes) {
  routes.add("GET", "/v1/actions/{ref}/logs", Permission::Read, logs);
}

}  // namespace muster::controller
