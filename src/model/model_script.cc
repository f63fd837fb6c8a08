#include "model/model_script.h"

#include <fmt/format.h>

#include <sstream>

#include "base/check.h"
#include "model/lifecycle.h"

namespace muster::model::testing {
namespace {

Path path_of(const std::string& text) {
  auto path = Path::parse(text);
  MUSTER_CHECK(path.has_value(), "{}", path.error().message);
  return *path;
}

std::string properties_text(const PropertiesPtr& properties) {
  std::string text;
  if (!properties) return text;
  for (const auto& [name, value] : *properties) text += fmt::format(" {}={}", name, value);
  return text;
}

std::string state_text(const Item& item) {
  return fmt::format("{}{}", name(item.state), item.determinable ? "" : " (indeterminable)");
}

void show_below(const Node& node, int depth, std::string& text) {
  const Item& item = node.item();
  text += fmt::format("{:{}}{} ", "", 2 * depth, node.parent() ? node.id() : "/");
  text += item.is_collection() ? fmt::format("[{}]", item.type->id) : item.type->id;
  text += fmt::format(" {}{}", state_text(item), properties_text(node.merged()));
  if (item.source) text += fmt::format(" <- {}", item.source->text());
  text += '\n';
  for (const auto& child : node.children()) show_below(*child, depth + 1, text);
}

void for_each(const Node& node, const auto& visit) {
  visit(node);
  for (const auto& child : node.children()) for_each(*child, visit);
}

}  // namespace

ModelScript::ModelScript() : schema_(test_schema()), tree_(empty_model(*schema_)) {}

std::string ModelScript::run(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  const Arguments arguments = parse(words);
  const Actor actor = arguments.as_plugin ? Actor::Plugin : Actor::User;
  const std::string& verb = words.front();
  if (verb == "run") return run_plan(arguments.failing);
  if (verb == "prepare-restore") return describe(prepare_restore(tree_, {}));
  if (verb == "check") {
    const Findings findings = check_complete(tree_);
    return describe(EditOutcome{{}, findings.errors, findings.questions});
  }
  const Path path = path_of(arguments.options.at('p'));
  if (verb == "show") return show(path);
  if (verb == "remove") return edit(RemoveItem{path}, actor);
  if (verb == "update") {
    return edit(UpdateItem{path, arguments.properties, arguments.unset}, actor);
  }
  const std::string id(path.id());
  if (verb == "create") {
    return edit(CreateItem{path.parent(), id, arguments.options.at('t'), arguments.properties},
                actor);
  }
  if (verb == "inherit") {
    return edit(
        InheritItem{path.parent(), id, path_of(arguments.options.at('s')), arguments.properties},
        actor);
  }
  return fmt::format("no such command: {}\n", verb);
}

ModelScript::Arguments ModelScript::parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--as-plugin") {
      arguments.as_plugin = true;
      continue;
    }
    MUSTER_CHECK(i + 1 < words.size(), "{} needs a value", word);
    const std::string& value = words[++i];
    if (word == "-o") {
      const std::size_t equals = value.find('=');
      arguments.properties[value.substr(0, equals)] = value.substr(equals + 1);
    } else if (word == "-d") {
      arguments.unset.push_back(value);
    } else if (word == "--fail") {
      arguments.failing.push_back(path_of(value));
    } else {
      arguments.options[word.at(1)] = value;
    }
  }
  return arguments;
}

std::string ModelScript::edit(const Operation& operation, Actor actor) {
  return describe(model::edit(tree_, *schema_, {operation}, actor));
}

std::string ModelScript::run_plan(const std::vector<Path>& failing) {
  std::vector<Path> succeeded;
  std::vector<ItemTasks> tasks;
  for_each(tree_.root(), [&](const Node& node) {
    if (node.item().state == ItemState::Applied) return;
    const bool fails = std::find(failing.begin(), failing.end(), node.path()) != failing.end();
    tasks.push_back({node.path(), true, !fails});
    if (!fails) succeeded.push_back(node.path());
  });
  std::string text = describe(tasks_succeeded(tree_, succeeded));
  text += "plan ends\n";
  text += describe(plan_ended(tree_, failing.empty(), tasks));
  return text;
}

std::string ModelScript::show(const Path& path) const {
  const Node* node = tree_.find(path);
  if (!node) return "nothing there\n";
  std::string text;
  show_below(*node, 0, text);
  return text;
}

std::string ModelScript::describe(const EditOutcome& outcome) {
  std::string text;
  for (const ModelError& error : outcome.errors) {
    text += fmt::format("error {} {}{}{}: {}\n", name(error.code), error.path.text(),
                        error.property.empty() ? "" : " ", error.property, error.message);
  }
  return text + describe(outcome.changes);
}

std::string ModelScript::describe(const ChangeSet& changes) {
  std::string text;
  for (const Change& change : changes) {
    transitions_.emplace(change.before ? name(change.before->state) : "-",
                         change.after ? name(change.after->state) : "-");
    const std::string& path = change.path.text();
    if (!change.after) {
      text += fmt::format("- {}\n", path);
      continue;
    }
    const Item& after = *change.after;
    if (!change.before) {
      text += fmt::format("+ {} {}{} {}{}{}\n", path, after.is_collection() ? "collection of " : "",
                          after.type->id, state_text(after), properties_text(after.own),
                          after.source ? " <- " + after.source->text() : "");
      continue;
    }
    text += fmt::format("~ {}", path);
    const std::string before_state = state_text(*change.before);
    const std::string after_state = state_text(after);
    text += before_state == after_state ? " " + after_state
                                        : fmt::format(" {} -> {}", before_state, after_state);
    if (!same(change.before->own, after.own)) text += ":" + properties_text(after.own);
    text += '\n';
  }
  return text;
}

}  // namespace muster::model::testing
