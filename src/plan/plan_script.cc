#include "plan/plan_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "base/check.h"
#include "plan/explain.h"
#include "plan/remembered.h"
#include "plan/task_id.h"

namespace muster::plan::testing {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

Call call_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Task lock_task(const std::string& plugin, const model::Path& node, const std::string& what) {
  Task task;
  task.plugin = plugin;
  task.item = node;
  task.description = what;
  task.work = RemoteWork{.nodes = {node}, .action = what};
  return task;
}

void for_each(const model::Node& node, const auto& visit) {
  visit(node);
  for (const auto& child : node.children()) for_each(*child, visit);
}

}  // namespace

std::string shorten(const std::string& text) {
  static const std::regex kNode("/?deployments[,/]d[,/]clusters[,/]([A-Za-z0-9_-]+)[,/]nodes[,/]");
  static const std::regex kCluster("/?deployments[,/]d[,/]clusters[,/]([A-Za-z0-9_-]+)");
  return std::regex_replace(std::regex_replace(text, kNode, "@$1:"), kCluster, "@$1");
}

model::Path path_of(const std::string& text) {
  std::string whole = text;
  if (text.starts_with("@")) {
    whole = "/deployments/d/clusters/" + text.substr(1);
    const std::size_t colon = whole.find(':');
    if (colon != std::string::npos) whole.replace(colon, 1, "/nodes/");
  }
  auto path = model::Path::parse(whole);
  MUSTER_CHECK(path.has_value(), "{}", path.error().message);
  return *path;
}

PlanScript::PlanScript(model::SchemaPtr schema, Ruleset ruleset, const TaskTemplates* templates)
    : schema_(std::move(schema)),
      ruleset_(std::move(ruleset)),
      templates_(templates),
      tree_(model::empty_model(*schema_)) {
  change(model::CreateItem{path_of("/deployments"), "d", "deployment", {}});
}

