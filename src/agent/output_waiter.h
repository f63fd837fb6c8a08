#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "agent/inbox.h"
#include "base/time.h"
#include "core/agent/agent_core.h"
#include "exec/executor.h"

namespace muster::agent {

struct OutputWaiterOptions {
  // Of the link; beyond it a request that would wait is answered at once. The local API parks one
  // per connection at most.
  std::size_t parked_max = 256;
  std::size_t chunk_max = 256 << 10;
  Duration wait_max = Duration::seconds(10);
};

// Answers requests for the output of runs, and parks those that want to wait for more of it. Every
// request is answered once. Owned by the agent's thread; `executor` and `core` are borrowed.
class OutputWaiter {
 public:
  using Clock = Inbox::Clock;

  OutputWaiter(OutputWaiterOptions options, exec::Executor& executor,
               const core::agent::AgentCore& core)
      : options_(options), executor_(executor), core_(core) {}

  void request(OutputRequest request, Clock::time_point now);
  // There may be new output of this action, or its run has ended.
  void on_output(const core::ActionId& id);
  void on_deadline(Clock::time_point now);
  // The link is down: its requests are dropped, because a later session knows nothing of them.
  void drop_link_requests();
  void refuse_all(const Error& error);

  std::optional<Clock::time_point> next_deadline() const;

 private:
  exec::OutputChunk read(const OutputRequest& request) const;
  void park(OutputRequest request, Clock::time_point deadline);
  OutputRequest unpark(std::multimap<Clock::time_point, OutputRequest>::iterator parked);
  static bool is_answer(const exec::OutputChunk& chunk);

  const OutputWaiterOptions options_;
  exec::Executor& executor_;
  const core::agent::AgentCore& core_;
  std::multimap<Clock::time_point, OutputRequest> parked_;  // by deadline
  std::size_t parked_of_link_ = 0;
};

}  // namespace muster::agent
