#include "agent/local_logs.h"

#include <utility>

namespace muster::agent {
namespace {

constexpr std::size_t kFollowChunk = 64 << 10;
// A client that reads slowly is waited for before it has this much unsent.
constexpr std::size_t kUnsentMax = std::size_t{1} << 20;
constexpr Duration kRoomDelay = Duration::millis(50);

constexpr const char* kTextType = "text/plain; charset=utf-8";

// Lives from answer to answer: each request to the loop keeps it alive.
class LogFollow : public std::enable_shared_from_this<LogFollow> {
 public:
  LogFollow(AgentLoop& loop, const core::ActionId& id, const LogQuery& query,
            std::shared_ptr<http::Stream> stream)
      : loop_(loop),
        id_(id),
        attempt_(query.attempt),
        offset_(query.offset),
        stream_(std::move(stream)) {}

  void next() {
    if (!stream_->open()) return;
    const bool room = stream_->queued() < kUnsentMax;
    loop_.read_output({.id = id_,
                       .attempt = attempt_,
                       .offset = offset_,
                       .limit = kFollowChunk,
                       .wait = true,
                       .delay = room ? Duration{} : kRoomDelay,
                       .from_link = false,
                       .reply = [self = shared_from_this()](Result<exec::OutputChunk> chunk) {
                         self->take(std::move(chunk));
                       }});
  }

 private:
  void take(Result<exec::OutputChunk> chunk) {
    if (!chunk) return stream_->close();
    offset_ += chunk->data.size();
    if (!chunk->data.empty() && !stream_->write(std::move(chunk->data))) return;
    if (chunk->end) return stream_->close();
    next();
  }

  AgentLoop& loop_;
  const core::ActionId id_;
  const std::uint32_t attempt_;
  std::uint64_t offset_;
  const std::shared_ptr<http::Stream> stream_;
};

}  // namespace

void respond_with_log(AgentLoop& loop, const core::ActionId& id, const LogQuery& query,
                      const http::Request& request,
                      const std::shared_ptr<http::Responder>& responder) {
  loop.read_output(
      {.id = id,
       .attempt = query.attempt,
       .offset = query.offset,
       .limit = query.limit,
       .wait = false,
       .delay = {},
       .from_link = false,
       .reply = [request, responder, offset = query.offset](Result<exec::OutputChunk> chunk) {
         if (!chunk) return responder->respond(http::problem(chunk.error(), request));
         const std::uint64_t next = offset + chunk->data.size();
         http::Response response;
         response.headers = {{"Content-Type", kTextType},
                             {"X-Muster-Log-Offset", std::to_string(next)},
                             {"X-Muster-Log-End", chunk->end ? "true" : "false"},
                             {"X-Muster-Log-Source", "agent"},
                             {"X-Muster-Log-Truncated", chunk->truncated ? "true" : "false"}};
         response.body = std::move(chunk->data);
         responder->respond(std::move(response));
       }});
}

void follow_log(AgentLoop& loop, const core::ActionId& id, const LogQuery& query,
                const std::shared_ptr<http::Responder>& responder) {
  http::Response head;
  head.headers = {{"Content-Type", kTextType}, {"X-Muster-Log-Source", "agent"}};
  std::make_shared<LogFollow>(loop, id, query, responder->stream(std::move(head)))->next();
}

}  // namespace muster::agent
