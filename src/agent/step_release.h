#pragma once

#include <cstdint>
#include <functional>

#include "core/agent/agent_io.h"
#include "exec/executor.h"

namespace muster::agent {

enum class LinkChange : std::uint8_t { None, Up, Down };

// Lets out what a step of the agent's core asked for, once its writes are durable: the executor
// forgets, messages leave, runs start and are signalled, callers are answered. Has no thread of its
// own; the thread that owns the core calls it.
//
// Messages only leave in a session whose view was sent: before that nothing may be said in it, and
// the view tells it all.
class StepRelease {
 public:
  struct Outlets {
    std::function<void(const core::agent::AgentMessage&)> send;  // empty: no link
    std::function<void(core::agent::LocalReply&)> answer;
  };

  // Both are borrowed. `listener` is told of runs that provably do not exist.
  StepRelease(exec::Executor& executor, exec::ExecutorListener& listener, Outlets outlets);

  void let_out(core::agent::AgentEffects& effects, LinkChange link);

 private:
  void let_out_run(const core::agent::RunCommand& run);

  exec::Executor& executor_;
  exec::ExecutorListener& listener_;
  const Outlets outlets_;
  bool link_ready_ = false;  // the whole view of this session was sent
};

}  // namespace muster::agent
