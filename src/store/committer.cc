#include "store/committer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "log/thread_name.h"

namespace muster::store {
namespace {

std::chrono::microseconds to_chrono(Duration duration) {
  return std::chrono::microseconds(duration.us);
}

}  // namespace

Committer::Committer(Store& store, Term term, CommitterOptions options,
                     CommitterCallbacks callbacks)
    : store_(store),
      term_(term),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      purge_at_(Clock::now() + to_chrono(options_.purge_delay)) {
  MUSTER_CHECK(options_.clock && callbacks_.on_committed && callbacks_.on_problem &&
                   callbacks_.on_recovered && callbacks_.on_fatal,
               "a committer needs a clock and its callbacks");
  thread_ = std::thread([this] { run(); });
}

Committer::~Committer() { (void)stop(); }

void Committer::submit(std::uint64_t ticket, std::vector<core::Write> writes) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || dead_) return;
    queue_.push_back({ticket, std::move(writes)});
  }
  wake_.notify_one();
}

bool Committer::commit_or_submit(std::uint64_t ticket, std::vector<core::Write> writes) {
  bool is_mine = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || dead_) return false;
    is_mine = !store_taken_ && queue_.empty();
    if (is_mine) {
      store_taken_ = true;
      in_flight_ = 1;
    } else {
      queue_.push_back({ticket, std::move(writes)});
    }
  }
  if (!is_mine) {
    wake_.notify_one();
    return false;
  }
  std::vector<Submission> submissions;
  submissions.push_back({ticket, std::move(writes)});
  const Result<void> result = try_commit(encode_group(term_, submissions));
  bool is_more = false;
  {
    const std::lock_guard lock(mutex_);
    in_flight_ = 0;
    // What the store refuses is up to the thread, which can try again and tell about it.
    if (!result) queue_.push_front(std::move(submissions.front()));
    is_more = !queue_.empty();
  }
  give_back_store();
  if (is_more) wake_.notify_one();
  return result.has_value();
}

std::size_t Committer::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() + in_flight_;
}

CommitterStats Committer::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

Result<void> Committer::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      stopping_ = true;
      stop_deadline_ = Clock::now() + to_chrono(options_.stop_timeout);
    }
  }
  wake_.notify_one();
  {
    const std::lock_guard lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }
  const std::lock_guard lock(mutex_);
  if (final_error_) return fail(*final_error_);
  return {};
}

void Committer::run() {
  log::name_thread("committer");
  while (true) {
    auto submissions = next_submissions();
    if (submissions.empty()) {
      const std::lock_guard lock(mutex_);
      if (stopping_ && queue_.empty()) return;
    } else {
      const Group group{.batch = encode_group(term_, submissions),
                        .ticket = submissions.back().ticket,
                        .submissions = submissions.size()};
      if (!commit_group(group)) return;
    }
    if (purge_due()) purge_once();
    give_back_store();
  }
}

std::vector<Submission> Committer::next_submissions() {
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, purge_at_, [this] { return stopping_ || !queue_.empty(); });
  store_free_.wait(lock, [this] { return !store_taken_; });
  store_taken_ = true;
  std::vector<Submission> taken;
  std::size_t writes = 0;
  while (!queue_.empty()) {
    const std::size_t more = queue_.front().writes.size();
    if (!taken.empty() && writes + more > options_.batch_records_max) break;
    writes += more;
    taken.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  in_flight_ = taken.size();
  return taken;
}

void Committer::give_back_store() {
  {
    const std::lock_guard lock(mutex_);
    store_taken_ = false;
  }
  store_free_.notify_one();
}

Result<void> Committer::try_commit(const Batch& batch) {
  if (batch.empty()) return {};
  const auto began = Clock::now();
  MUSTER_TRY(store_.commit(batch));
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
  {
    const std::lock_guard lock(mutex_);
    ++stats_.commits;
    stats_.records += batch.records.size() + batch.events.size();
  }
  if (callbacks_.on_commit_took) callbacks_.on_commit_took(Duration::micros(took.count()));
  return {};
}

bool Committer::commit_group(const Group& group) {
  bool troubled = false;
  for (std::uint32_t attempt = 1;; ++attempt) {
    const Result<void> result = try_commit(group.batch);
    if (result) break;
    if (!can_be_retried(result.error())) {
      fail_for_good(result.error());
      return false;
    }
    if (!std::exchange(troubled, true)) callbacks_.on_problem(result.error());
    if (!wait_before_retry(attempt)) {
      give_up(group.submissions, result.error());
      return false;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    in_flight_ = 0;
  }
  if (troubled) callbacks_.on_recovered();
  callbacks_.on_committed(group.ticket);
  return true;
}

bool Committer::wait_before_retry(std::uint32_t attempt) {
  const auto until = Clock::now() + to_chrono(options_.retry.delay(attempt));
  std::unique_lock lock(mutex_);
  // Being told to stop cuts the wait short once: the deadline counts from there.
  if (!stopping_) {
    wake_.wait_until(lock, until, [this] { return stopping_; });
    return true;
  }
  if (Clock::now() >= stop_deadline_) return false;
  wake_.wait_until(lock, std::min(until, stop_deadline_), [] { return false; });
  return true;
}

void Committer::fail_for_good(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    dead_ = true;
    queue_.clear();
    in_flight_ = 0;
    final_error_ = error;
  }
  callbacks_.on_fatal(error);
}

void Committer::give_up(std::size_t lost, const Error& error) {
  const std::lock_guard lock(mutex_);
  final_error_ =
      Error{error}.wrap(fmt::format("{} submissions could not be committed within {} of the stop",
                                    lost + queue_.size(), format_duration(options_.stop_timeout)));
  dead_ = true;
  queue_.clear();
  in_flight_ = 0;
}

bool Committer::purge_due() const {
  const auto now = Clock::now();
  if (now < purge_at_) return false;
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  return queue_.empty() || now >= purge_at_ + to_chrono(options_.purge_interval);
}

void Committer::purge_once() {
  const auto later = Clock::now() + to_chrono(options_.purge_interval);
  const Result<std::size_t> removed =
      store_.purge(options_.retention, options_.clock(), options_.purge_chunk);
  if (!removed) {
    purge_at_ = later;
    if (callbacks_.on_purge_failed) callbacks_.on_purge_failed(removed.error());
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stats_.purged += *removed;
  }
  // A full chunk means that there is more: the next turn comes as soon as there is nothing to do.
  if (*removed < options_.purge_chunk) purge_at_ = later;
}

}  // namespace muster::store
