#include "sim/runners.h"

#include <algorithm>

namespace muster::sim {

using core::ExecuteResult;

void Runners::listen(exec::ExecutorListener* listener) {
  listener_ = listener;
  ++life_;
  for (auto& [key, run] : runs_) run.attached = false;
}

void Runners::tell(std::function<void(exec::ExecutorListener&)> what) {
  context_.queue.after(Duration::micros(context_.random.between(1, 500)),
                       [weak = weak_from_this(), life = life_, what = std::move(what)] {
                         const auto self = weak.lock();
                         if (!self || self->life_ != life || self->listener_ == nullptr) return;
                         what(*self->listener_);
                       });
}

void Runners::report_end(const Key& key, exec::RunResult result) {
  tell([key, result = std::move(result)](exec::ExecutorListener& listener) {
    listener.on_ended(key.first, key.second, result);
  });
}

void Runners::report_suspended(const Key& key, bool suspended) {
  tell([key, suspended](exec::ExecutorListener& listener) {
    listener.on_suspended(key.first, key.second, suspended);
  });
}

void Runners::start(const exec::RunSpec& spec, bool recovered) {
  const Key key{spec.id, spec.attempt};
  const auto found = runs_.find(key);
  const bool traced = found != runs_.end();
  if (spec.kind == "noop") return report_end(key, {});
  if (recovered && traced) {
    Run& run = found->second;
    if (run.live && run.attached) return;
    run.attached = true;
    if (run.result) {
      report_end(key, *run.result);
    } else if (!run.live) {
      report_end(key, {ExecuteResult::Error, "its runner died", "{}"});
    } else if (run.suspended) {
      report_suspended(key, true);
    }
    return;
  }
  if (recovered && rebooted_) {
    return report_end(key, {ExecuteResult::Error, "the host restarted; unknown", "{}"});
  }
  if (traced) {
    context_.checks.on_run_repeated(agent_, spec);
    if (found->second.live && found->second.attached) return;
    return report_end(key, {ExecuteResult::Error, "was started before", "{}"});
  }
  start_new(spec);
}

void Runners::start_new(const exec::RunSpec& spec) {
  const Key key{spec.id, spec.attempt};
  rebooted_ = false;
  context_.note(agent_name(agent_), ">", "run {} #{}", spec.id.short_id(), spec.attempt);
  context_.digest.add(spec.id.bytes());
  context_.digest.add(spec.attempt);
  context_.checks.on_run_start(agent_, spec);
  Run& run = runs_[key];
  run.behaviour = behaviour_of(spec.inputs, spec.attempt);
  run.timeout = spec.timeout;
  run.left = std::min(run.behaviour.takes, spec.timeout);
  plan(key, run);
}

void Runners::plan(const Key& key, Run& run) {
  run.since = context_.queue.now();
  const std::uint64_t turn = ++run.turn;
  context_.queue.after(run.left, [weak = weak_from_this(), key, turn] {
    const auto self = weak.lock();
    if (!self) return;
    const auto found = self->runs_.find(key);
    if (found != self->runs_.end() && found->second.turn == turn) self->time_is_up(key);
  });
}

void Runners::time_is_up(const Key& key) {
  Run& run = runs_.at(key);
  if (run.ending) return end(key, run, run.ends_with);
  if (run.behaviour.takes > run.timeout) return tell_to_end(key, run, ExecuteResult::Timeout);
  end(key, run, run.behaviour.result);
}

// It ends when it pleases, but the kernel ends it after a while.
void Runners::tell_to_end(const Key& key, Run& run, ExecuteResult result) {
  if (run.ending) return;
  run.ending = true;
  run.ends_with = result;
  run.suspended = false;
  run.left = run.behaviour.ends_after;
  plan(key, run);
}

void Runners::end(const Key& key, Run& run, ExecuteResult result) {
  run.live = false;
  ++run.turn;
  run.result = exec::RunResult{result, "", "{}"};
  context_.note(agent_name(agent_), "<", "run {} #{} ends: {}", key.first.short_id(), key.second,
                core::name(result));
  context_.digest.add(static_cast<std::uint64_t>(result));
  context_.checks.on_run_end(agent_, key.first, key.second, result);
  if (run.attached) report_end(key, *run.result);
}

void Runners::die(const Key& key, Run& run) {
  run.live = false;
  ++run.turn;
  context_.note(agent_name(agent_), "<", "run {} #{} dies", key.first.short_id(), key.second);
  context_.checks.on_run_end(agent_, key.first, key.second, ExecuteResult::Error);
}

void Runners::signal(const core::ActionId& id, std::uint32_t attempt, core::Signal signal) {
  const Key key{id, attempt};
  const auto found = runs_.find(key);
  if (found == runs_.end() || !found->second.live || found->second.ending) return;
  Run& run = found->second;
  switch (signal) {
    case core::Signal::Cancel:
      tell_to_end(key, run, ExecuteResult::Cancel);
      return;
    case core::Signal::Suspend:
      if (!run.suspended) {
        run.suspended = true;
        run.left = std::max(Duration::micros(1), run.left - (context_.queue.now() - run.since));
        ++run.turn;
      }
      return report_suspended(key, true);
    case core::Signal::Resume:
      if (run.suspended) {
        run.suspended = false;
        plan(key, run);
      }
      return report_suspended(key, false);
    case core::Signal::None:
      return;
  }
}

exec::OutputChunk Runners::read_output(const core::ActionId& id, std::uint32_t attempt,
                                       std::uint64_t, std::size_t) {
  exec::OutputChunk chunk;
  chunk.known = runs_.contains({id, attempt});
  return chunk;
}

void Runners::forget(const core::ActionId& id, std::uint32_t attempt) {
  const auto found = runs_.find({id, attempt});
  if (found != runs_.end() && !found->second.live) runs_.erase(found);
}

void Runners::reboot() {
  rebooted_ = true;
  for (auto& [key, run] : runs_) {
    if (run.live) die(key, run);
  }
}

bool Runners::kill_one() {
  for (auto& [key, run] : runs_) {
    if (!run.live) continue;
    die(key, run);
    if (run.attached) report_end(key, {ExecuteResult::Error, "its runner died", "{}"});
    return true;
  }
  return false;
}

bool Runners::any_live() const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [](const auto& each) { return each.second.live && each.second.attached; });
}

void Runners::forget_unknown(const std::set<Key>& journalled) {
  std::erase_if(runs_, [&](const auto& each) {
    return !each.second.live && !journalled.contains(each.first);
  });
}

}  // namespace muster::sim
