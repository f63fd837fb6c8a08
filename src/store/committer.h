#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/backoff.h"
#include "base/result.h"
#include "base/time.h"
#include "core/effects.h"
#include "store/commit_group.h"
#include "store/store.h"

// Group commit. One thread takes everything that was submitted meanwhile, encodes it, and commits
// it as one batch; while that batch is being synced to the disk, the next one gathers. So the price
// of a sync is shared by all that wait for it, and nobody who computes has to wait for the disk.
// Who has nothing to compute meanwhile may commit on its own thread instead, which spares two
// changes of thread.
//
// Order: what is submitted is committed in the order of submission, and the writes of one
// submission in one transaction. Of several writes of the same record in one batch only the last is
// encoded and written.
//
// Failure: a store that refuses (StoreUnavailable, Unavailable) is tried again for ever, with
// back-off, and nothing is dropped; on_problem tells when that begins and on_recovered when it
// ends. The queue grows meanwhile: whoever submits looks at queued() or listens to on_problem and
// refuses new work. Any other error (Fenced, a corrupt store) cannot be tried away: on_fatal, and
// nothing is committed any more.
//
// Threading: every function may be called from any thread, but stop() not from a callback. All
// callbacks come on the committer's thread, except that commit_or_submit() calls on_commit_took on
// its caller's; without locks held, and none after stop() has returned.
//
// When there is nothing to commit, the store's history is purged, a few records at a time; under
// steady load a purge that is overdue by a whole interval gets one turn between two commits.

namespace muster::store {

struct CommitterOptions {
  std::size_t batch_records_max = 20'000;  // a larger submission still goes in one piece
  Backoff retry = {Duration::millis(100), Duration::seconds(5)};
  Duration stop_timeout = Duration::seconds(10);  // for a store that refuses
  Retention retention;
  Duration purge_interval = Duration::seconds(60);
  Duration purge_delay = Duration::seconds(2);  // until the first
  std::size_t purge_chunk = 500;
  std::function<Timestamp()> clock;  // for the age of records; required
};

struct CommitterCallbacks {
  // Everything up to and including this ticket is durable.
  std::function<void(std::uint64_t ticket)> on_committed;
  std::function<void(const Error&)> on_problem;
  std::function<void()> on_recovered;
  std::function<void(const Error&)> on_fatal;
  // How long the store took for one batch; before its on_committed. Optional.
  std::function<void(Duration)> on_commit_took = {};
  // A purge failed; the next one is tried at its time. Optional.
  std::function<void(const Error&)> on_purge_failed = {};
};

struct CommitterStats {
  std::uint64_t commits = 0;
  std::uint64_t records = 0;  // records and events written
  std::uint64_t purged = 0;
};

class Committer {
 public:
  // Starts the thread. `store` must outlive the committer and have given out `term`.
  Committer(Store& store, Term term, CommitterOptions options, CommitterCallbacks callbacks);
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;
  ~Committer();  // stop()

  // REQUIRES: tickets ascend. Ignored after a fatal error or stop().
  void submit(std::uint64_t ticket, std::vector<core::Write> writes);
  // The same, but commits here and now if nothing else is being committed. True: it is durable, and
  // there is no callback for it. False: it is submitted; what the store refused at once as well.
  bool commit_or_submit(std::uint64_t ticket, std::vector<core::Write> writes);

  // Submissions that are not durable yet.
  std::size_t queued() const;
  CommitterStats stats() const;

  // Commits all that is queued, and joins. A store that refuses is given up after stop_timeout:
  // the error says how much was not committed. Also the fatal error, if there was one.
  Result<void> stop();

 private:
  using Clock = std::chrono::steady_clock;

  struct Group {
    Batch batch;
    std::uint64_t ticket = 0;
    std::size_t submissions = 0;
  };

  void run();
  // Waits for work, and takes the store; empty when it is time to purge, or to end.
  std::vector<Submission> next_submissions();
  void give_back_store();
  // Once. Counts it if it is durable.
  Result<void> try_commit(const Batch& batch);
  // Until it is durable; false: it will never be.
  bool commit_group(const Group& group);
  // Sleeps unless there is a reason not to; false: give up.
  bool wait_before_retry(std::uint32_t attempt);
  void fail_for_good(const Error& error);
  void give_up(std::size_t lost, const Error& error);
  bool purge_due() const;
  void purge_once();

  // Constant after construction.
  Store& store_;
  const Term term_;
  const CommitterOptions options_;
  const CommitterCallbacks callbacks_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable store_free_;
  // Protected by mutex_.
  std::deque<Submission> queue_;
  std::size_t in_flight_ = 0;  // submissions taken from the queue, not durable yet
  bool store_taken_ = false;   // by whoever commits or purges; others do not wait but submit
  CommitterStats stats_;
  bool stopping_ = false;
  bool dead_ = false;
  Clock::time_point stop_deadline_;
  std::optional<Error> final_error_;

  // Only the committer's thread.
  Clock::time_point purge_at_;

  std::mutex join_mutex_;
  std::thread thread_;  // last, so that it starts when everything else is there
};

}  // namespace muster::store
