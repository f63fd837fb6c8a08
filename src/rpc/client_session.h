#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/client_callback.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "rpc/link_client.h"
#include "rpc/link_counters.h"
#include "rpc/outbox.h"
#include "rpc/wire_codec.h"

namespace muster::rpc {

// What the dialling thread waits on. Shared, because a session signals its end as the last thing it
// does, at a moment from which on the dialling thread may destroy everything else.
struct DialProgress {
  std::mutex mutex;
  std::condition_variable changed;
  // Protected by mutex.
  bool stop = false;
  bool up = false;    // of the current session
  bool done = false;  // of the current session
  Duration heartbeat_interval;
};

// One dial of the agent and the stream that comes of it.
//
// Life: start(), then gRPC drives it by the On... reactions until OnDone, which sets `done`. Only
// then, and only on the dialling thread, may it be destroyed: it holds the last reference to its
// channel, and a channel must not be destroyed on a thread of gRPC's.
//
// Threading: reads and their calls to the handler are serial. send() may be called from any thread
// while the owner keeps the session alive; a hold keeps OnDone away until nothing can start a write
// any more. gRPC is never called with mutex_ held.
class ClientSession final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  ClientSession(AgentLinkHandler& handler, LinkCounters& counters,
                std::shared_ptr<DialProgress> progress);

  void start(grpc::GenericStub& stub, std::string hello);
  // Dropped before the welcome and after the end.
  void send(std::string message);
  // As send(), but that it may wait for flush(), so that more can join its frame.
  void queue(std::string message);
  void flush();
  // A heartbeat, unless something else is on its way anyhow.
  void send_heartbeat();
  // Says goodbye: what is queued goes out, then our direction is closed.
  void close();
  // Ends it at once. The first reason given is the one that counts.
  void cancel(std::string reason);

  bool was_up() const { return up_; }
  Duration heard_at() const { return Duration::micros(heard_at_us_.load()); }
  // Why it ended; complete after `done`.
  std::string reason();

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  Result<void> take_frame();
  Result<void> take_message(FromController message);
  Result<void> take_welcome(FromController& message);
  void push(std::string message);
  void advance(std::unique_lock<std::mutex> lock);

  AgentLinkHandler& handler_;
  LinkCounters& counters_;
  const std::shared_ptr<DialProgress> progress_;
  grpc::ClientContext context_;

  // Of the serial reads.
  grpc::ByteBuffer incoming_;
  FrameSequence sequence_;

  std::atomic<bool> up_{false};
  std::atomic<std::int64_t> heard_at_us_{0};

  std::mutex mutex_;
  // Protected by mutex_.
  Outbox outbox_;
  grpc::ByteBuffer outgoing_;  // gRPC reads it while writing_
  bool writing_ = false;
  bool closing_ = false;  // our direction ends when the outbox is empty
  bool half_closed_ = false;
  bool cancelled_ = false;
  bool read_ended_ = false;
  bool hold_released_ = false;
  std::string own_reason_;
  std::string status_reason_;
};

}  // namespace muster::rpc
