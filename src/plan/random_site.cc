#include "plan/random_site.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>

#include "base/check.h"
#include "model/edit.h"
#include "plan/order_oracle.h"
#include "plan/task_id.h"
#include "plan/test_world.h"

namespace muster::plan::testing {
namespace {

using model::Path;

Path path(const std::string& text) { return *Path::parse(text); }

class SiteMaker {
 public:
  Site make() && {
    add_item(path("/software/items/s"));
    add_item(path("/ms/items/m"));
    add_deployment("d");
    if (coin(5)) add_deployment("e");
    change(model::Actor::User);
    if (coin(5)) return std::move(site_);  // everything is Initial
    apply_all(site_.tree.root());
    remove_some();
    set_locks();
    return std::move(site_);
  }

 private:
  void create(const Path& at, const std::string& type, model::GivenProperties properties = {}) {
    changes_.push_back(
        model::CreateItem{at.parent(), std::string(at.id()), type, std::move(properties)});
  }
  void change(model::Actor actor) {
    const auto outcome = model::edit(site_.tree, *site_.schema, changes_, actor);
    MUSTER_CHECK(outcome.ok(), "{}", outcome.errors.front().message);
    changes_.clear();
  }

  void add_deployment(const std::string& id) {
    const Path deployment = path("/deployments").child(id);
    create(deployment, "deployment");
    const std::size_t clusters = 1 + pick(id == "d" ? 3 : 2);
    for (std::size_t c = 0; c < clusters; ++c) add_cluster(deployment.child("clusters"), c);
  }

  void add_cluster(const Path& clusters, std::size_t number) {
    model::GivenProperties properties;
    std::string list;
    for (std::size_t before = 0; before < number; ++before) {
      if (coin(2)) list += fmt::format("{}c{}", list.empty() ? "" : ",", before);
    }
    if (!list.empty()) properties["dependency_list"] = list;
    if (coin(2)) properties["ha_manager"] = "vcs";
    const Path cluster = clusters.child(fmt::format("c{}", number));
    create(cluster, "cluster", properties);
    site_.items.push_back(cluster);
    for (const char* element : {"services", "software", "configs"}) {
      add_item(cluster.child(element).child("x"));
    }
    const std::size_t nodes = 1 + pick(2);
    for (std::size_t n = 0; n < nodes; ++n) {
      add_node(cluster.child("nodes").child(fmt::format("n{}", n)));
    }
  }

  void add_node(const Path& node) {
    create(node, "node");
    site_.nodes.push_back(node);
    site_.items.push_back(node);
    add_item(node.child("os"));
    for (const char* element : {"networks", "disks", "items", "services", "configs"}) {
      add_item(node.child(element).child("a"));
    }
    // Names of which one is the beginning of the other.
    add_item(node.child("items").child("ab"));
    add_item(node.child("items").child("a").child("parts").child("p"));
  }

  void add_item(const Path& item) {
    create(item, "thing");
    site_.items.push_back(item);
  }

  void apply_all(const model::Node& place) {
    model::Item item = place.item();
    item.set_state(model::ItemState::Applied, place.merged());
    site_.tree.replace(place, std::make_shared<const model::Item>(item));
    for (const auto& child : place.children()) apply_all(*child);
  }

  void remove_some() {
    for (const Path& item : site_.items) {
      const bool is_node = item.text() == node_above(item);
      if (item.segments().size() < 6 || !coin(is_node ? 20 : 6)) continue;
      const bool is_removed = std::any_of(removed_.begin(), removed_.end(), [&](const Path& other) {
        return item.is_at_or_below(other);
      });
      if (is_removed) continue;
      changes_.push_back(model::RemoveItem{item});
      removed_.push_back(item);
    }
    change(model::Actor::User);
  }

  void set_locks() {
    for (const Path& node : site_.nodes) {
      if (!coin(10) || site_.tree.find(node)->item().is_for_removal()) continue;
      changes_.push_back(model::UpdateItem{node, {{"is_locked", "true"}}, {}});
    }
    change(model::Actor::Plugin);
    if (coin(10)) site_.locks.lock = false;
    if (coin(10)) site_.locks.not_in = {site_.nodes.front().parent().parent()};
  }

  std::vector<model::Operation> changes_;
  std::vector<Path> removed_;
  Site site_ = [] {
    model::SchemaPtr schema = test_schema();
    Ruleset ruleset = test_ruleset(*schema);
    model::Tree tree = model::empty_model(*schema);
    return Site{std::move(schema), std::move(ruleset), std::move(tree), {}, {}, {}, {}};
  }();
};

class TaskMaker {
 public:
  explicit TaskMaker(const Site& site) : site_(site) {}

  std::vector<Task> make() && {
    const std::size_t count = 1 + pick(25);
    for (std::size_t i = 0; i < count; ++i) {
      Task task = any_task(i);
      const std::string group = group_of(task);
      const bool by_node = group == "NODE" || group == "UPGRADE_BOOT";
      places_.push_back(group + cluster_of(task) + (by_node ? node_of(task) : ""));
      require_some(task);
      tasks_.push_back(std::move(task));
    }
    return std::move(tasks_);
  }

