#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/result.h"
#include "exec/boot_mark.h"
#include "exec/executor.h"
#include "exec/fd.h"
#include "exec/run_directory.h"
#include "exec/spawner.h"

namespace muster::exec {

struct ProcessExecutorOptions {
  std::string run_root;  // the one that the spawner was given
  // The spawner is gone, and nothing can be started any more. Comes on the executor's thread, once.
  // An agent should exit and be started again: a run that was asked for and not started is then
  // recovered, so it is not reported as ended. Without this function it is, as an ERROR.
  std::function<void(const std::string& reason)> on_spawner_lost;
};

// Runs actions through a spawner. Calls only queue a command for the executor's own thread, which
// waits in epoll for commands and for what runners say; the end of a runner is the end of its
// connection. Commands are few, since the agent runs one action at a time. A runner that has ended
// its run is given the next one if that comes soon, and the directory of a run that is forgotten
// serves another: neither a process nor an inode has to be made for a short action.
//
// The destructor stops the thread and lets go of spawner and runners; the runs go on, and the next
// executor on the same directory finds them. No callback comes after it.
class ProcessExecutor : public Executor {
 public:
  // `listener` must outlive the executor.
  static Result<std::unique_ptr<ProcessExecutor>> create(ProcessExecutorOptions options,
                                                         Spawner spawner,
                                                         ExecutorListener& listener);
  ~ProcessExecutor() override;

  void start(const RunSpec& spec, bool recovered) override;
  void signal(const core::ActionId& id, std::uint32_t attempt, core::Signal signal) override;
  OutputChunk read_output(const core::ActionId& id, std::uint32_t attempt, std::uint64_t offset,
                          std::size_t limit) override;
  void forget(const core::ActionId& id, std::uint32_t attempt) override;

  // What it can run, for the agent's introduction.
  static std::vector<std::string> kinds();
  // All attempts that have left traces, so that an agent can forget those it does not know.
  std::vector<RunKey> known_runs() const;

 private:
  struct StartCommand {
    RunSpec spec;
    bool recovered = false;
  };
  struct SignalCommand {
    RunKey key;
    core::Signal signal = core::Signal::None;
  };
  // A runner that has ended its run and waits for another, for a while.
  struct IdleRunner {
    UniqueFd connection;
    std::int64_t until_us = 0;
  };
  struct ForgetCommand {
    RunKey key;
  };
  using Command = std::variant<StartCommand, SignalCommand, ForgetCommand>;

  // A run between its start and its reported end.
  struct Run {
    RunKey key;
    UniqueFd connection;  // to the runner, while it is there
    UniqueFd dying;       // the runner's process, while its death is awaited
    std::int64_t give_up_us = 0;
    std::optional<RunResult> told;  // by a message, where no file says it
    bool forget = false;
  };
  using RunId = std::uint64_t;

  ProcessExecutor(ProcessExecutorOptions options, Spawner spawner, ExecutorListener& listener);
  Result<void> set_up();
  void post(Command command);

  // All of these on the executor's thread.
  void loop();
  int wait_ms() const;
  void run_commands();
  void run_command(const StartCommand& command);
  void run_command(const SignalCommand& command);
  void run_command(const ForgetCommand& command);
  void start_new(const RunSpec& spec);
  bool start_on_idle(const RunKey& key, const std::string& request);
  void recover(const RunSpec& spec, RunDirectory directory);
  void attach(const RunKey& key, UniqueFd connection);
  void receive(RunId id, Run& run);
  void on_idle(RunId id, Run& run, std::string_view result);
  void on_disconnected(RunId id, Run& run);
  void await_death(RunId id, Run& run, const RunDirectory& directory);
  void on_runner_dead(RunId id, Run& run);
  void on_spawner_socket();
  void lose_spawner(const std::string& reason);
  void discard(const RunKey& key);
  void end_run(RunId id, RunResult result);
  void report_end(const RunKey& key, RunResult result);
  bool watch(int fd, std::uint64_t token);

  // Constant after construction.
  const ProcessExecutorOptions options_;
  ExecutorListener& listener_;
  UniqueFd runs_;
  UniqueFd epoll_;
  UniqueFd wake_;
  std::string boot_id_;

  // Of the executor's thread.
  Spawner spawner_;
  bool spawner_lost_ = false;
  std::unique_ptr<BootMark> boot_mark_;
  std::map<RunId, Run> runs_by_id_;
  std::map<RunKey, RunId> ids_by_key_;
  RunId next_id_;
  IdleRunner idle_;
  std::vector<std::string> spares_;       // names of emptied directories
  std::vector<std::string> free_spares_;  // names that no directory has
  std::string packet_;

  // Protected by mutex_.
  mutable std::mutex mutex_;
  std::deque<Command> commands_;
  std::set<RunKey> live_;
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace muster::exec
