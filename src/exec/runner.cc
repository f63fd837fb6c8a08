#include "exec/runner.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "exec/control_message.h"
#include "exec/process_table.h"
#include "exec/run_directory.h"
#include "exec/run_loop.h"
#include "exec/run_request.h"
#include "exec/run_work.h"

namespace muster::exec {
namespace {

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
  const auto self = read_process(::getpid());
  if (!self) return fail(ErrorCode::IoError, "cannot read /proc; is it mounted?");
  MUSTER_TRY(directory.take_lock({self->pid, self->start_time, context.boot_id}));
  return directory.listen();
}

void record_result(const RunDirectory& directory, RunLoop* loop, ControlServer& control,
                   const RunResult& result) {
  if (directory.write_result(result)) return;
  // The usual cause is a full disk, and the output is what takes room. Its tail is in the result.
  if (loop != nullptr) loop->discard_output();
  if (directory.write_result(result)) return;
  control.send_result(encode_result(result));
}

}  // namespace

void run_runner(const RunnerContext& context, std::string_view request, UniqueFd connection) {
  become_runner();
  const auto spec = decode_run_request(request);
  if (!spec) refuse(connection, "the request to run an action does not decode");
  auto directory = RunDirectory::create(context.runs, {spec->id, spec->attempt});
  if (!directory) refuse(connection, directory.error().message);
  auto listener = set_up_directory(*directory, context);
  if (!listener) refuse(connection, listener.error().message);
  ControlServer control(std::move(*listener), std::move(connection));
  if (context.state_lock >= 0) ::close(context.state_lock);
  ::close(context.runs);

  const auto work = read_work(*spec);
  if (!work) {
    record_result(*directory, nullptr, control,
                  {core::ExecuteResult::Error, work.error().message, "{}"});
    ::_exit(0);
  }
  RunLoop loop({.spec = *spec,
                .work = *work,
                .directory = *directory,
                .directory_path = context.run_root + "/" + RunKey{spec->id, spec->attempt}.name(),
                .boot_id = context.boot_id,
                .version = context.version},
               control);
  const RunResult result = loop.run();
  record_result(*directory, &loop, control, result);
  ::_exit(0);
}

}  // namespace muster::exec
