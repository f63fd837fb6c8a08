#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/api_client.h"
#include "cli/context.h"
#include "cli/progress.h"
#include "cli/watch_set.h"

// Waits until every action of a set has ended, by the event stream: a snapshot of the actions at a
// known place of the event log, then the events after it, so no change is missed and nothing is
// polled. A lost connection is made again with back-off, each time from a new snapshot, which also
// covers a compacted log and a controller that was restored from a backup.

namespace muster::cli {

struct WaitOptions {
  std::optional<Duration> timeout;
  // End instead of waiting for a person's approval.
  bool stop_at_approval = false;
};

enum class WaitEnd : std::uint8_t { Done, Timeout, Detached, NeedsApproval };

// Brings many actions of a set up to date with few requests, from the rows of the list. Answers
// with the ids that are still to be asked for one by one: all where they are few, else those that
// the list did not have. `changed` gets what apply_snapshot() answered.
Outcome<std::vector<std::string>> refresh_rows(
    ApiClient& client, WatchSet& set, const std::vector<std::string>& ids,
    const std::function<void(const WatchedAction*)>& changed);

class Waiter {
 public:
  // All references must outlive the waiter.
  Waiter(Context& context, ApiClient& client, WatchSet& set, Progress& progress,
         const WaitOptions& options);

  // Gives up with Unreachable once the controller has not answered for kGiveUpAfter.
  Outcome<WaitEnd> run();

  static constexpr Duration kGiveUpAfter = Duration::minutes(10);
  // Three heartbeats of the server: a connection that is silent for longer is dead.
  static constexpr Duration kSilenceMax = Duration::seconds(45);

 private:
  std::optional<WaitEnd> ended() const;
  bool is_over() const { return ended().has_value(); }
  // Brings the set up to date and answers with the place in the event log from which on events may
  // be news.
  Outcome<std::int64_t> take_snapshot();
  Outcome<void> follow(std::int64_t after);
  Outcome<void> back_off(const Failure& failure);
  Duration remaining() const;

  Context& context_;
  ApiClient& client_;
  WatchSet& set_;
  Progress& progress_;
  WaitOptions options_;
  Timestamp started_;
  Timestamp unreachable_since_;  // unset: reachable
  std::uint32_t failures_ = 0;
};

}  // namespace muster::cli
