#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

// The program as it is: help, exit codes and messages of its command line. Nothing here needs a
// controller.

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Ended {
  int exit = -1;
  std::string out;
  std::string err;
};

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe2(fds_, O_CLOEXEC), 0); }
  ~Pipe() {
    close_writer();
    close(fds_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_writer() {
    if (fds_[1] >= 0) close(fds_[1]);
    fds_[1] = -1;
  }
  int writer() const { return fds_[1]; }
  int reader() const { return fds_[0]; }

 private:
  int fds_[2] = {-1, -1};
};

// Both streams to their ends, within a deadline that a hanging program breaks.
bool read_both(const Pipe& out, const Pipe& err, Ended& ended) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  pollfd fds[2] = {{out.reader(), POLLIN, 0}, {err.reader(), POLLIN, 0}};
  int open = 2;
  while (open > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || poll(fds, 2, static_cast<int>(left.count())) < 0) return false;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = read(fds[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        (i == 0 ? ended.out : ended.err).append(buffer, static_cast<std::size_t>(got));
      } else {
        fds[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

Ended muster(std::vector<std::string> arguments) {
  Pipe out;
  Pipe err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.writer(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.writer(), STDERR_FILENO);
  arguments.insert(arguments.begin(), "muster");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::string locale = "LC_ALL=C.UTF-8";
  std::string asan = "ASAN_OPTIONS=detect_leaks=0";
  std::string path = "PATH=/usr/bin:/bin";
  char* environment[] = {locale.data(), asan.data(), path.data(), nullptr};
  pid_t pid = 0;
  const int spawned = posix_spawn(&pid, MUSTER_BINARY, &actions, nullptr, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(spawned, 0);
  out.close_writer();
  err.close_writer();
  Ended ended;
  if (!read_both(out, err, ended)) kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status)) ended.exit = WEXITSTATUS(status);
  return ended;
}

const std::vector<std::string> kNowhere = {"--addr", "/nonexistent/muster.sock"};

std::vector<std::string> nowhere(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), kNowhere.begin(), kNowhere.end());
  return arguments;
}

TEST(Binary, HelpLeadsWithExamplesAndTellsTheExitCodes) {
  const Ended ended = muster({"--help"});
  EXPECT_EQ(ended.exit, 0);
  EXPECT_LT(ended.out.find("Examples:"), ended.out.find("Usage:"));
  EXPECT_THAT(ended.out, HasSubstr("69  the controller cannot be reached"));
  EXPECT_THAT(ended.out, Not(HasSubstr("__complete")));
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST(Binary, EveryCommandHasHelpWithExamples) {
  for (const char* command :
       {"actions", "nodes", "events", "status", "kinds", "backup", "restore", "completion",
        "version", "agent", "server", "dev", "logs", "wait", "explain", "packs", "types"}) {
    const Ended ended = muster({command, "--help"});
    EXPECT_EQ(ended.exit, 0) << command;
    EXPECT_THAT(ended.out, HasSubstr("Examples:")) << command;
  }
  for (const char* verb : {"submit", "list", "show", "wait", "logs", "explain", "signal", "cancel",
                           "suspend", "resume", "approve", "reject"}) {
    EXPECT_THAT(muster({"action", verb, "-h"}).out, HasSubstr("Examples:")) << verb;
  }
}

TEST(Binary, WrongUseIs64WithASuggestion) {
  const Ended command = muster({"actoins", "list"});
  EXPECT_EQ(command.exit, 64);
  EXPECT_EQ(command.err,
            "error: 'actoins' is not a command (usage)\nhint: did you mean 'actions'?\n");
  EXPECT_THAT(command.out, IsEmpty());
  const Ended verb = muster({"actions", "lst"});
  EXPECT_EQ(verb.exit, 64);
  EXPECT_THAT(verb.err, HasSubstr("did you mean 'list'?"));
  const Ended option = muster({"actions", "list", "--statsu", "RUNNING"});
  EXPECT_EQ(option.exit, 64);
  EXPECT_THAT(option.err, HasSubstr("did you mean '--status'?"));
  EXPECT_EQ(muster({}).exit, 64);
  EXPECT_EQ(muster({"actions"}).exit, 64);
  EXPECT_EQ(muster({"actions", "show"}).exit, 64);
  EXPECT_EQ(muster({"actions", "list", "--limit", "0"}).exit, 64);
  EXPECT_EQ(muster({"actions", "list", "-o", "xml"}).exit, 64);
  EXPECT_EQ(muster({"actions", "show", "x", "--", "y"}).exit, 64);
  EXPECT_EQ(muster({"completion", "fish"}).exit, 64);
  EXPECT_EQ(muster(nowhere({"actions", "submit", "noop", "--timeout", "soon"})).exit, 64);
  EXPECT_EQ(muster({"actions", "list", "--addr", "nonsense"}).exit, 64);
}

TEST(Binary, AnUnreachableControllerIs69) {
  const Ended ended = muster(nowhere({"actions", "list"}));
  EXPECT_EQ(ended.exit, 69);
  EXPECT_THAT(ended.err, HasSubstr("cannot reach the controller at unix:/nonexistent/muster.sock"));
  EXPECT_THAT(ended.err, HasSubstr("hint: no socket"));
  EXPECT_EQ(muster(nowhere({"status"})).exit, 69);
  // An action with the name of a command is an action.
  EXPECT_EQ(muster(nowhere({"actions", "show", "backup"})).exit, 69);
}

TEST(Binary, CompletesWithoutAController) {
  const Ended verbs = muster({"__complete", "--", "actions", "s"});
  EXPECT_EQ(verbs.exit, 0);
  EXPECT_THAT(verbs.out, HasSubstr("submit\t"));
  EXPECT_THAT(verbs.out, HasSubstr("signal\t"));
  EXPECT_THAT(muster({"__complete", "--", "-o", "y"}).out, "yaml\n");
  EXPECT_THAT(muster({"__complete", "--", "actions", "list", "--st"}).out, HasSubstr("--status\t"));
  EXPECT_EQ(muster({"__complete", "--", "--addr", "/nonexistent/s", "logs", ""}).out, "");
}

TEST(Binary, BashCompletesWithIt) {
  const Ended script = muster({"completion", "bash"});
  ASSERT_EQ(script.exit, 0);
  const std::string line = "muster actions li";
  const std::string program =
      "muster() { " MUSTER_BINARY " \"$@\"; }\n" + script.out + "\nCOMP_LINE='" + line +
      "' COMP_POINT=" + std::to_string(line.size()) + "\n_muster\necho \"${COMPREPLY[@]}\"\n";
  FILE* bash = popen(("LC_ALL=C.UTF-8 bash --norc -c '" +
                      [&] {
                        std::string quoted;
                        for (const char c : program)
                          quoted += c == '\'' ? "'\\''" : std::string(1, c);
                        return quoted;
                      }() +
                      "'")
                         .c_str(),
                     "r");
  ASSERT_NE(bash, nullptr);
  char buffer[256] = {};
  EXPECT_NE(fgets(buffer, sizeof buffer, bash), nullptr);
  pclose(bash);
  EXPECT_STREQ(buffer, "list\n");
}

TEST(Binary, RestoreRefusesAMissingBackup) {
  const std::string directory = ::testing::TempDir() + "/muster_restore_test";
  const Ended ended = muster({"restore", "/nonexistent/backup.db", "--data-dir", directory});
  EXPECT_EQ(ended.exit, 1);
  EXPECT_THAT(ended.err, HasSubstr("/nonexistent/backup.db"));
  std::filesystem::remove_all(directory);
}

TEST(Binary, FindsThePacksThatItCameWith) {
  const Ended packs = muster({"packs", "list", "-o", "name"});
  EXPECT_EQ(packs.exit, 0) << packs.err;
  EXPECT_THAT(packs.out, HasSubstr("core\n"));
  EXPECT_THAT(muster({"types", "show", "node"}).out, HasSubstr("network_interfaces/*"));
  EXPECT_THAT(muster({"__complete", "--", "types", "show", "clus"}).out,
              HasSubstr("cluster-base\t"));
  const Ended missing = muster({"packs", "check", "/nonexistent"});
  EXPECT_EQ(missing.exit, 1);
  EXPECT_EQ(missing.out, "/nonexistent: this is no folder that can be read\n");
}

TEST(Binary, TellsItsVersion) {
  EXPECT_THAT(muster({"--version"}).out, HasSubstr("muster 0."));
  const Ended json = muster(nowhere({"version", "-o", "json"}));
  EXPECT_EQ(json.exit, 0);
  EXPECT_THAT(json.out, HasSubstr("\"server\": null"));
}

}  // namespace
