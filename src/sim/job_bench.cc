#include "sim/job_bench.h"

#include <algorithm>

namespace muster::sim {

void JobBench::run(const core::Job& job) {
  if (const auto* begin = std::get_if<core::StartJob>(&job)) {
    start(*begin->action);
  } else {
    signal(std::get<core::SignalJob>(job));
  }
}

void JobBench::stop() {
  stopped_ = true;
  works_.clear();
}

void JobBench::start(const core::Action& action) {
  const core::ActionSpec& spec = *action.spec;
  const Key key{spec.id, action.attempt};
  Work work;
  work.behaviour = behaviour_of(spec.inputs, action.attempt);
  work.sleeps = spec.kind == "sleep";
  work.times_out = work.behaviour.takes > spec.timeout;
  work.left = std::min(work.behaviour.takes, spec.timeout);
  work.since = context_.queue.now();
  plan_end(key, works_[key] = work);
}

void JobBench::plan_end(const Key& key, Work& work) {
  const std::uint64_t turn = ++work.turn;
  context_.queue.after(work.left, [weak = weak_from_this(), key, turn] {
    const auto self = weak.lock();
    if (!self) return;
    const auto found = self->works_.find(key);
    if (found == self->works_.end() || found->second.turn != turn) return;
    self->end(key, found->second.times_out ? core::ExecuteResult::Timeout
                                           : found->second.behaviour.result);
  });
}

void JobBench::end(const Key& key, core::ExecuteResult result) {
  works_.erase(key);
  report_(core::JobDone{key.first, key.second, result, "", "{}"});
}

void JobBench::signal(const core::SignalJob& signal) {
  const Key key{signal.id, signal.attempt};
  const auto found = works_.find(key);
  if (found == works_.end() || !found->second.sleeps) return;
  Work& work = found->second;
  const Timestamp now = context_.queue.now();
  switch (signal.signal) {
    case core::Signal::Cancel:
      end(key, core::ExecuteResult::Cancel);
      return;
    case core::Signal::Suspend:
      if (work.suspended) return;
      work.suspended = true;
      work.left = std::max(Duration::micros(1), work.left - (now - work.since));
      ++work.turn;
      break;
    case core::Signal::Resume:
      if (!work.suspended) return;
      work.suspended = false;
      work.since = now;
      plan_end(key, work);
      break;
    case core::Signal::None:
      return;
  }
  report_(core::JobStatus{signal.id, signal.attempt, work.suspended});
}

}  // namespace muster::sim
