#include "controller/api_health.h"

#include <atomic>
#include <memory>

#include "controller/api_timers.h"
#include "controller/api_workers.h"

namespace muster::controller {
namespace {

constexpr auto kProbeInterval = std::chrono::seconds(1);
constexpr Duration kProbeDeadline = Duration::seconds(5);

std::string commits_fail(const ControllerHealth& health) {
  return fmt::format("commits fail since {}: {}", format_rfc3339(health.store_problem_since),
                     health.store_problem);
}

}  // namespace

struct Readiness::Waiter {
  std::atomic<bool> answered = false;
  Done done;

  void answer(const Reasons& reasons) {
    if (!answered.exchange(true)) done(reasons);
  }
};

void Readiness::check(ApiWorkers& workers, ApiTimers& timers, Done done) {
  auto waiter = std::make_shared<Waiter>();
  waiter->done = std::move(done);
  std::optional<Reasons> known;
  bool start = false;
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    // What is known to be broken needs no probe, and must not hide behind an older good answer.
    if (const ControllerHealth health = controller_.health(); !health.store_ok) {
      known = Reasons{commits_fail(health)};
    } else if (!probing_ && probed_at_ && now - *probed_at_ < kProbeInterval) {
      known = reasons_;
    } else {
      waiters_.push_back(waiter);
      start = !probing_;
      probing_ = true;
    }
  }
  if (known) {
    waiter->answer(*known);
    return;
  }
  timers.after(kProbeDeadline, [waiter] {
    waiter->answer(
        {fmt::format("the store did not answer within {}", format_duration(kProbeDeadline))});
  });
  if (start && !workers.post([this] { probe(); })) {
    const std::lock_guard lock(mutex_);
    probing_ = false;
  }
}

void Readiness::probe() {
  Reasons reasons;
  if (const Result<void> written = controller_.store().probe(); !written) {
    reasons.push_back(fmt::format("the store refuses writes: {}", written.error().message));
  }
  const ControllerHealth health = controller_.health();
  if (!health.store_ok) reasons.push_back(commits_fail(health));
  std::vector<std::shared_ptr<Waiter>> waiters;
  {
    const std::lock_guard lock(mutex_);
    probing_ = false;
    probed_at_ = std::chrono::steady_clock::now();
    reasons_ = reasons;
    waiters.swap(waiters_);
  }
  for (const std::shared_ptr<Waiter>& waiter : waiters) waiter->answer(reasons);
}

Error engine_silent(const Controller& controller) {
  const ControllerHealth health = controller.health();
  if (health.store_ok) {
    return Error{ErrorCode::Overloaded,
                 fmt::format("the engine is busy, {} inputs are waiting; try again", health.inbox)};
  }
  return Error{ErrorCode::StoreUnavailable,
               fmt::format("the store refuses writes since {}: {}",
                           format_rfc3339(health.store_problem_since), health.store_problem)};
}

Error outcome_unknown() {
  return Error{ErrorCode::Timeout,
               "the request was accepted but its outcome is not known yet; look at what it was "
               "about, or repeat it with the same Idempotency-Key"};
}

}  // namespace muster::controller
