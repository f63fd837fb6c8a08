#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "exec/executor.h"
#include "sim/behaviour.h"
#include "sim/context.h"

namespace muster::sim {

// The runners of one host and their traces, which outlive the agent: what exec/ does with processes
// and run directories, in simulated time. Every effect that starts and ends here is told to the
// checkers, so this is the ledger of what really happened.
class Runners final : public exec::Executor, public std::enable_shared_from_this<Runners> {
 public:
  Runners(Context& context, std::size_t agent) : context_(context), agent_(agent) {}

  // Who is told of ends; null: no agent lives. Nothing of an earlier life reaches a later one.
  void listen(exec::ExecutorListener* listener);

  void start(const exec::RunSpec& spec, bool recovered) override;
  void signal(const core::ActionId& id, std::uint32_t attempt, core::Signal signal) override;
  exec::OutputChunk read_output(const core::ActionId& id, std::uint32_t attempt, std::uint64_t,
                                std::size_t) override;
  void forget(const core::ActionId& id, std::uint32_t attempt) override;

  // Every run dies without a result, and what was asked for but left no trace is unknown.
  void reboot();
  // One run dies without a result. False: none lives.
  bool kill_one();
  // Without those that no agent knows of, which a lost journal leaves behind.
  bool any_live() const;
  // Drops the traces of what has ended and is in no journal, as an agent does at its start.
  void forget_unknown(const std::set<std::pair<core::ActionId, std::uint32_t>>& journalled);

 private:
  using Key = std::pair<core::ActionId, std::uint32_t>;
  struct Run {
    Behaviour behaviour;
    bool live = true;
    bool attached = true;  // the agent that lives now knows of it
    bool suspended = false;
    bool ending = false;  // told to end, by whomever
    core::ExecuteResult ends_with = core::ExecuteResult::Ok;
    std::optional<exec::RunResult> result;
    Duration timeout;
    Duration left;    // until its own end, or its timeout
    Timestamp since;  // `left` counts from here, unless suspended
    std::uint64_t turn = 0;
  };

  void start_new(const exec::RunSpec& spec);
  void plan(const Key& key, Run& run);
  void time_is_up(const Key& key);
  void tell_to_end(const Key& key, Run& run, core::ExecuteResult result);
  void end(const Key& key, Run& run, core::ExecuteResult result);
  void die(const Key& key, Run& run);
  void report_end(const Key& key, exec::RunResult result);
  void report_suspended(const Key& key, bool suspended);
  void tell(std::function<void(exec::ExecutorListener&)> what);

  Context& context_;
  const std::size_t agent_;
  exec::ExecutorListener* listener_ = nullptr;
  std::uint64_t life_ = 0;  // of the agent
  bool rebooted_ = false;   // and nothing was started since
  std::map<Key, Run> runs_;
};

}  // namespace muster::sim
