#include "controller/plan_maker.h"

#include "controller/plan_pipeline.h"
#include "log/thread_name.h"

namespace muster::controller {
namespace {

constexpr std::size_t kWaitingMax = 16;

}  // namespace

PlanMaker::PlanMaker(Controller& controller, plugin::PluginHost& plugins,
                     const pack::LoadedPacks& packs)
    : controller_(controller), plugins_(plugins), packs_(packs), thread_([this] { run(); }) {}

Result<void> PlanMaker::make(PlanWish wish, Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return fail(ErrorCode::Unavailable, "the controller is stopping");
    if (queue_.size() >= kWaitingMax) {
      return fail(ErrorCode::Overloaded, "{} plans are waiting to be made, which is the limit",
                  queue_.size());
    }
    queue_.push_back({std::move(wish), std::move(done)});
  }
  wake_.notify_one();
  return {};
}

void PlanMaker::stop() {
  std::deque<Job> left;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    left.swap(queue_);
  }
  cancel_ = true;
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  for (const Job& job : left) {
    job.done(fail(ErrorCode::Unavailable, "the controller is stopping"));
  }
}

void PlanMaker::run() {
  log::name_thread("plan maker");
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    job.done(PlanPipeline(controller_, plugins_, packs_, job.wish, &cancel_).run());
  }
}

}  // namespace muster::controller
