#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/agent/agent_core.h"
#include "exec/executor.h"
#include "rpc/link.h"

// Everything that reaches the agent's thread comes through one bounded queue.

namespace muster::agent {

// The link is up. The core hears of it, and the term is remembered.
struct LinkEstablished {
  rpc::Welcome welcome;
};

// A request of the local API that the core answers.
struct LocalRequest {
  std::variant<core::agent::LocalSchedule, core::agent::LocalSignal> input;
  std::function<void(Result<core::JournalEntryPtr>)> reply;
};

// A look at the core, after everything before it is durable. The pointer is valid during the call.
struct CoreQuery {
  std::function<void(Result<const core::agent::AgentCore*>)> reply;
};

// Output of a run. With `wait`, the answer comes when there is something at `offset`, when the run
// has ended, or after a while.
struct OutputRequest {
  core::ActionId id;
  std::uint32_t attempt = 0;  // 0: the newest
  std::uint64_t offset = 0;
  std::size_t limit = 0;
  bool wait = false;
  Duration delay;          // not answered before this has passed
  bool from_link = false;  // answered over the link; nobody cares once it is down
  std::function<void(Result<exec::OutputChunk>)> reply;
};

using InboxItem = std::variant<core::agent::AgentInput, LinkEstablished, LocalRequest, CoreQuery,
                               OutputRequest, rpc::LogRequest>;

// Answers the item with the error, if somebody waits for its answer.
void refuse(const InboxItem& item, const Error& error);

// Any number of producers, one consumer. Every function may be called from any thread.
class Inbox {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Inbox(std::size_t size_max) : size_max_(size_max) {}

  // Blocks while the inbox is full: the back-pressure of the link. False: closed, the item is gone.
  bool push_wait(InboxItem item);
  // Items that came together are taken together where there is room.
  bool push_wait_all(std::vector<InboxItem> items);
  // For what the executor says. It may not wait, since the consumer waits for the executor in turn;
  // there are never more than a few of these, because one action runs at a time.
  void push_now(InboxItem item);
  // For requests of people, who can be told to try again. If full or closed, the item is refused.
  void push_or_refuse(InboxItem item);
  // There is new output of a run. Merged until the consumer takes it.
  void notify_output(const core::ActionId& id);

  struct Taken {
    std::vector<InboxItem> items;
    std::set<core::ActionId> outputs;  // with new output
    bool closed = false;
  };
  // Waits until there is something, the inbox is closed, or `until`.
  Taken take(std::size_t items_max, Clock::time_point until);
  // Everything that somebody waits for, out of turn, to be refused.
  std::vector<InboxItem> take_requests();
  // Waits for the close; true if it came within the time.
  bool wait_closed(Clock::duration timeout);
  void close();

 private:
  const std::size_t size_max_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable drained_;
  std::condition_variable closing_;
  // Protected by mutex_.
  std::deque<InboxItem> items_;
  std::set<core::ActionId> outputs_;
  bool closed_ = false;
};

}  // namespace muster::agent
