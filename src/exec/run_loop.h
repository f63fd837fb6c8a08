#pragma once

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "exec/child.h"
#include "exec/control_server.h"
#include "exec/output_capture.h"
#include "exec/run_ending.h"
#include "exec/run_work.h"

namespace muster::exec {

// A runner's work from the fork of the child to its end. Single-threaded; sleeps in poll() until
// the child writes or ends, an agent says something, or a deadline is reached.
//
// A run ends by itself when its child has ended; what the child left in the background goes on,
// with its output closed. A cancel or a timeout ends everything below the runner: TERM, and after
// the grace time KILL, until nothing is left, which a subreaper can tell from having no children.
class RunLoop {
 public:
  RunLoop(ChildPlan plan, ControlServer& control);

  // Once.
  RunResult run();
  void discard_output();

 private:
  enum class Phase : std::uint8_t { Running, Terminating, Killing };
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  bool start_child();
  void wait_once();
  void obey(char command);
  void on_deadline();
  void on_output(std::int64_t now);
  void reap();
  void suspend();
  void resume();
  void terminate(EndCause cause);
  void kill_all();
  RunResult finish();

  const ChildPlan plan_;
  ControlServer& control_;
  UniqueFd signals_;
  UniqueFd report_;
  std::unique_ptr<OutputCapture> output_;
  pid_t child_ = -1;
  std::int64_t started_us_ = 0;

  Phase phase_ = Phase::Running;
  bool done_ = false;
  bool suspended_ = false;
  std::int64_t deadline_us_ = kNever;   // of the phase
  std::int64_t remaining_us_ = 0;       // of the timeout, while suspended
  std::int64_t notify_at_us_ = kNever;  // output that no agent was told of yet
  std::int64_t notified_us_ = 0;
  std::vector<pollfd> entries_;
  RunEnding ending_;
};

}  // namespace muster::exec
