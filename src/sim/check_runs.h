#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/action/status.h"
#include "sim/check_durable.h"
#include "sim/views.h"

namespace muster::sim {

// One start of an effect, outside of the system: a process on a host, or a job of a controller.
struct Start {
  bool on_agent = false;
  std::size_t agent = 0;
  std::uint64_t journal = 0;  // which of the agent's journals
  core::Origin origin = core::Origin::Controller;
  core::ActionId id;
  std::uint32_t attempt = 1;
  std::string inputs;
};

// The ledger of effects. Promise 2: an effect starts at most once per attempt. Promise 3: an agent
// runs at most one action; what an agent whose journal was lost had running does not count, since
// nothing on that host can know of it.
class CheckRuns {
 public:
  Wrong on_start_once(const Start& start);
  Wrong on_start_alone(const Start& start);
  void on_end(std::size_t agent, const core::ActionId& id, std::uint32_t attempt,
              core::ExecuteResult result);
  void on_journal_lost(std::size_t agent);

  // An outcome that is recorded as a success must have been one, of the same inputs.
  Wrong on_change(const RecordView::Change& change) const;

 private:
  using Key = std::pair<core::ActionId, std::uint32_t>;
  struct Run {
    std::string inputs;
    core::Origin origin = core::Origin::Controller;
    std::optional<core::ExecuteResult> result;
  };

  std::set<Key> jobs_;
  std::set<std::tuple<std::size_t, core::ActionId, std::uint32_t>> started_;  // for a controller
  std::set<std::tuple<std::size_t, std::uint64_t, core::ActionId, std::uint32_t>> of_journal_;
  std::map<std::size_t, std::set<Key>> live_;  // by agent, without orphans
  std::map<Key, std::map<std::size_t, Run>> runs_;
};

}  // namespace muster::sim
