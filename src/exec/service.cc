#include "exec/service.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <map>
#include <sstream>
#include <vector>

#include "base/result.h"
#include "exec/fd.h"

namespace muster::exec {
namespace {

constexpr std::size_t kUnitNameMax = 255;
constexpr std::size_t kShowBytesMax = std::size_t{64} << 10;
constexpr int kExitNoProgram = 127;

// Runs a program to its end; what it prints goes to `output`. Answers with the exit code.
Result<int> run_tool(std::vector<std::string> arguments, int output) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorCode::IoError, "cannot fork: {}", errno_text(errno));
  if (pid == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::execvp(argv.front(), argv.data());
    ::_exit(kExitNoProgram);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return fail(ErrorCode::IoError, "cannot wait: {}", errno_text(errno));
  }
  if (!WIFEXITED(status)) {
    return fail(ErrorCode::IoError, "'{}' was killed by signal {}", arguments.front(),
                WTERMSIG(status));
  }
  if (WEXITSTATUS(status) == kExitNoProgram) {
    return fail(ErrorCode::NotFound, "cannot run '{}'", arguments.front());
  }
  return WEXITSTATUS(status);
}

Result<std::map<std::string, std::string>> show_unit(const core::ServiceInputs& inputs,
                                                     const SystemdPaths& systemd) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::IoError, "cannot make a pipe: {}", errno_text(errno));
  }
  const UniqueFd reader(pipe[0]);
  UniqueFd writer(pipe[1]);
  // The answer is a few lines, which the pipe holds until the tool has ended.
  MUSTER_TRY_ASSIGN(const int code, run_tool({systemd.systemctl, "show", "--property",
                                              "LoadState,ActiveState,SubState,MainPID",
                                              "--no-ask-password", "--", inputs.unit},
                                             writer.get()));
  writer.reset();
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t n = 0;
  while (text.size() < kShowBytesMax &&
         (n = ::read(reader.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  if (code != 0) {
    return fail(ErrorCode::IoError, "'{} show {}' failed with exit code {}", systemd.systemctl,
                inputs.unit, code);
  }
  std::map<std::string, std::string> properties;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) properties[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return properties;
}

}  // namespace

bool is_unit_name(std::string_view unit) {
  if (unit.empty() || unit.size() > kUnitNameMax || unit.front() == '-') return false;
  for (const char c : unit) {
    const bool allowed = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                         std::string_view(":-_.\\@").find(c) != std::string_view::npos;
    if (!allowed) return false;
  }
  return true;
}

ChildReport run_service(const core::ServiceInputs& inputs, const SystemdPaths& systemd) {
  if (!is_unit_name(inputs.unit)) {
    return ChildReport::error(fmt::format("'{}' is not the name of a unit", inputs.unit));
  }
  if (::access(systemd.booted_mark.c_str(), F_OK) != 0) {
    return ChildReport::error(
        fmt::format("systemd is not running on this host (there is no '{}')", systemd.booted_mark));
  }
  ChildReport report;
  if (inputs.verb != "status") {
    const auto code = run_tool(
        {systemd.systemctl, inputs.verb, "--no-ask-password", "--", inputs.unit}, STDOUT_FILENO);
    if (!code) return ChildReport::error(code.error().message);
    if (*code != 0) {
      report = ChildReport::error(fmt::format("'systemctl {} {}' failed with exit code {}",
                                              inputs.verb, inputs.unit, *code));
    }
  }
  auto properties = show_unit(inputs, systemd);
  if (!properties) {
    return report.result == core::ExecuteResult::Ok ? ChildReport::error(properties.error().message)
                                                    : report;
  }
  if ((*properties)["LoadState"] == "not-found") {
    return ChildReport::error(fmt::format("there is no unit '{}' on this host", inputs.unit));
  }
  int main_pid = 0;
  const std::string& text = (*properties)["MainPID"];
  std::from_chars(text.data(), text.data() + text.size(), main_pid);
  report.outputs["active_state"] = (*properties)["ActiveState"];
  report.outputs["sub_state"] = (*properties)["SubState"];
  report.outputs["main_pid"] = main_pid;
  return report;
}

}  // namespace muster::exec
