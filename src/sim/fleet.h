#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include "sim/agent_process.h"
#include "sim/context.h"
#include "sim/controller_process.h"
#include "sim/network.h"
#include "sim/runners.h"
#include "store/memory_store.h"

namespace muster::sim {

// The machines: two for controllers, which share one store, and one per agent, each with its own
// clock and disk. Processes come and go on them; disks, clocks and runners stay.
class Fleet {
 public:
  static constexpr std::size_t kControllers = 2;

  explicit Fleet(Context& context);

  void start_all();

  // --- Controllers. Only the active one is kept running. ---

  std::size_t active() const { return active_; }
  // Null: down.
  std::shared_ptr<ControllerProcess> controller(std::size_t index) const;
  void start_controller(std::size_t index);
  // It starts again after `down_for` if it is still the active one.
  void crash_controller(std::size_t index, bool silent, Duration down_for);
  // The other machine takes over; this one goes on until it notices, or is stopped after a while.
  void replace_controller(Duration stop_after);
  void set_controller_clock(std::size_t index, Duration offset);
  Duration controller_clock(std::size_t index) const { return controllers_[index].offset; }
  void set_store_full(bool full) { store_full_ = full; }

  // --- Agents. ---

  std::size_t agents() const { return agents_.size(); }
  std::shared_ptr<AgentProcess> agent(std::size_t index) const;
  bool is_agent_up(std::size_t index) const { return agents_[index].process != nullptr; }
  void start_agent(std::size_t index);
  void crash_agent(std::size_t index, bool silent, Duration down_for);
  void reboot_host(std::size_t index, Duration down_for);
  void lose_journal(std::size_t index, Duration down_for);
  void lose_host(std::size_t index);
  bool kill_runner(std::size_t index) { return agents_[index].runners->kill_one(); }
  void set_agent_clock(std::size_t index, Duration offset) { agents_[index].offset = offset; }
  Duration agent_clock(std::size_t index) const { return agents_[index].offset; }
  void set_journal_full(std::size_t index, bool full) { agents_[index].full = full; }
  const std::set<std::size_t>& gone() const { return gone_; }

  Network& network() { return network_; }

  // Everything that was broken and can be mended is.
  void heal();
  // What is under way in the processes that matter, in words.
  std::vector<std::string> busy() const;

 private:
  struct ControllerMachine {
    Duration offset;
    std::shared_ptr<ControllerProcess> process;
    std::uint64_t life = 0;
  };
  struct AgentMachine {
    Duration offset;
    bool full = false;
    std::unique_ptr<store::MemoryStore> disk;
    std::shared_ptr<Runners> runners;
    std::shared_ptr<AgentProcess> process;
    std::uint64_t life = 0;
    core::agent::AgentCoreOptions options;
  };

  void make_disk(std::size_t agent);
  void stop_controller(std::size_t index, bool silent);
  void restart_agent(std::size_t index, Duration after);
  store::CommitFault store_fault();
  store::CommitFault journal_fault(std::size_t agent);

  Context& context_;
  Network network_;
  store::MemoryStore store_;
  bool store_full_ = false;
  core::EngineOptions engine_options_;
  std::vector<ControllerMachine> controllers_;
  std::vector<AgentMachine> agents_;
  std::size_t active_ = 0;
  std::set<std::size_t> gone_;
};

}  // namespace muster::sim