PlanScript::Words PlanScript::parse(const std::string& line) {
  Words words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || word.starts_with("{")) {
      words.plain.push_back(word);
    } else {
      words.named[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return words;
}

std::string PlanScript::run(const std::string& line) {
  const Words words = parse(line);
  const std::string& verb = words.plain.at(0);
  if (verb == "create" || verb == "inherit" || verb == "remove" || verb == "set") {
    return make(words);
  }
  if (verb == "applied") {
    const model::Path path = words.plain.size() > 1 ? path_of(words.plain[1]) : model::Path();
    const model::Node* place = tree_.find(path);
    MUSTER_CHECK(place != nullptr, "{} is not there", path.text());
    if (words.plain.size() > 1) {
      set_state(*place, model::ItemState::Applied);
    } else {
      for_each(*place, [&](const auto& at) { set_state(at, model::ItemState::Applied); });
    }
    return "";
  }
  if (verb == "doubt") {
    const model::Node* place = tree_.find(path_of(words.plain[1]));
    model::Item item = place->item();
    item.determinable = false;
    tree_.replace(*place, std::make_shared<const model::Item>(item));
    return "";
  }
  if (verb == "config" || verb == "callback" || verb == "remote") return take_task(words);
  if (verb == "no") {
    tasks_.clear();
    names_.clear();
    return "";
  }
  if (verb == "locks") {
    lock_plugin_ = words.plain[1];
    return "";
  }
  if (verb == "lock") {
    const model::Path node = path_of(words.plain[1]);
    pairs_.push_back(
        {node, lock_task(words.plain[2], node, "lock"), lock_task(words.plain[2], node, "unlock")});
    return "";
  }
  if (verb == "nodes") {
    node_orders_.push_back({path_of(words.plain[1]), split(words.plain[2], ',')});
    return "";
  }
  if (verb == "plan") return plan(words);
  if (verb == "explain") return explain(words.plain[1]);
  if (verb == "done") {
    return remember_plan({words.plain.begin() + 1, words.plain.end()});
  }
  if (verb == "order") {
    std::string text;
    for (const std::size_t other : required_in_phase(*plan_, find(words.plain[1]).value())) {
      text += shorten(plan_->id(other)) + "\n";
    }
    return text;
  }
  return "no such command\n";
}

std::string PlanScript::make(const Words& words) {
  const std::string& verb = words.plain[0];
  model::GivenProperties properties(words.named.begin(), words.named.end());
  const model::Path path = path_of(words.plain[verb == "create" ? 2 : 1]);
  const std::string id(path.id());
  if (verb == "create") {
    return change(model::CreateItem{path.parent(), id, words.plain[1], properties});
  }
  if (verb == "inherit") {
    return change(model::InheritItem{path.parent(), id, path_of(words.plain[2]), properties});
  }
  if (verb == "set") return change(model::UpdateItem{path, properties, {}});
  return change(model::RemoveItem{path});
}

std::string PlanScript::change(const model::Operation& operation) {
  std::string text;
  for (const model::Actor actor : {model::Actor::User, model::Actor::Plugin}) {
    model::Answers answers;
    model::EditOutcome outcome = model::edit(tree_, *schema_, {operation}, actor);
    // Plugins find everything right.
    while (!outcome.questions.empty()) {
      for (const model::Question& question : outcome.questions) answers.try_emplace(question);
      outcome = model::edit(tree_, *schema_, {operation}, actor, answers);
    }
    if (outcome.ok()) return "";
    if (text.empty()) {
      for (const auto& error : outcome.errors) text += "error " + shorten(error.message) + "\n";
    }
    // Plugins only update.
    if (!std::holds_alternative<model::UpdateItem>(operation)) break;
  }
  return text;
}

std::string PlanScript::apply(const model::Declaration& wanted) {
  const model::EditOutcome outcome =
      model::apply(tree_, *schema_, model::Path(), wanted, model::Prune::Nothing);
  std::string text;
  for (const auto& error : outcome.errors) text += "error " + shorten(error.message) + "\n";
  return text;
}

void PlanScript::set_state(const model::Node& place, model::ItemState state) {
  model::Item item = place.item();
  item.set_state(state, place.merged());
  tree_.replace(place, std::make_shared<const model::Item>(item));
}

std::string PlanScript::take_task(const Words& words) {
  const auto& plain = words.plain;
  const auto named = [&](const std::string& name, const std::string& otherwise) {
    const auto found = words.named.find(name);
    return found == words.named.end() ? otherwise : found->second;
  };
  const auto has = [&](const std::string& word) {
    return std::find(plain.begin(), plain.end(), word) != plain.end();
  };
  Task task;
  task.plugin = named("plugin", "p");
  task.tag = named("tag", "");
  if (!task.tag.empty()) task.tag = "DEPLOYMENT_" + task.tag + "_TAG";
  task.description = plain[1];
  task.has_future = has("future");
  const std::string args = named("args", "{}");
  if (plain[0] == "config") {
    ConfigWork work;
    work.node = path_of(plain[2]);
    task.item = path_of(plain[3]);
    work.call = {plain[4], plain[5]};
    work.attributes = args;
    work.persist = !has("transient");
    for (const std::string& call : split(named("replaces", ""), ',')) {
      work.replaces.push_back(call_of(call));
    }
    task.work = work;
  } else if (plain[0] == "callback") {
    task.item = path_of(plain[2]);
    task.work = CallbackWork{plain[3], args};
  } else {
    task.item = path_of(plain[2]);
    RemoteWork work;
    work.action = plain[3];
    work.inputs = args;
    for (const std::string& node : split(plain[4], ',')) work.nodes.push_back(path_of(node));
    task.work = work;
  }
  for (const std::string& item : split(named("also", ""), ',')) {
    task.model_items.push_back(path_of(item));
  }
  for (const std::string& wanted : split(named("requires", ""), ',')) {
    if (wanted.starts_with("/") || wanted.starts_with("@")) {
      task.requirements.push_back(RequiredItem{path_of(wanted)});
    } else if (wanted.ends_with(":*")) {
      task.requirements.push_back(RequiredCall{{wanted.substr(0, wanted.size() - 2), ""}});
    } else if (wanted.starts_with("#")) {
      task.requirements.push_back(RequiredTask{std::stoul(wanted.substr(1))});
    } else if (wanted.find(':') != std::string::npos) {
      task.requirements.push_back(RequiredCall{call_of(wanted)});
    } else {
      // A task that is named later gets its number now: tasks are numbered as they come.
      const auto [known, is_new] = names_.emplace(wanted, names_.size());
      task.requirements.push_back(RequiredTask{known->second});
    }
  }
  const auto [known, is_new] = names_.emplace(plain[1], names_.size());
  if (tasks_.size() <= known->second) tasks_.resize(known->second + 1);
  tasks_[known->second] = std::move(task);
  return "";
}

std::string PlanScript::plan(const Words& words) {
  LockPolicy policy;
  for (std::size_t i = 1; i < words.plain.size(); ++i) {
    if (words.plain[i] == "--no-locks") policy.lock = false;
    if (words.plain[i] == "--initial-locks") policy.initial = true;
    if (words.plain[i] == "--no-locks-in") policy.not_in.push_back(path_of(words.plain[++i]));
  }
  std::vector<Task> tasks = tasks_;
  if (templates_ != nullptr) {
    TemplateTasks made = template_tasks(tree_, *templates_);
    std::string text;
    for (const TemplateError& error : made.errors) {
      text += fmt::format("error {}: {}\n", shorten(error.item.text()), error.message);
    }
    if (!made.good()) return text;
    for (Task& task : made.tasks) tasks.push_back(std::move(task));
  }
  const PlanRequest request{tree_, *schema_, ruleset_, policy, node_orders_, remembered_};
  std::vector<LockPair> pairs = pairs_;
  if (!lock_plugin_.empty()) {
    for (const model::Path& node : nodes_to_lock(request, tasks)) {
      pairs.push_back(
          {node, lock_task(lock_plugin_, node, "lock"), lock_task(lock_plugin_, node, "unlock")});
    }
  }
  PlanOutcome outcome = make_plan(request, std::move(tasks), std::move(pairs));
  std::string text = show(outcome);
  plan_.reset();
  if (auto* made = std::get_if<Plan>(&outcome)) plan_ = std::move(*made);
  return text;
}

std::string PlanScript::show(const PlanOutcome& outcome) const {
  if (const auto* made = std::get_if<Plan>(&outcome)) return show(*made);
  std::string text;
  if (const auto* nothing = std::get_if<NothingToDo>(&outcome)) {
    text = "nothing to do\n";
    for (const Task& task : nothing->left_out) text += "left out " + shorten(task_id(task)) + "\n";
    for (const std::string& notice : nothing->notices) text += "note " + shorten(notice) + "\n";
    return text;
  }
  for (const PlanError& error : std::get<PlanErrors>(outcome).errors) {
    text += fmt::format("error {}: {}\n", name(error.kind), shorten(error.message));
  }
  return text;
}

std::string PlanScript::show(const Plan& plan) const {
  std::string text;
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    const Phase& phase = plan.phases[i];
    std::string group(plan.group_of(phase));
    group = std::regex_replace(group, std::regex("DEPLOYMENT_|_GROUP"), "");
    text += fmt::format("phase {} {}", i + 1, group);
    if (const model::Path* cluster = plan.cluster_of(phase)) text += " " + shorten(cluster->text());
    for (std::size_t k = 0; k < phase.after.size(); ++k) {
      text += fmt::format("{} {}", k == 0 ? ", after" : "", phase.after[k] + 1);
    }
    text += '\n';
    for (std::size_t task = phase.first; task < phase.first + phase.count; ++task) {
      text += fmt::format("  {}\n", shorten(plan.id(task)));
    }
  }
  for (std::size_t task = plan.planned; task < plan.tasks.size(); ++task) {
    const bool is_done = plan.placements[task].left_out == LeftOut::SucceededBefore;
    text += fmt::format("left out {}: {}\n", shorten(plan.id(task)),
                        is_done ? "has succeeded before" : "its node is to be removed");
  }
  for (const std::string& notice : plan.notices) text += "note " + shorten(notice) + "\n";
  return text;
}

