#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "core/action/action.h"

// Runs agent actions as real processes that survive the agent.
//
// Three processes take part. The agent holds an Executor. A spawner, forked from the agent before
// it has any thread, forks runners on request: forking a small single-threaded image is cheap and
// safe, and needs no second binary. The runner leads its own session, forks the child that does the
// work, captures its output, enforces its limits and timeout, obeys cancel, suspend and resume,
// records how it ended, and takes the next action from its agent or exits. Neither the death of the
// agent nor that of the spawner touches it while it runs one.
//
// The run directory <state>/runs/<uuid>.<attempt>/ is the shared memory between the lives of an
// agent: giving it that name is the atomic mark that the attempt has started. A runner holds a lock
// on a file in it during the run, and the file says where it takes commands and, complete or not at
// all, how the run ended. The spawner inherits the agent's lock on the state directory, and every
// request to a runner carries it along, so that a new agent cannot look at run directories before
// every start that was asked for has happened or never will.

namespace muster::exec {

struct RunSpec {
  core::ActionId id;
  std::uint32_t attempt = 1;
  std::string kind;
  core::JsonText inputs = "{}";
  Duration timeout;
  std::string name;
  std::string requested_by;
};

struct RunResult {
  core::ExecuteResult result = core::ExecuteResult::Ok;
  std::string reason;
  core::JsonText outputs = "{}";  // exit_code, signal, output_tail, output_bytes, output_truncated,
                                  // duration_ms, and what the kind adds
};

struct OutputChunk {
  bool known = false;
  std::string data;
  bool end = false;
  bool truncated = false;
};

// Callbacks come on the executor's own thread, never from within a call.
class ExecutorListener {
 public:
  virtual ~ExecutorListener() = default;
  virtual void on_ended(const core::ActionId& id, std::uint32_t attempt, RunResult result) = 0;
  virtual void on_suspended(const core::ActionId& id, std::uint32_t attempt, bool suspended) = 0;
  // There is new output, or the run has ended.
  virtual void on_output(const core::ActionId& id, std::uint32_t attempt) = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Starts the attempt, whose intent is in the journal. With `recovered`, first looks for traces of
  // an earlier start and re-attaches to them. Failure to start is reported as an ended run.
  virtual void start(const RunSpec& spec, bool recovered) = 0;
  virtual void signal(const core::ActionId& id, std::uint32_t attempt, core::Signal signal) = 0;
  // Reads captured output; attempt 0: the newest. Any thread.
  virtual OutputChunk read_output(const core::ActionId& id, std::uint32_t attempt,
                                  std::uint64_t offset, std::size_t limit) = 0;
  // Removes the traces of an attempt that is final and no longer kept.
  virtual void forget(const core::ActionId& id, std::uint32_t attempt) = 0;
};

}  // namespace muster::exec
