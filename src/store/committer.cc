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
  }
}

std::vector<Submission> Committer::next_submissions() {
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, purge_at_, [this] { return stopping_ || !queue_.empty(); });
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

bool Committer::commit_group(const Group& group) {
  bool troubled = false;
  std::chrono::microseconds took{};
  for (std::uint32_t attempt = 1;; ++attempt) {
    const auto began = Clock::now();
    const Result<void> result = group.batch.empty() ? Result<void>() : store_.commit(group.batch);
    if (result) {
      took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
      break;
    }
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
    if (!group.batch.empty()) ++stats_.commits;
    stats_.records += group.batch.records.size() + group.batch.events.size();
  }
  if (troubled) callbacks_.on_recovered();
  if (callbacks_.on_commit_took && !group.batch.empty()) {
    callbacks_.on_commit_took(Duration::micros(took.count()));
  }
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
