#include "exec/runner.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "exec/control_message.h"
#include "exec/run_directory.h"
#include "exec/run_loop.h"
#include "exec/run_request.h"
#include "exec/run_work.h"
#include "os/process_table.h"

namespace muster::exec {
namespace {

// What a child allocates in borrowed memory stays behind, so a runner does not serve for ever.
constexpr unsigned kRunsMax = 100;

void become_runner() {
  ::setsid();
  ::prctl(PR_SET_NAME, "muster-runner");
  // Whatever the child starts and abandons becomes a child of the runner, so that a cancel reaches
  // it and the end of all of it can be waited for.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
}

[[noreturn]] void refuse(const UniqueFd& connection, std::string_view reason) {
  send_refusal(connection.get(), reason);
  ::_exit(1);
}

Result<UniqueFd> set_up_directory(RunDirectory& directory, const RunnerContext& context) {
  const auto self = os::read_process(::getpid());
  if (!self) return fail(ErrorCode::IoError, "cannot read /proc; is it mounted?");
  MUSTER_TRY(directory.take_lock({self->pid, self->start_time, context.boot_id}));
  return directory.listen();
}

// Whether it is in the run directory, where it belongs.
bool record_result(const RunDirectory& directory, RunLoop* loop, ControlServer& control,
                   const RunResult& result) {
  if (directory.write_result(result)) return true;
  // The usual cause is a full disk, and the output is what takes room. Its tail is in the result.
  if (loop != nullptr) loop->discard_output();
  if (directory.write_result(result)) return true;
  control.send_result(encode_result(result));
  return false;
}

RunResult run_work(const RunOrder& order, const RunnerContext& context,
                   const RunDirectory& directory, ControlServer& control,
                   std::unique_ptr<RunLoop>& loop) {
  const auto work = read_work(order.spec);
  if (!work) return {core::ExecuteResult::Error, work.error().message, "{}"};
  const RunKey key{order.spec.id, order.spec.attempt};
  loop = std::make_unique<RunLoop>(ChildPlan{.spec = order.spec,
                                             .work = *work,
                                             .directory = directory,
                                             .directory_path = context.run_root + "/" + key.name(),
                                             .boot_id = context.boot_id,
                                             .version = context.version},
                                   control);
  return loop->run();
}

struct Served {
  UniqueFd agent;  // valid if it may be told that the runner is idle
  RunResult result;
};

// One run from its directory to its result. Takes the lock on the state directory out of the
// context and lets go of it as soon as the run can be found.
Served serve(RunnerContext& context, std::string_view request, UniqueFd connection) {
  const auto order = decode_run_request(request);
  if (!order) refuse(connection, "the request to run an action does not decode");
  auto directory =
      RunDirectory::create(context.runs, {order->spec.id, order->spec.attempt}, order->spare);
  if (!directory) refuse(connection, directory.error().message);
  auto listener = set_up_directory(*directory, context);
  if (!listener) refuse(connection, listener.error().message);
  ControlServer control(std::move(*listener), std::move(connection));
  if (const int lock = std::exchange(context.state_lock, -1); lock >= 0) ::close(lock);

  Served served;
  std::unique_ptr<RunLoop> loop;
  served.result = run_work(*order, context, *directory, control, loop);
  const bool recorded = record_result(*directory, loop.get(), control, served.result);
  if (recorded) served.agent = control.take_agent();
  return served;
}

// What the child left running became the runner's. Whoever cancels the next run must not reach it.
bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

}  // namespace

void run_runner(RunnerContext context, std::string request, UniqueFd connection) {
  become_runner();
  for (unsigned runs = 1;; ++runs) {
    Served served = serve(context, request, std::move(connection));
    if (!served.agent.valid() || runs == kRunsMax || has_children()) ::_exit(0);
    connection = std::move(served.agent);
    send_control(connection.get(), kIdle, encode_result(served.result));
    auto next = receive_next(connection.get());
    if (!next) ::_exit(0);
    request = std::move(next->request);
    context.state_lock = next->state_lock.release();
  }
}

}  // namespace muster::exec