 private:
  std::vector<Path> nodes_below(const std::string& above) const {
    std::vector<Path> own;
    for (const Path& node : site_.nodes) {
      if (!above.empty() && node.is_at_or_below(path(above))) own.push_back(node);
    }
    return own;
  }

  Task any_task(std::size_t number) const {
    Task task;
    task.plugin = coin(2) ? "p" : "q";
    task.item = site_.items[pick(site_.items.size())];
    task.description = fmt::format("t{}", number);
    const std::string above = node_above(task.item);
    const std::string cluster = cluster_above(task.item);
    const std::size_t kind = pick(6);
    if (kind < 2) {
      task.work = CallbackWork{fmt::format("m{}", number)};
    } else if (kind == 2 && !cluster.empty()) {
      RemoteWork work{{}, fmt::format("a{}", number)};
      for (const Path& node : nodes_below(cluster)) {
        if (coin(2)) work.nodes.push_back(node);
      }
      if (work.nodes.empty()) work.nodes = {nodes_below(cluster).front()};
      task.work = std::move(work);
    } else {
      Path node = above.empty() ? path("/ms") : path(above);
      if (const std::vector<Path> own = nodes_below(cluster); above.empty() && !own.empty()) {
        node = own[pick(own.size())];
      }
      task.work = ConfigWork{.node = node,
                             .call = {"file", fmt::format("/f{}", number)},
                             .replaces = {},
                             .persist = !coin(10)};
    }
    task.tag = any_tag(!cluster.empty(), !above.empty() && !cluster.empty());
    return task;
  }

  static std::string any_tag(bool in_cluster, bool in_node) {
    if (!coin(4)) return "";
    std::vector<std::string> fitting = {"PRE_CLUSTER", "POST_CLUSTER"};
    if (in_cluster) fitting.insert(fitting.end(), {"PRE_NODE_CLUSTER", "CLUSTER"});
    if (in_node) fitting.insert(fitting.end(), {"UPGRADE_BOOT", "NODE"});
    return "DEPLOYMENT_" + fitting[pick(fitting.size())] + "_TAG";
  }

  // Mostly what can be required: tasks of the same group and cluster, or node.
  void require_some(Task& task) const {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (places_[i] != places_.back() ? !coin(1000) : !coin(4)) continue;
      const auto* config = std::get_if<ConfigWork>(&tasks_[i].work);
      const std::size_t form = pick(3);
      if (form == 0) task.requirements.push_back(RequiredTask{i});
      if (form == 1 && config != nullptr) task.requirements.push_back(RequiredCall{config->call});
      if (form == 2) task.requirements.push_back(RequiredItem{tasks_[i].item});
    }
  }

  const Site& site_;
  std::vector<Task> tasks_;
  std::vector<std::string> places_;  // what each may require tasks of
};

}  // namespace

bool coin(int one_in) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, one_in)) == one_in - 1;
}
std::size_t pick(std::size_t size) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, size));
}

Site any_site() { return SiteMaker().make(); }

std::vector<Task> any_tasks(const Site& site) { return TaskMaker(site).make(); }

PlanOutcome plan_of(const Site& site, const std::vector<Task>& tasks) {
  std::vector<LockPair> pairs;
  for (const Path& node : nodes_to_lock(site.request(), tasks)) {
    Task lock;
    lock.plugin = "vcs";
    lock.item = node;
    lock.work = CallbackWork{"lock"};
    Task unlock = lock;
    unlock.work = CallbackWork{"unlock"};
    pairs.push_back({node, lock, unlock});
  }
  return make_plan(site.request(), tasks, std::move(pairs));
}

std::string describe(const Site& site, const std::vector<Task>& tasks) {
  std::string text;
  for (const Path& item : site.items) {
    const model::Node& place = *site.tree.find(item);
    std::string facts = place.item().is_for_removal() ? " for removal" : "";
    for (const char* name : {"dependency_list", "ha_manager", "is_locked"}) {
      const std::string* value = place.property(name);
      if (value != nullptr) facts += fmt::format(" {}={}", name, *value);
    }
    if (!facts.empty()) text += fmt::format("{}{}\n", item.text(), facts);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    text += fmt::format("#{} {} for {} {} requires", i, task_id(tasks[i]), tasks[i].item.text(),
                        tasks[i].tag);
    for (const Requirement& requirement : tasks[i].requirements) {
      if (const auto* task = std::get_if<RequiredTask>(&requirement)) {
        text += fmt::format(" #{}", task->index);
      } else if (const auto* item = std::get_if<RequiredItem>(&requirement)) {
        text += " " + item->path.text();
      } else {
        text += " " + std::get<RequiredCall>(requirement).call.id;
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace muster::plan::testing
