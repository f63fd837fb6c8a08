#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

// The command tree as plain data, and what is read from it: completion, "did you mean". The tree is
// taken from the parser itself, so neither can fall behind it.

namespace muster::cli {

struct OptionSpec {
  std::vector<std::string> names;  // "--output", "-o"
  std::string type;                // of its value; empty: a flag
  std::string help;
};

struct PositionalSpec {
  std::string type;
  bool repeated = false;
};

// Types of values that completion knows: REF (an action), AGENT, KIND, PACK, TYPE, STATUS, FILE,
// DIR, and "a|b|c" for a fixed choice.
struct CommandSpec {
  std::string name = {};
  std::vector<std::string> aliases = {};
  std::string help = {};
  bool hidden = false;
  std::vector<OptionSpec> options = {};
  std::vector<PositionalSpec> positionals = {};
  std::vector<CommandSpec> commands = {};
};

// Where a line of words leads.
struct Place {
  std::vector<const CommandSpec*> path;  // from the root; never empty
  const OptionSpec* awaits_value = nullptr;
  std::size_t positionals = 0;
  bool after_dashes = false;
  std::string unknown_command;  // a word where only a command could stand

  const CommandSpec& command() const { return *path.back(); }
};

Place locate(const CommandSpec& root, const std::vector<std::string>& words);

// What may have been meant by a wrong command or option: "did you mean 'list'?"; empty: no idea.
std::string suggestion(const CommandSpec& root, const std::vector<std::string>& words);

struct Candidate {
  std::string value;
  std::string help;

  bool operator==(const Candidate&) const = default;
};

inline constexpr std::string_view kFilesDirective = ":files";

// Values of a type that only the controller knows (REF, AGENT, KIND), or that packs have (PACK,
// TYPE).
using ValueSource = std::function<std::vector<Candidate>(std::string_view type)>;

// Candidates for the last of `words`. A candidate ":files" asks the shell for file names.
std::vector<Candidate> complete(const CommandSpec& root, const std::vector<std::string>& words,
                                const ValueSource& source);

// The text that __complete prints: "value<TAB>help" lines.
std::string candidates_text(const std::vector<Candidate>& candidates);

std::string_view bash_completion_script();
std::string_view zsh_completion_script();

}  // namespace muster::cli
