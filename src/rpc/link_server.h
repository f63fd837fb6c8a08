#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "rpc/link.h"

// The controller's end of the agents' streams: a gRPC server, sessions, frames, limits. It decides
// nothing; what agents say goes to the handler, what the controller says goes to a session.

namespace muster::rpc {

// Called on gRPC's threads; calls for one session come one at a time and in order, calls for
// different sessions concurrently. Must not block for long.
class LinkHandler {
 public:
  virtual ~LinkHandler() = default;
  virtual void on_hello(core::SessionId session, core::AgentIdentity identity) = 0;
  virtual void on_heartbeat(core::SessionId session) = 0;
  // Instead of on_heartbeat, where the agent says that something keeps it from working.
  virtual void on_trouble(core::SessionId session, std::string /*problem*/) {
    on_heartbeat(session);
  }
  // An agent was turned away; there is no session.
  virtual void on_refused(const core::AgentName& /*agent*/, const std::string& /*reason*/) {}
  virtual void on_report(core::SessionId session, core::AgentAction action) = 0;
  // Reports that came together, in order.
  virtual void on_reports(core::SessionId session, std::vector<core::AgentAction> actions) {
    for (core::AgentAction& action : actions) on_report(session, std::move(action));
  }
  virtual void on_sync_page(core::SessionId session, core::AgentSyncPage page) = 0;
  virtual void on_log_chunk(core::SessionId session, LogChunk chunk) = 0;
  // The last call for a session that has said hello.
  virtual void on_closed(core::SessionId session, std::string reason) = 0;
};

struct LinkServerOptions {
  std::string address = "127.0.0.1:8441";  // port 0: any
  bool insecure = false;                   // allow an address that is not loopback
  Welcome welcome;
  std::size_t session_queue_max = std::size_t{64}
                                  << 20;  // bytes waiting to be sent; more ends the session
  std::size_t sessions_max = 20'000;
  Duration hello_timeout = Duration::seconds(10);
};

class LinkServer {
 public:
  virtual ~LinkServer() = default;
  static Result<std::unique_ptr<LinkServer>> start(LinkServerOptions options, LinkHandler& handler);

  virtual std::uint16_t port() const = 0;
  // Queues messages; those of a session that is gone are dropped. What one call gives to a session
  // leaves in one frame, with what still waits for it. Any thread, never blocks.
  virtual void send_all(std::span<const core::AgentSend> sends) = 0;
  void send(const core::AgentSend& send) { send_all({&send, 1}); }
  virtual void request_log(core::SessionId session, const LogRequest& request) = 0;
  virtual LinkStats stats() const { return {}; }
  virtual void stop() = 0;  // ends every session and joins
};

}  // namespace muster::rpc
