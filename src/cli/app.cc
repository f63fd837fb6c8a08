#include "cli/app.h"

#include <clocale>
#include <cstdio>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/fields.h"
#include "cli/interrupt.h"
#include "cli/packs.h"
#include "cli/system.h"
#include "cli/text.h"

namespace muster::cli {
namespace {

constexpr Duration kCompletionTimeout = Duration::millis(700);

constexpr const char* kFooter =
    "\nExit codes:\n"
    "  0   success                      7   conflict: it changed, or is not in that state\n"
    "  1   error                        8   needs approval\n"
    "  3   an action FAILED or is LOST  64  usage\n"
    "  4   some succeeded, some not     69  the controller cannot be reached\n"
    "  5   cancelled                    77  no permission\n"
    "  6   the wait timed out           130 Ctrl-C; the actions go on\n"
    "\nEnvironment: MUSTER_ADDR (address of the controller), NO_COLOR, COLUMNS";

constexpr std::string_view kGlobalFooter =
    "\nEverywhere: --addr ADDR, -o table|wide|json|yaml|name, --no-headers, --color, -q "
    "(see muster --help)";

class ExampleFormatter : public CLI::Formatter {
 public:
  explicit ExampleFormatter(std::string examples) : examples_(std::move(examples)) {
    column_width(34);
  }

  std::string make_description(const CLI::App* app) const override {
    std::string text = app->get_description() + "\n";
    if (!examples_.empty()) text += "\nExamples:\n" + examples_ + "\n";
    return text;
  }

 private:
  std::string examples_;
};

std::string type_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  return type.empty() ? "VALUE" : type;
}

CommandSpec spec_of(const CLI::App& app) {
  CommandSpec spec;
  spec.name = app.get_name();
  spec.aliases = app.get_aliases();
  spec.help = app.get_description();
  spec.hidden = app.get_group().empty();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      spec.positionals.push_back({type_of(*option), option->get_items_expected_max() > 1});
      continue;
    }
    if (option->get_group().empty()) continue;
    OptionSpec entry;
    for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
    entry.type = type_of(*option);
    entry.help = option->get_description();
    spec.options.push_back(std::move(entry));
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    spec.commands.push_back(spec_of(*sub));
  }
  return spec;
}

// Asked while somebody presses TAB: it answers quickly or not at all.
std::vector<Candidate> values_from_controller(const Context& context, std::string_view type) {
  std::vector<Candidate> values;
  Outcome<ApiClient> client = connect_controller(context);
  if (!client) return values;
  const bool is_ref = type == "REF";
  const std::string path = is_ref ? "/v1/actions" : type == "AGENT" ? "/v1/agents" : "/v1/kinds";
  const Query query = is_ref ? Query{{"limit", "100"}, {"sort", "created_at:desc"}} : Query{};
  const Outcome<Json> answer = client->get(path, query, kCompletionTimeout);
  if (!answer) return values;
  if (is_ref) {
    for (const Json& action : json_at(*answer, "actions")) {
      const std::string about =
          fmt::format("{} {} {}", json_text(action, "action"), json_text(action, "target"),
                      json_text(action, "status"));
      if (std::string name = json_text(action, "name"); !name.empty()) {
        values.push_back({std::move(name), about});
      }
      values.push_back({json_text(action, "id"), about});
    }
  } else if (type == "AGENT") {
    for (const Json& agent : json_at(*answer, "agents")) {
      values.push_back({json_text(agent, "name"), json_text(agent, "state")});
    }
  } else {
    for (const Json& kind : json_at(*answer, "kinds")) {
      values.push_back({json_text(kind, "name"), json_text(kind, "summary")});
    }
  }
  return values;
}

// The address that stands in the line that is being completed.
std::string addr_in(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--addr" && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with("--addr=")) return words[i].substr(7);
  }
  return {};
}

void add_global_options(CLI::App& app, Context& context) {
  GlobalOptions& options = context.options;
  app.add_option("--addr", options.addr,
                 "The controller: unix:/path, /path or http://host:port (default: MUSTER_ADDR, "
                 "else its usual socket)")
      ->type_name("ADDR");
  app.add_option_function<std::string>(
         "-o,--output",
         [&options](const std::string& text) {
           const std::optional<Format> format = parse_format(text);
           if (!format) {
             throw CLI::ValidationError("--output",
                                        "'" + text + "' is not table, wide, json, yaml or name");
           }
           options.format = *format;
         },
         "How data is printed (default table)")
      ->type_name("table|wide|json|yaml|name");
  app.add_flag("--no-headers", options.no_headers, "Tables without the line of titles");
  app.add_option_function<std::string>(
         "--color",
         [&options](const std::string& text) {
           if (text == "auto")
             options.color = ColorMode::Auto;
           else if (text == "always")
             options.color = ColorMode::Always;
           else if (text == "never")
             options.color = ColorMode::Never;
           else
             throw CLI::ValidationError("--color", "'" + text + "' is not auto, always or never");
         },
         "Colour (default auto: on a terminal)")
      ->type_name("auto|always|never");
  app.add_flag("-q,--quiet", options.quiet, "No words about progress, only data and errors");
}