std::optional<std::size_t> PlanScript::find(const std::string& wanted) const {
  for (std::size_t i = 0; i < plan_->tasks.size(); ++i) {
    if (plan_->tasks[i].description == wanted || shorten(plan_->id(i)) == wanted) return i;
  }
  return std::nullopt;
}

std::string PlanScript::explain(const std::string& wanted) const {
  if (!plan_) return "there is no plan\n";
  const std::optional<std::size_t> task = find(wanted);
  if (!task) return "no such task\n";
  std::string text;
  for (const Reason& reason : plan::explain(*plan_, *task)) {
    text += fmt::format("{} [{}] {}: {}\n", reason.phase + 1, name(reason.kind),
                        shorten(plan_->id(reason.task)), shorten(reason.text));
  }
  return text;
}

std::string PlanScript::remember_plan(const std::vector<std::string>& failed) {
  if (!plan_) return "there is no plan\n";
  for (std::size_t i = 0; i < plan_->planned; ++i) {
    const Task& task = plan_->tasks[i];
    const auto* work = std::get_if<ConfigWork>(&task.work);
    if (work == nullptr || !work->persist) continue;
    std::erase_if(remembered_,
                  [&](const RememberedTask& old) { return same_task(old.task, task); });
    const bool has_failed =
        std::find(failed.begin(), failed.end(), task.description) != failed.end();
    remembered_.push_back(remember(*plan_, i, has_failed ? TaskState::Failed : TaskState::Success));
  }
  return "";
}

}  // namespace muster::plan::testing
