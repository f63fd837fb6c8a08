#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/result.h"
#include "rpc/link.h"

// The agent's end: dials the controllers of a list one after the other, says hello, keeps the
// stream, dials again with jittered back-off when it ends. Decides nothing else.

namespace muster::rpc {

// Called on one thread of the client's own or gRPC's, one call at a time and in order.
class AgentLinkHandler {
 public:
  virtual ~AgentLinkHandler() = default;
  // Before each dial, so that facts and labels are current.
  virtual core::AgentIdentity identity() = 0;
  // The highest term seen; a welcome with a lower one is refused. Called before on_up.
  virtual std::uint64_t highest_term() = 0;
  // What keeps the agent from working, for the heartbeats; empty: nothing. Any thread.
  virtual std::string problem() { return {}; }
  virtual void on_up(const Welcome& welcome) = 0;
  virtual void on_schedule(core::agent::Schedule schedule) = 0;
  virtual void on_signal(core::agent::SignalFromController signal) = 0;
  virtual void on_ack(core::agent::Ack ack) = 0;
  virtual void on_sync_request(core::agent::SyncRequest request) = 0;
  virtual void on_log_request(LogRequest request) = 0;
  // After the last message of a frame: what came together may be worked on together.
  virtual void on_frame_end() {}
  virtual void on_down(const std::string& reason) = 0;  // after an on_up
  // A dial failed or was refused; the next one comes after `retry_in`.
  virtual void on_dial_failed(const std::string& controller, const std::string& reason,
                              Duration retry_in) = 0;
};

struct LinkClientOptions {
  std::vector<std::string> controllers;  // "127.0.0.1:8441"
  bool insecure = false;                 // allow controllers that are not loopback
  Backoff backoff{.initial = Duration::millis(200), .max = Duration::seconds(15)};
  std::function<std::uint64_t()> random;
  Duration dial_timeout = Duration::seconds(10);
};

class LinkClient {
 public:
  virtual ~LinkClient() = default;
  static Result<std::unique_ptr<LinkClient>> start(LinkClientOptions options,
                                                   AgentLinkHandler& handler);

  // Queue messages for the current session; dropped if there is none. What one call gives leaves in
  // one frame. Any thread, never blocks.
  virtual void send_all(std::span<const core::agent::AgentMessage> messages) = 0;
  void send(const core::agent::AgentMessage& message) { send_all({&message, 1}); }
  virtual void send_log_chunk(LogChunk chunk) = 0;
  virtual LinkStats stats() const { return {}; }
  virtual void stop() = 0;
};

}  // namespace muster::rpc