void build(CLI::App& app, Context& context) {
  app.formatter(std::make_shared<ExampleFormatter>(
      "  muster dev                                              a fleet to play with\n"
      "  muster actions submit exec --target a1 -- /bin/uptime   run something, wait for it\n"
      "  muster actions list --status RUNNING                    what is going on\n"
      "  muster explain nightly-backup                           why it does not go on\n"));
  app.footer(kFooter);
  app.fallthrough();
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", "muster " + std::string(kVersion));
  add_global_options(app, context);
  add_action_commands(app, context);
  add_node_commands(app, context);
  add_pack_commands(app, context);
  add_plugin_commands(app, context);
  add_type_commands(app, context);
  add_model_commands(app, context);
  add_plan_commands(app, context);
  add_system_commands(app, context);
  add_agent_commands(app, context);
  add_server_commands(app, context);
  add_bench_commands(app, context);
  add_sim_command(app, context);
  add_completion_commands(app, context);
}

int usage_error(Context& context, const std::string& message, const std::string& hint) {
  Failure failure(Error{ErrorCode::InvalidValue, message});
  failure.code = "usage";
  failure.hint = hint.empty() ? "see --help" : hint;
  context.console.warn(render(failure));
  return static_cast<int>(ExitCode::Usage);
}

int run_command(Context& context) {
  const Outcome<ExitCode> outcome = context.command();
  if (!outcome) {
    context.console.warn(render(outcome.error()));
    return static_cast<int>(outcome.error().exit);
  }
  return static_cast<int>(*outcome);
}

}  // namespace

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& examples) {
  CLI::App* app = parent.add_subcommand(name, description);
  app->formatter(std::make_shared<ExampleFormatter>(examples));
  app->footer(std::string(kGlobalFooter) + "\n" + kFooter);
  return app;
}

CLI::Option* add_repeated(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                          const std::string& help) {
  return app.add_option(name, values, help + " (repeatable)")->allow_extra_args(false);
}

CLI::Option* hide(CLI::Option* option) { return option->group(""); }

void take_trailing(CLI::App* app, Context& context) {
  app->preparse_callback([&context](std::size_t) { context.takes_trailing = true; });
}

void on_run(CLI::App* app, Context& context, std::function<Outcome<ExitCode>()> run) {
  app->callback([app, &context, run = std::move(run)] {
    // The callback of a command comes after that of its subcommand, which is the one that counts.
    if (app->get_subcommands().empty()) context.command = run;
  });
}

void on_controller(CLI::App* app, Context& context,
                   std::function<Outcome<ExitCode>(ApiClient&)> run) {
  on_run(app, context, [&context, run = std::move(run)]() -> Outcome<ExitCode> {
    ignore_broken_pipes();
    MUSTER_TRY_ASSIGN(ApiClient client, connect_controller(context));
    return run(client);
  });
}

void add_completion_commands(CLI::App& root, Context& context) {
  CLI::App* app = add_command(root, "completion", "Print the completion script of a shell",
                              "  source <(muster completion bash)\n"
                              "  muster completion zsh > ~/.zsh/functions/_muster\n");
  auto shell = std::make_shared<std::string>();
  app->add_option("shell", *shell, "The shell")->required()->type_name("bash|zsh");
  on_run(app, context, [&context, shell]() -> Outcome<ExitCode> {
    if (*shell != "bash" && *shell != "zsh") return usage("'{}' is not bash or zsh", *shell);
    context.console.out(*shell == "bash" ? bash_completion_script() : zsh_completion_script());
    return ExitCode::Ok;
  });

  CLI::App* hidden = add_command(root, "__complete", "Print completions of the words after --", "");
  hidden->group("");
  take_trailing(hidden, context);
  on_run(hidden, context, [&root, &context]() -> Outcome<ExitCode> {
    context.options.addr = addr_in(context.trailing);
    const auto source = [&context](std::string_view type) {
      const bool of_packs = type == "PACK" || type == "TYPE";
      return of_packs ? pack_values(type) : values_from_controller(context, type);
    };
    context.console.out(candidates_text(complete(spec_of(root), context.trailing, source)));
    return ExitCode::Ok;
  });
}

int run_cli(std::vector<std::string> arguments) {
  std::setlocale(LC_CTYPE, "");
  Context context;
  // Taken off here, because a parser of options has no business in somebody else's command line.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    context.has_trailing = true;
    context.trailing.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  CLI::App app("Muster: durable actions on a fleet of Linux hosts", "muster");
  build(app, context);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    std::string help = app.help();
    if (!help.ends_with('\n')) help += '\n';
    context.console.out(help);
    return 0;
  } catch (const CLI::CallForVersion& version) {
    context.console.out(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::ParseError& error) {
    const CommandSpec spec = spec_of(app);
    const Place place = locate(spec, arguments);
    if (!place.unknown_command.empty()) {
      return usage_error(context, fmt::format("'{}' is not a command", place.unknown_command),
                         suggestion(spec, arguments));
    }
    return usage_error(context, error.what(), suggestion(spec, arguments));
  }
  context.console.set_quiet(context.options.quiet);
  context.terminal = detect_terminal(context.options.color, context.environment.env);
  if (context.has_trailing && !context.takes_trailing) {
    return usage_error(context, "this command takes no words after --", "");
  }
  return run_command(context);
}

}  // namespace muster::cli
