#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "controller/api_timers.h"
#include "controller/controller.h"
#include "core/fleet/agent.h"
#include "rpc/link.h"

namespace muster::controller {

struct LogBrokerOptions {
  // Above the ten seconds that an agent may hold back the answer to a request that waits.
  Duration deadline = Duration::seconds(15);
  std::size_t pending_max = 4'096;
};

// Matches requests for the output of actions with the chunks that agents send back. Every fetch is
// answered once: with the chunk, or with why there is none.
class LogBroker {
 public:
  // Hands a request to the link of a session (rpc::LinkServer::request_log); must not block.
  using Send = std::function<void(core::SessionId, const rpc::LogRequest&)>;
  // On any thread; must not block.
  using Callback = std::function<void(Result<rpc::LogChunk>)>;

  // `controller` must outlive the broker's last fetch, and must have stopped before the broker is
  // destroyed.
  LogBroker(Controller& controller, Send send, LogBrokerOptions options = {});

  // Any thread, never blocks. The number of `request` is filled in here. Errors: Unavailable (the
  // agent is not connected, or its session ended), Timeout, Overloaded.
  void fetch(const core::AgentName& agent, rpc::LogRequest request, Callback callback);

  // From the link. A chunk that nobody waits for any more is dropped.
  void on_log_chunk(core::SessionId session, rpc::LogChunk chunk);
  void on_closed(core::SessionId session);

  // Answers what is pending with Unavailable and refuses what comes. The link must have stopped.
  void stop();

 private:
  struct Pending {
    core::AgentName agent;
    std::optional<core::SessionId> session;  // none: not sent yet
    ApiTimers::TimerId timer = 0;
    Callback callback;
  };

  void send_to_agent(const rpc::LogRequest& request, std::optional<core::SessionId> session);
  void finish(std::uint64_t request, Result<rpc::LogChunk> result);
  std::optional<Pending> take(std::uint64_t request);

  Controller& controller_;
  const Send send_;
  const LogBrokerOptions options_;
  std::mutex mutex_;
  std::map<std::uint64_t, Pending> pending_;  // protected by mutex_
  std::uint64_t next_ = 1;                    // protected by mutex_
  bool stopped_ = false;                      // protected by mutex_
  ApiTimers timers_;                          // last: its thread is gone before what it calls
};

}  // namespace muster::controller
