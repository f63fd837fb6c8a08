#include "exec/exec_program.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>

#include "exec/account.h"
#include "exec/child.h"
#include "exec/fd.h"

namespace muster::exec {
namespace {

using Environment = std::map<std::string, std::string>;

Environment make_environment(const RunSpec& spec, const core::ExecInputs& inputs,
                             const std::optional<Account>& account) {
  Environment environment;
  if (!inputs.clear_env) {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      const std::size_t equals = text.find('=');
      if (equals == std::string_view::npos || equals == 0) continue;
      environment[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
  }
  if (account) {
    environment["HOME"] = account->home;
    environment["USER"] = account->name;
    environment["LOGNAME"] = account->name;
    environment["SHELL"] = account->shell;
  }
  for (const auto& [name, value] : inputs.env) environment[name] = value;
  // Always there, also in a cleared environment: they tell whose process this is.
  environment["MUSTER_ACTION_ID"] = spec.id.to_string();
  environment["MUSTER_ACTION_NAME"] = spec.name;
  environment["MUSTER_ATTEMPT"] = std::to_string(spec.attempt);
  environment["MUSTER_REQUESTED_BY"] = spec.requested_by;
  environment[kRunVariable] = RunKey{spec.id, spec.attempt}.name();
  return environment;
}

Result<void> set_stdin(const std::string& text) {
  if (text.empty()) return {};
  const UniqueFd file(::memfd_create("muster-stdin", MFD_CLOEXEC));
  if (!file.valid() || !write_all(file.get(), text) || ::lseek(file.get(), 0, SEEK_SET) != 0 ||
      ::dup2(file.get(), STDIN_FILENO) < 0) {
    return fail(ErrorCode::IoError, "cannot set up the standard input: {}", errno_text(errno));
  }
  return {};
}

// The state directory is closed to all but the agent's user. A script for another user is therefore
// handed over as an open descriptor, and belongs to that user.
Result<std::string> write_script(const std::string& script, int run_directory,
                                 const std::string& run_directory_path,
                                 const std::optional<Account>& account) {
  const UniqueFd file(
      ::openat(run_directory, "script", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700));
  if (!file.valid() || !write_all(file.get(), script)) {
    return fail(ErrorCode::IoError, "cannot write the script: {}", errno_text(errno));
  }
  if (!account) return run_directory_path + "/script";
  if (::fchown(file.get(), account->uid, account->gid) != 0) {
    return fail(ErrorCode::IoError, "cannot give the script to user '{}': {}", account->name,
                errno_text(errno));
  }
  const int inherited = ::openat(run_directory, "script", O_RDONLY);
  if (inherited < 0) {
    return fail(ErrorCode::IoError, "cannot open the script: {}", errno_text(errno));
  }
  return fmt::format("/dev/fd/{}", inherited);
}

Result<void> become(const Account& account) {
  if (::geteuid() == account.uid && account.uid != 0) return {};
  if (::geteuid() != 0) {
    return fail(ErrorCode::Forbidden, "cannot run as user '{}': the agent does not run as root",
                account.name);
  }
  if (::initgroups(account.name.c_str(), account.gid) != 0 || ::setgid(account.gid) != 0 ||
      ::setuid(account.uid) != 0) {
    return fail(ErrorCode::IoError, "cannot become user '{}': {}", account.name, errno_text(errno));
  }
  return {};
}

}  // namespace

Result<Program> prepare_program(const RunSpec& spec, const core::ExecInputs& inputs,
                                int run_directory, const std::string& run_directory_path) {
  std::optional<Account> account;
  if (!inputs.user.empty()) {
    MUSTER_TRY_ASSIGN(account, find_user(inputs.user));
  }
  Program program;
  if (inputs.argv.empty()) {
    MUSTER_TRY_ASSIGN(std::string script,
                      write_script(inputs.script, run_directory, run_directory_path, account));
    program.argv = {inputs.interpreter, std::move(script)};
  } else {
    program.argv = inputs.argv;
  }
  MUSTER_TRY(set_stdin(inputs.stdin_text));
  if (account) MUSTER_TRY(become(*account));
  // As the user, whose rights decide whether the directory may be entered.
  const std::string& cwd = inputs.cwd.empty() ? "/" : inputs.cwd;
  if (::chdir(cwd.c_str()) != 0) {
    return fail(ErrorCode::IoError, "cannot change to directory '{}': {}", cwd, errno_text(errno));
  }
  for (const auto& [name, value] : make_environment(spec, inputs, account)) {
    program.environment.push_back(name + "=" + value);
  }
  return program;
}

}  // namespace muster::exec
