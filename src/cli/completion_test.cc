#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/dev_supervisor.h"

namespace muster::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

CommandSpec tree() {
  CommandSpec show{.name = "show", .positionals = {{"REF"}}};
  CommandSpec list{.name = "list",
                   .options = {{{"--status"}, "STATUS", ""},
                               {{"--target"}, "AGENT", ""},
                               {{"--since"}, "TIME|+DURATION", ""}}};
  CommandSpec wait{.name = "wait", .positionals = {{"REF", true}}};
  CommandSpec signal{.name = "signal", .positionals = {{"REF"}, {"CANCEL|RESUME"}}};
  CommandSpec actions{
      .name = "actions", .aliases = {"action"}, .commands = {show, list, wait, signal}};
  CommandSpec backup{.name = "backup", .positionals = {{"FILE"}}};
  CommandSpec hidden{.name = "__complete", .hidden = true};
  return {.name = "muster",
          .options = {{{"--output", "-o"}, "table|json", ""}, {{"--quiet"}, "", ""}},
          .commands = {actions, backup, hidden}};
}

std::vector<std::string> completions(const std::vector<std::string>& words) {
  const auto source = [](std::string_view type) -> std::vector<Candidate> {
    if (type == "REF") return {{"nightly", ""}, {"3f2a", ""}};
    return {{"db1", ""}};
  };
  std::vector<std::string> values;
  for (const Candidate& candidate : complete(tree(), words, source)) {
    values.push_back(candidate.value);
  }
  return values;
}

TEST(Completion, OffersCommandsThenTheirArguments) {
  EXPECT_THAT(completions({""}), ElementsAre("actions", "backup"));
  EXPECT_THAT(completions({"ac"}), ElementsAre("actions"));
  EXPECT_THAT(completions({"action", "s"}), ElementsAre("show", "signal"));
  EXPECT_THAT(completions({"actions", "show", ""}), ElementsAre("nightly", "3f2a"));
  EXPECT_THAT(completions({"actions", "show", "ni"}), ElementsAre("nightly"));
  EXPECT_THAT(completions({"actions", "show", "nightly", ""}), IsEmpty());
  EXPECT_THAT(completions({"actions", "wait", "nightly", "3"}), ElementsAre("3f2a"));
  EXPECT_THAT(completions({"actions", "signal", "3f2a", ""}), ElementsAre("CANCEL", "RESUME"));
  EXPECT_THAT(completions({"backup", ""}), ElementsAre(":files"));
}

TEST(Completion, OffersOptionsAndTheirValues) {
  EXPECT_THAT(completions({"actions", "list", "--"}),
              ElementsAre("--output", "--quiet", "--status", "--target", "--since"));
  EXPECT_THAT(completions({"actions", "list", "--since", ""}), IsEmpty());
  EXPECT_THAT(completions({"-o", ""}), ElementsAre("table", "json"));
  EXPECT_THAT(completions({"actions", "list", "--output=j"}), ElementsAre("--output=json"));
  EXPECT_THAT(completions({"actions", "list", "--target", ""}), ElementsAre("db1"));
  EXPECT_THAT(completions({"actions", "list", "--status", "RUN"}), ElementsAre("RUNNING"));
  EXPECT_THAT(completions({"--quiet", "actions", "sh"}), ElementsAre("show"));
  EXPECT_THAT(completions({"-o", "json", "actions", "sh"}), ElementsAre("show"));
}

TEST(Completion, LeavesForeignCommandsToTheShell) {
  EXPECT_THAT(completions({"actions", "list", "--", "--st"}), ElementsAre(":files"));
}

TEST(Completion, PrintsOneCandidatePerLine) {
  EXPECT_EQ(candidates_text({{"a", "first\tline\n"}, {"b", ""}}), "a\tfirst line \nb\n");
}

TEST(Suggestion, NamesTheNearestCommandOrOption) {
  EXPECT_EQ(suggestion(tree(), {"actoins"}), "did you mean 'actions'?");
  EXPECT_EQ(suggestion(tree(), {"actions", "lst"}), "did you mean 'list'?");
  EXPECT_EQ(suggestion(tree(), {"actions", "list", "--statsu", "x"}), "did you mean '--status'?");
  EXPECT_EQ(suggestion(tree(), {"frobnicate"}), "");
  EXPECT_EQ(suggestion(tree(), {"__complet"}), "");
  EXPECT_EQ(locate(tree(), {"actoins", "list"}).unknown_command, "actoins");
  EXPECT_EQ(locate(tree(), {"actions", "show", "list"}).unknown_command, "");
}

