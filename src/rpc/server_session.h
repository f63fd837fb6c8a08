#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rpc/link_counters.h"
#include "rpc/link_server.h"
#include "rpc/outbox.h"
#include "rpc/wire_codec.h"

namespace muster::rpc {

// One agent's stream at the controller.
//
// Life: made when the stream opens, begin() starts it, gRPC drives it by the On... reactions, and
// OnDone, which comes after every other reaction, tells the handler and then the owner, who drops
// it. An end always goes through Finish, which is called once and never while a write is in flight;
// a write that a dead peer will not take is cancelled after a grace time.
//
// Threading: reads and their calls to the handler are serial, because the next read starts only
// after the last was handled. send(), end() and tick() may be called from any thread. gRPC is never
// called with mutex_ held but for TryCancel, which calls nothing back.
class ServerSession final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // Of all sessions; outlives them.
  struct Shared {
    LinkHandler& handler;
    LinkCounters& counters;
    Welcome welcome;
    std::size_t queue_max = 0;
    Duration hello_timeout;
    std::function<void(core::SessionId)> done;  // the session's last act
  };
  enum class Drain { No, Yes };

  ServerSession(core::SessionId id, Shared& shared, grpc::CallbackServerContext& context);

  core::SessionId id() const { return id_; }
  void begin();
  void send(std::string message);
  // As send(), but that it may wait for flush(), so that more can join its frame. True: it is the
  // first since the last flush().
  bool queue(std::string message);
  // As queue(), but nobody waits for it: it leaves with the next message that is sent, when many of
  // its kind have gathered, which answers true, or at its time by tick().
  bool queue_for_later(std::string message);
  void flush();
  // With Drain::Yes what was queued before goes out first. Only the first reason counts.
  void end(grpc::StatusCode code, std::string reason, Drain drain);

  // Whether tick() has something to do; cheap, for a scan over all sessions.
  bool is_due(Duration now) const { return now.us >= due_at_us_.load(std::memory_order_relaxed); }
  void tick(Duration now);

 private:
  struct Ending {
    grpc::StatusCode code;
    std::string reason;
    Drain drain;
    Duration cancel_at;
  };

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  // Handles what was read; false: the stream is ending, read no more.
  bool take_frame();
  bool take_reports(std::vector<core::AgentAction> reports);
  bool take_message(FromAgent message);
  bool take_first(FromAgent& message);
  bool is_ending();
  void push_locked(std::string message);
  void end_locked(grpc::StatusCode code, std::string reason, Drain drain);
  void advance(std::unique_lock<std::mutex> lock);

  // Constant after construction.
  const core::SessionId id_;
  Shared& shared_;
  grpc::CallbackServerContext& context_;  // gone once Finish was called
  const Duration opened_at_;

  // Of the serial reads.
  grpc::ByteBuffer incoming_;
  FrameSequence sequence_;

  std::atomic<bool> greeted_{false};
  std::atomic<std::int64_t> heard_at_us_;
  std::atomic<std::int64_t> due_at_us_;

  std::mutex mutex_;
  // Protected by mutex_.
  Outbox outbox_;
  std::size_t for_later_ = 0;  // messages in the outbox that nobody waits for
  bool urgent_ = false;        // there are others too
  Duration later_at_;          // when those that nobody waits for leave
  grpc::ByteBuffer outgoing_;  // gRPC reads it while writing_
  bool writing_ = false;
  bool finished_ = false;
  bool flush_due_ = false;
  std::optional<Ending> ending_;
  Duration heartbeat_at_;
};

}  // namespace muster::rpc
