#include "cli/completion.h"

#include <algorithm>

#include "base/nearest.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

const CommandSpec* find_command(const CommandSpec& parent, std::string_view name) {
  for (const CommandSpec& command : parent.commands) {
    if (command.name == name ||
        std::find(command.aliases.begin(), command.aliases.end(), name) != command.aliases.end()) {
      return &command;
    }
  }
  return nullptr;
}

// Options of a command are also taken by the commands below it.
const OptionSpec* find_option(const std::vector<const CommandSpec*>& path, std::string_view name) {
  for (auto command = path.rbegin(); command != path.rend(); ++command) {
    for (const OptionSpec& option : (*command)->options) {
      if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) {
        return &option;
      }
    }
  }
  return nullptr;
}

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// "json|yaml" is one, "TIME|+DURATION" tells people what may stand there.
bool is_choice(std::string_view type) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '|';
  };
  return type.find('|') != std::string_view::npos && std::all_of(type.begin(), type.end(), is_word);
}

std::vector<Candidate> values_of(std::string_view type, const ValueSource& source) {
  if (type == "FILE" || type == "DIR" || type == "PATH") {
    return {{std::string(kFilesDirective), ""}};
  }
  if (type == "STATUS") {
    type =
        "INIT|PENDING_APPROVE|WAITING|READY|PENDING_SCHEDULE|NEW|RUNNING|SUSPENDED|"
        "WAITING_LIFECYCLE_COMPLETION|SUCCEEDED|FAILED|CANCELLED|LOST";
  }
  if (is_choice(type)) {
    std::vector<Candidate> values;
    for (std::string& value : split(type, '|')) values.push_back({std::move(value), ""});
    return values;
  }
  const bool known =
      type == "REF" || type == "AGENT" || type == "KIND" || type == "PACK" || type == "TYPE";
  if (known) return source(type);
  return {};
}

void keep_matching(std::vector<Candidate>& candidates, std::string_view start) {
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return candidate.value != kFilesDirective && !candidate.value.starts_with(start);
  });
}

std::vector<Candidate> option_names(const Place& place) {
  std::vector<Candidate> names;
  for (const CommandSpec* command : place.path) {
    for (const OptionSpec& option : command->options) {
      for (const std::string& name : option.names) {
        if (name.starts_with("--")) names.push_back({name, option.help});
      }
    }
  }
  return names;
}

// "--option=val": candidates carry the whole word.
std::vector<Candidate> complete_joined(const Place& place, const std::string& word,
                                       const ValueSource& source) {
  const std::size_t equals = word.find('=');
  const OptionSpec* option = find_option(place.path, word.substr(0, equals));
  if (option == nullptr || option->type.empty()) return {};
  std::vector<Candidate> candidates = values_of(option->type, source);
  keep_matching(candidates, word.substr(equals + 1));
  for (Candidate& candidate : candidates) {
    if (candidate.value != kFilesDirective) {
      candidate.value = word.substr(0, equals + 1) + candidate.value;
    }
  }
  return candidates;
}

std::string question(std::string_view word, const std::vector<std::string_view>& names) {
  const std::string_view near = nearest_word(word, names);
  return near.empty() ? std::string() : fmt::format("did you mean '{}'?", near);
}

}  // namespace

Place locate(const CommandSpec& root, const std::vector<std::string>& words) {
  Place place;
  place.path.push_back(&root);
  for (const std::string& word : words) {
    if (place.after_dashes) continue;
    if (place.awaits_value != nullptr) {
      place.awaits_value = nullptr;
    } else if (word == "--") {
      place.after_dashes = true;
    } else if (is_option(word)) {
      const OptionSpec* option = find_option(place.path, word);
      if (option != nullptr && !option->type.empty()) place.awaits_value = option;
    } else if (const CommandSpec* command = find_command(place.command(), word);
               command != nullptr && place.positionals == 0) {
      place.path.push_back(command);
    } else {
      ++place.positionals;
      const CommandSpec& here = place.command();
      if (!here.commands.empty() && here.positionals.empty() && place.unknown_command.empty()) {
        place.unknown_command = word;
      }
    }
  }
  return place;
}