TEST(CompletionScripts, AreValidShell) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "muster_completion_test.bash";
  std::ofstream(path) << bash_completion_script();
  EXPECT_EQ(std::system(("bash -n " + path.string()).c_str()), 0);
  if (std::system("command -v zsh >/dev/null 2>&1") == 0) {
    std::ofstream(path) << zsh_completion_script();
    EXPECT_EQ(std::system(("zsh -n " + path.string()).c_str()), 0);
  }
  std::filesystem::remove(path);
}

// The script among stand-ins for zsh's own functions, with a program that has a candidate with a
// colon, which _describe would take for the end of the value.
TEST(CompletionScripts, ZshOffersWhatTheProgramAnswers) {
  if (std::system("command -v zsh >/dev/null 2>&1") != 0) GTEST_SKIP() << "zsh is not here";
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "muster_zsh_completion_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "script") << zsh_completion_script();
  std::ofstream(folder / "program") << R"(
    print -r -- "asked $*" >&3
    [[ $4 == f ]] && print ':files' || print 'list\tShow them\nunix:/run\tA socket\nbare')";
  std::ofstream(folder / "driver") << R"(
    exec 3>&1
    compdef() { print "registered $*" }
    _describe() { print -rl -- "${(@P)2}" }
    _files() { print files }
    program() { zsh -f program "$@" }
    source ./script
    words=(program actions li) CURRENT=3
    _muster; print "status $?"
    words=(program actions f x) CURRENT=3
    _muster; print "status $?")";
  EXPECT_EQ(std::system(("cd " + folder.string() + " && zsh -f driver >offered").c_str()), 0);
  std::ifstream offered(folder / "offered");
  const std::string text((std::istreambuf_iterator<char>(offered)), {});
  EXPECT_EQ(text,
            "registered _muster muster\n"
            "asked __complete -- actions li\n"
            "list:Show them\nunix\\:/run:A socket\nbare\nstatus 0\n"
            "asked __complete -- actions f\n"
            "files\nstatus 0\n");
  std::filesystem::remove_all(folder);
}

TEST(Dev, StartsTheFleetOnItsOwnPathsAndPorts) {
  DevOptions options;
  options.agents = 2;
  options.agent_prefix = "db";
  const std::vector<DevChild> children =
      dev_children(options, "/tmp/fleet", "127.0.0.1:1", "127.0.0.1:2", 42);
  ASSERT_EQ(children.size(), 3U);
  EXPECT_EQ(children[0].name, "server");
  EXPECT_EQ(children[0].arguments.front(), "server");
  EXPECT_THAT(children[0].arguments, Contains("/tmp/fleet/muster.sock"));
  EXPECT_EQ(children[2].name, "db2");
  EXPECT_THAT(children[2].arguments, Contains("/tmp/fleet/agents/db2/agent.sock"));
  EXPECT_THAT(children[2].arguments, Contains("127.0.0.1:2"));
  EXPECT_EQ(children[2].log_file, "/tmp/fleet/logs/db2.log");
}

TEST(Dev, ListsOnlyRunningProcesses) {
  EXPECT_EQ(pids_text({{.name = "server", .pid = 7}, {.name = "a1"}, {.name = "a2", .pid = 9}}),
            "server 7\na2 9\n");
}

TEST(Dev, FindsAFreePort) {
  const Result<std::string> address = free_address("127.0.0.1:0");
  ASSERT_TRUE(address.has_value());
  EXPECT_TRUE(address->starts_with("127.0.0.1:"));
  EXPECT_NE(*address, "127.0.0.1:0");
  EXPECT_FALSE(free_address("localhost").has_value());
  EXPECT_FALSE(free_address("127.0.0.1:99999").has_value());
  EXPECT_FALSE(free_address("127.0.0.1:8x").has_value());
}

}  // namespace
}  // namespace muster::cli
