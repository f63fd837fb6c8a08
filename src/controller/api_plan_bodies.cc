#include "controller/api_plan_bodies.h"

#include <utility>

#include "store/plan_codec.h"

namespace muster::controller {
namespace {

constexpr Duration kKeptFor = Duration::seconds(30);

}  // namespace

Result<std::shared_ptr<const core::PlanBody>> PlanBodies::read(const core::PlanRecord& plan) {
  Kept kept{.number = plan.number, .digest = plan.digest, .body = nullptr};
  {
    const std::lock_guard lock(mutex_);
    if (kept_ && kept_->number == plan.number && kept_->digest == plan.digest) {
      kept.body = kept_->body;
    }
  }
  if (kept.body == nullptr) {
    MUSTER_TRY_ASSIGN(std::optional<core::PlanBody> body, store::read_body(store_, plan));
    if (!body) return std::shared_ptr<const core::PlanBody>();
    kept.body = std::make_shared<const core::PlanBody>(std::move(*body));
  }
  std::shared_ptr<const core::PlanBody> body = kept.body;
  keep(std::move(kept));
  return body;
}

void PlanBodies::keep(Kept kept) {
  const std::lock_guard lock(mutex_);
  if (kept_) timers_.cancel(kept_->end);
  // One that is cancelled too late takes away what has just come, which is then decoded again.
  kept.end = timers_.after(kKeptFor, [this] {
    std::optional<Kept> gone;  // frees a large body without the lock
    const std::lock_guard inner(mutex_);
    gone.swap(kept_);
  });
  kept_ = std::move(kept);
}

}  // namespace muster::controller