std::string suggestion(const CommandSpec& root, const std::vector<std::string>& words) {
  const Place place = locate(root, words);
  if (!place.unknown_command.empty()) {
    std::vector<std::string_view> names;
    for (const CommandSpec& command : place.command().commands) {
      if (command.hidden) continue;
      names.push_back(command.name);
      names.insert(names.end(), command.aliases.begin(), command.aliases.end());
    }
    return question(place.unknown_command, names);
  }
  const std::vector<Candidate> options = option_names(place);
  std::vector<std::string_view> names;
  names.reserve(options.size());
  for (const Candidate& option : options) names.push_back(option.value);
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string bare = word.substr(0, word.find('='));
    if (!bare.starts_with("--") || find_option(place.path, bare) != nullptr) continue;
    std::string asked = question(bare, names);
    if (!asked.empty()) return asked;
  }
  return {};
}

std::vector<Candidate> complete(const CommandSpec& root, const std::vector<std::string>& words,
                                const ValueSource& source) {
  const std::string current = words.empty() ? std::string() : words.back();
  const Place place = locate(root, {words.begin(), words.empty() ? words.end() : words.end() - 1});
  if (place.after_dashes) return {{std::string(kFilesDirective), ""}};
  std::vector<Candidate> candidates;
  if (place.awaits_value != nullptr) {
    candidates = values_of(place.awaits_value->type, source);
  } else if (current.starts_with("--") && current.find('=') != std::string::npos) {
    return complete_joined(place, current, source);
  } else if (current.starts_with('-')) {
    candidates = option_names(place);
  } else {
    const CommandSpec& command = place.command();
    if (place.positionals == 0) {
      for (const CommandSpec& sub : command.commands) {
        if (!sub.hidden) candidates.push_back({sub.name, sub.help});
      }
    }
    if (!command.positionals.empty()) {
      const std::size_t last = command.positionals.size() - 1;
      const std::size_t at = std::min(place.positionals, last);
      if (place.positionals <= last || command.positionals[last].repeated) {
        for (Candidate& value : values_of(command.positionals[at].type, source)) {
          candidates.push_back(std::move(value));
        }
      }
    }
  }
  keep_matching(candidates, current);
  return candidates;
}

std::string candidates_text(const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& candidate : candidates) {
    text += printable(candidate.value);
    if (!candidate.help.empty()) text += "\t" + printable(candidate.help);
    text += '\n';
  }
  return text;
}

std::string_view bash_completion_script() {
  return R"(# bash completion for muster. Load it with: source <(muster completion bash)
_muster() {
  local cur words cword line value
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n =: cur words cword
  else
    line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
  fi
  COMPREPLY=()
  while IFS= read -r line; do
    value=${line%%$'\t'*}
    case $value in
      '') ;;
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "${cur#*=}")
        ;;
      *)
        # Readline replaces only what stands after the "=".
        [[ $cur == --*=* && $COMP_WORDBREAKS == *=* ]] && value=${value#*=}
        COMPREPLY+=("$value")
        ;;
    esac
  done < <("${words[0]}" __complete -- "${words[@]:1:cword}" 2>/dev/null)
  if declare -F __ltrim_colon_completions >/dev/null; then
    __ltrim_colon_completions "$cur"
  fi
}
complete -F _muster muster
)";
}

std::string_view zsh_completion_script() {
  return R"(#compdef muster
# zsh completion for muster. Load it with: source <(muster completion zsh)
_muster() {
  local -a candidates
  local line value help files
  while IFS= read -r line; do
    value=${line%%$'\t'*}
    help=${line#*$'\t'}
    if [[ $value == ":files" ]]; then
      files=yes
    elif [[ -n $value && $help != $line ]]; then
      candidates+=("${value//:/\\:}:$help")
    elif [[ -n $value ]]; then
      candidates+=("${value//:/\\:}")
    fi
  done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  local missing=1
  (( ${#candidates} )) && _describe 'muster' candidates && missing=0
  [[ -n $files ]] && _files && missing=0
  return $missing
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _muster "$@"
else
  compdef _muster muster
fi
)";
}

}  // namespace muster::cli
