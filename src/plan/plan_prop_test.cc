#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/check.h"
#include "model/edit.h"
#include "plan/explain.h"
#include "plan/planner.h"
#include "plan/remembered.h"
#include "plan/task_id.h"
#include "plan/test_world.h"

// Random models and tasks, and what holds of every plan. What must come before what is worked out
// here a second time, pair by pair and by paths alone: slow, and with nothing in common with the
// planner but the schema.

namespace muster::plan::testing {
namespace {

using model::Path;

Path path(const std::string& text) { return *Path::parse(text); }

struct World {
  model::SchemaPtr schema = test_schema();
  Ruleset ruleset = test_ruleset(*schema);
  model::Tree tree = model::empty_model(*schema);
  std::vector<Path> nodes;
  std::vector<Path> items;  // that tasks may be for
  std::vector<RememberedTask> remembered;

  void create(const Path& at, const std::string& type, model::GivenProperties properties = {}) {
    const auto outcome = model::edit(
        tree, *schema, {model::CreateItem{at.parent(), std::string(at.id()), type, properties}},
        model::Actor::User);
    MUSTER_CHECK(outcome.ok(), "{}: {}", at.text(), outcome.errors.front().message);
  }
  void apply_all(const model::Node& place) {
    model::Item item = place.item();
    item.set_state(model::ItemState::Applied, place.merged());
    tree.replace(place, std::make_shared<const model::Item>(item));
    for (const auto& child : place.children()) apply_all(*child);
  }
  PlanRequest request() const { return {tree, *schema, ruleset, {}, {}, remembered}; }
};

bool coin(int one_in) { return *rc::gen::inRange(0, one_in) == 0; }
std::size_t pick(std::size_t size) { return *rc::gen::inRange<std::size_t>(0, size); }

World any_world() {
  World world;
  world.create(path("/deployments/d"), "deployment");
  world.create(path("/software/items/s"), "thing");
  world.create(path("/ms/items/m"), "thing");
  world.items = {path("/software/items/s"), path("/ms/items/m")};
  const std::size_t clusters = 1 + pick(3);
  for (std::size_t c = 0; c < clusters; ++c) {
    model::GivenProperties properties;
    std::string list;
    for (std::size_t before = 0; before < c; ++before) {
      if (coin(2)) list += fmt::format("{}c{}", list.empty() ? "" : ",", before);
    }
    if (!list.empty()) properties["dependency_list"] = list;
    if (coin(2)) properties["ha_manager"] = "vcs";
    const Path cluster = path("/deployments/d/clusters").child(fmt::format("c{}", c));
    world.create(cluster, "cluster", properties);
    for (const char* element : {"services", "software", "configs"}) {
      world.create(cluster.child(element).child("x"), "thing");
      world.items.push_back(cluster.child(element).child("x"));
    }
    const std::size_t nodes = 1 + pick(3);
    for (std::size_t n = 0; n < nodes; ++n) {
      const Path node = cluster.child("nodes").child(fmt::format("n{}", n));
      world.create(node, "node");
      world.nodes.push_back(node);
      world.items.push_back(node);
      world.create(node.child("os"), "thing");
      world.items.push_back(node.child("os"));
      for (const char* element : {"networks", "disks", "items", "services"}) {
        for (const char* id : {"a", "ab"}) {
          const Path item = node.child(element).child(id);
          world.create(item, "thing");
          world.items.push_back(item);
        }
      }
      world.create(node.child("items").child("a").child("parts").child("p"), "thing");
      world.items.push_back(node.child("items").child("a").child("parts").child("p"));
    }
  }
  if (coin(4)) return world;  // everything is Initial: nothing is locked
  world.apply_all(world.tree.root());
  for (const Path& item : world.items) {
    if (item.segments().size() < 6 || !coin(5)) continue;
    model::edit(world.tree, *world.schema, {model::RemoveItem{item}}, model::Actor::User);
  }
  return world;
}

// The node, or management server, above an item; empty: there is none.
std::string node_above(const Path& item) {
  const auto segments = item.segments();
  if (!segments.empty() && segments[0] == "ms") return "/ms";
  if (segments.size() < 6 || segments[4] != "nodes") return "";
  Path node;
  for (std::size_t i = 0; i < 6; ++i) node = node.child(segments[i]);
  return node.text();
}

std::string node_of(const Task& task) {
  if (const auto* config = std::get_if<ConfigWork>(&task.work)) return config->node.text();
  if (const auto* remote = std::get_if<RemoteWork>(&task.work)) return remote->nodes[0].text();
  return node_above(task.item);
}

std::vector<Task> any_tasks(const World& world) {
  std::vector<Task> tasks;
  const std::size_t count = 1 + pick(25);
  for (std::size_t i = 0; i < count; ++i) {
    Task task;
    task.plugin = coin(2) ? "p" : "q";
    task.item = world.items[pick(world.items.size())];
    task.description = fmt::format("t{}", i);
    const std::string above = node_above(task.item);
    const bool in_cluster = task.item.text().starts_with("/deployments");
    const std::size_t kind = pick(5);
    if (kind < 2) {
      task.work = CallbackWork{fmt::format("m{}", i)};
    } else if (kind == 2 && !above.empty()) {
      task.work = RemoteWork{{path(above)}, fmt::format("a{}", i)};
    } else {
      Path node = above.empty() ? Path() : path(above);
      if (above.empty() && !in_cluster) node = path("/ms");
      if (node.is_root()) {
        // Of a cluster: one of its nodes.
        std::vector<Path> own;
        for (const Path& each : world.nodes) {
          if (each.text().starts_with(task.item.text().substr(0, 26))) own.push_back(each);
        }
        node = own[pick(own.size())];
      }
      task.work =
          ConfigWork{.node = node, .call = {"file", fmt::format("/f{}", i)}, .replaces = {}};
    }
    if (in_cluster && coin(6)) task.tag = "DEPLOYMENT_CLUSTER_TAG";
    if (coin(8)) task.tag = "DEPLOYMENT_POST_CLUSTER_TAG";
    // Mostly what can be required: earlier tasks of the same node.
    for (std::size_t j = 0; j < i; ++j) {
      if (node_of(tasks[j]) != node_of(task) || tasks[j].tag != task.tag || !coin(4)) continue;
      const auto* config = std::get_if<ConfigWork>(&tasks[j].work);
      const std::size_t form = pick(3);
      if (form == 0) task.requirements.push_back(RequiredTask{j});
      if (form == 1 && config != nullptr) task.requirements.push_back(RequiredCall{config->call});
      if (form == 2) task.requirements.push_back(RequiredItem{tasks[j].item});
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

std::vector<LockPair> all_locks(const World& world, const std::vector<Task>& tasks) {
  std::vector<LockPair> pairs;
  for (const Path& node : nodes_to_lock(world.request(), tasks)) {
    Task lock;
    lock.plugin = "vcs";
    lock.item = node;
    lock.work = CallbackWork{"lock"};
    Task unlock = lock;
    unlock.work = CallbackWork{"unlock"};
    pairs.push_back({node, lock, unlock});
  }
  return pairs;
}

PlanOutcome plan_of(const World& world, const std::vector<Task>& tasks) {
  return make_plan(world.request(), tasks, all_locks(world, tasks));
}

std::string text_of(const Plan& plan) {
  std::string text;
  for (const Phase& phase : plan.phases) {
    text += fmt::format("{} {} {} {}\n", phase.group, phase.cluster, phase.node, phase.rank);
    text += fmt::format("after {}\n", fmt::join(phase.after, " "));
    for (std::size_t i = phase.first; i < phase.first + phase.count; ++i) text += plan.id(i) + "\n";
  }
  for (std::size_t i = plan.planned; i < plan.tasks.size(); ++i) text += "out " + plan.id(i) + "\n";
  return text;
}

std::string text_of(const PlanOutcome& outcome) {
  if (const auto* plan = std::get_if<Plan>(&outcome)) return text_of(*plan);
  std::string text;
  if (const auto* errors = std::get_if<PlanErrors>(&outcome)) {
    for (const PlanError& error : errors->errors) text += error.message + "\n";
  }
  return text;
}

// --- What must come before what, pair by pair. ---

class Oracle {
 public:
  Oracle(const World& world, const Plan& plan) : world_(world), plan_(plan) {
    const std::size_t count = plan.tasks.size();
    waits_.assign(count, std::vector<bool>(count));
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) waits_[a][b] = a != b && says(a, b);
    }
    std::vector<std::vector<bool>> said = waits_;
    close(said);
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        if (a != b && !said[b][a] && comes_after_sibling(a, b)) waits_[a][b] = true;
      }
    }
  }

  // a waits for b, directly.
  bool waits(std::size_t a, std::size_t b) const { return waits_[a][b]; }
  std::vector<std::vector<bool>> closure() const {
    std::vector<std::vector<bool>> all = waits_;
    close(all);
    return all;
  }

  bool is_config(std::size_t task) const { return plan_.tasks[task].kind() == TaskKind::Config; }
  bool may_share(std::size_t a, std::size_t b) const {
    return is_config(a) && is_config(b) && node_of(plan_.tasks[a]) == node_of(plan_.tasks[b]);
  }

  // The least ranks that keep to everything, by raising them until nothing has to be raised. Tasks
  // that were left out have none and pass on what binds them.
  std::vector<int> ranks() const {
    std::vector<std::vector<bool>> bound = waits_;
    // By way of those that were left out.
    for (std::size_t via = plan_.planned; via < plan_.tasks.size(); ++via) {
      for (std::size_t a = 0; a < plan_.tasks.size(); ++a) {
        if (!bound[a][via]) continue;
        for (std::size_t b = 0; b < plan_.tasks.size(); ++b) {
          if (bound[via][b]) bound[a][b] = true;
        }
      }
    }
    std::vector<int> ranks;
    for (std::size_t i = 0; i < plan_.planned; ++i) ranks.push_back(is_config(i) ? 1 : 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t a = 0; a < plan_.planned; ++a) {
        for (std::size_t b = 0; b < plan_.planned; ++b) {
          if (a == b || !bound[a][b]) continue;
          const bool is_late_enough = may_share(a, b) ? ranks[a] >= ranks[b] : ranks[a] > ranks[b];
          if (is_late_enough) continue;
          ranks[a] += 2;
          moved = true;
        }
      }
    }
    return ranks;
  }

  // What a task is sorted with: group, cluster, locked node.
  std::string scope(std::size_t task) const {
    const std::uint32_t at = plan_.placements[task].phase;
    if (at == kNone) return "";
    const Phase& phase = plan_.phases[at];
    return fmt::format("{} {} {}", phase.group, phase.cluster, phase.node);
  }

 private:
  static void close(std::vector<std::vector<bool>>& relation) {
    const std::size_t count = relation.size();
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!relation[i][k]) continue;
        for (std::size_t j = 0; j < count; ++j) {
          if (relation[k][j]) relation[i][j] = true;
        }
      }
    }
  }

  bool is_ordinary(std::size_t task) const {
    return plan_.placements[task].role == TaskRole::Ordinary &&
           plan_.placements[task].left_out != LeftOut::NodeForRemoval;
  }
  // Tasks in phases are of one scope or not; those left out are given to that of the other.
  bool together(std::size_t a, std::size_t b) const {
    if (!is_ordinary(a) || !is_ordinary(b)) return false;
    const std::string mine = scope(a);
    const std::string theirs = scope(b);
    return mine.empty() || theirs.empty() ? node_of(plan_.tasks[a]) == node_of(plan_.tasks[b]) &&
                                                plan_.tasks[a].tag == plan_.tasks[b].tag
                                          : mine == theirs;
  }
  bool is_removal(std::size_t task) const {
    return plan_.placements[task].left_out == LeftOut::No &&
           world_.tree.find(plan_.tasks[task].item)->item().is_for_removal();
  }

  bool says(std::size_t a, std::size_t b) const {
    if (!together(a, b) || is_removal(a) != is_removal(b)) return false;
    for (const Requirement& requirement : plan_.tasks[a].requirements) {
      if (const auto* task = std::get_if<RequiredTask>(&requirement)) {
        if (task->index == b) return true;
      } else if (const auto* item = std::get_if<RequiredItem>(&requirement)) {
        if (plan_.tasks[b].item.is_at_or_below(item->path)) return true;
      } else if (const auto* config = std::get_if<ConfigWork>(&plan_.tasks[b].work)) {
        const std::string node = node_of(plan_.tasks[a]);
        if (config->call == std::get<RequiredCall>(requirement).call &&
            (node.empty() || node == config->node.text())) {
          return true;
        }
      }
    }
    return false;
  }

  Path ordered_by(const Task& task) const {
    const auto* config = std::get_if<ConfigWork>(&task.work);
    if (config == nullptr || task.item.is_at_or_below(config->node)) return task.item;
    if (!task.item.text().starts_with("/deployments")) return task.item;
    const auto segments = task.item.segments();
    const Path own = config->node.child(segments.size() > 4 ? segments[4] : "none");
    return world_.tree.find(own) == nullptr ? task.item : own;
  }

  bool comes_after_sibling(std::size_t a, std::size_t b) const {
    if (!together(a, b)) return false;
    const bool reversed = is_removal(a);
    if (reversed != is_removal(b)) return false;
    const std::string mine = node_of(plan_.tasks[a]);
    const std::string theirs = node_of(plan_.tasks[b]);
    if (!mine.empty() && !theirs.empty() && mine != theirs) return false;
    const Path later = ordered_by(plan_.tasks[a]);
    const Path earlier = ordered_by(plan_.tasks[b]);
    const auto x = later.segments();
    const auto y = earlier.segments();
    std::size_t i = 0;
    Path owner;
    while (i < x.size() && i < y.size() && x[i] == y[i]) owner = owner.child(x[i++]);
    if (i == x.size() || i == y.size()) return false;
    const model::Item& item = world_.tree.find(owner)->item();
    if (item.is_collection()) return false;
    const model::Element* element = item.type->find_element(reversed ? y[i] : x[i]);
    const std::string other(reversed ? x[i] : y[i]);
    return element != nullptr &&
           std::binary_search(element->after.begin(), element->after.end(), other);
  }

  const World& world_;
  const Plan& plan_;
  std::vector<std::vector<bool>> waits_;
};

// Which phases each phase comes after, directly or not.
std::vector<std::set<std::uint32_t>> ancestors(const Plan& plan) {
  std::vector<std::set<std::uint32_t>> all(plan.phases.size());
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    for (const std::uint32_t before : plan.phases[i].after) {
      RC_ASSERT(before < i);
      all[i].insert(before);
      all[i].insert(all[before].begin(), all[before].end());
    }
  }
  return all;
}

void check_once(const Plan& plan, const std::vector<Task>& tasks) {
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) ++seen[plan.id(i)];
  for (const auto& [id, count] : seen) RC_ASSERT(count == 1);
  for (const Task& task : tasks) RC_ASSERT(seen.contains(task_id(task)));
  std::uint32_t next = 0;
  for (const Phase& phase : plan.phases) {
    RC_ASSERT(phase.first == next);
    RC_ASSERT(phase.count > 0U);
    next += phase.count;
  }
  RC_ASSERT(next == plan.planned);
}

void check_not_mixed(const Plan& plan) {
  for (const Phase& phase : plan.phases) {
    std::set<bool> kinds;
    for (std::size_t i = phase.first; i < phase.first + phase.count; ++i) {
      kinds.insert(plan.tasks[i].kind() == TaskKind::Config);
    }
    RC_ASSERT(kinds.size() == 1U);
  }
}

void check_order(const Plan& plan, const Oracle& oracle) {
  const auto before = ancestors(plan);
  for (std::size_t a = 0; a < plan.planned; ++a) {
    for (std::size_t b = 0; b < plan.planned; ++b) {
      if (!oracle.waits(a, b)) continue;
      const std::uint32_t mine = plan.placements[a].phase;
      const std::uint32_t theirs = plan.placements[b].phase;
      if (mine == theirs) {
        RC_ASSERT(oracle.may_share(a, b));
        RC_ASSERT(a > b);
      } else {
        RC_ASSERT(before[mine].contains(theirs));
      }
    }
  }
}

void check_no_later_than_need_be(const Plan& plan, const Oracle& oracle) {
  const std::vector<int> ranks = oracle.ranks();
  for (std::size_t i = 0; i < plan.planned; ++i) {
    if (plan.placements[i].role != TaskRole::Ordinary) continue;
    RC_ASSERT(plan.phases[plan.placements[i].phase].rank == ranks[i]);
  }
}

// Groups one after the other; clusters after those that they depend on and no others; locked nodes
// one by one.
void check_phases(const World& world, const Plan& plan) {
  const auto before = ancestors(plan);
  const auto depends = [&](std::uint32_t cluster, std::uint32_t on) {
    std::set<std::string> open = {plan.clusters[cluster].text()};
    std::set<std::string> seen;
    while (!open.empty()) {
      const Path at = path(*open.begin());
      open.erase(open.begin());
      const std::string* list = world.tree.find(at)->property("dependency_list");
      for (std::size_t i = 0; list != nullptr && i < plan.clusters.size(); ++i) {
        if (list->find(plan.clusters[i].id()) == std::string::npos) continue;
        if (seen.insert(plan.clusters[i].text()).second) open.insert(plan.clusters[i].text());
      }
    }
    return seen.contains(plan.clusters[on].text());
  };
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Phase& later = plan.phases[i];
      const Phase& earlier = plan.phases[j];
      const bool both = later.cluster != kNone && earlier.cluster != kNone;
      const bool other = both && later.cluster != earlier.cluster;
      const bool expected = !other || depends(later.cluster, earlier.cluster);
      RC_ASSERT(before[i].contains(static_cast<std::uint32_t>(j)) == expected);
      if (!both) RC_ASSERT(later.group >= earlier.group);
    }
  }
  std::map<std::uint32_t, std::uint32_t> locked;  // by cluster, the node
  for (const Phase& phase : plan.phases) {
    const TaskRole role = plan.placements[phase.first].role;
    if (role == TaskRole::Lock) {
      RC_ASSERT(!locked.contains(phase.cluster));
      locked[phase.cluster] = phase.node;
    } else if (phase.cluster != kNone && locked.contains(phase.cluster)) {
      RC_ASSERT(locked[phase.cluster] == phase.node);
      if (role == TaskRole::Unlock) locked.erase(phase.cluster);
    } else {
      RC_ASSERT(phase.node == kNone);
    }
  }
  RC_ASSERT(locked.empty());
}

void check_explained(const Plan& plan) {
  for (std::size_t i = 0; i < plan.planned; ++i) {
    const std::vector<Reason> reasons = explain(plan, i);
    RC_ASSERT(!reasons.empty());
    RC_ASSERT(reasons.front().task == i);
    for (const Reason& reason : reasons) {
      if (reason.other < plan.planned) RC_ASSERT(reason.other_phase <= reason.phase);
    }
    for (const std::size_t other : required_in_phase(plan, i)) RC_ASSERT(other < i);
  }
}

void check_all(const World& world, const Plan& plan, const std::vector<Task>& tasks) {
  const Oracle oracle(world, plan);
  check_once(plan, tasks);
  check_not_mixed(plan);
  check_order(plan, oracle);
  check_no_later_than_need_be(plan, oracle);
  check_phases(world, plan);
  check_explained(plan);
}

RC_GTEST_PROP(AnyPlan, KeepsToEveryConstraintAndWaitsForNothingElse, ()) {
  const World world = any_world();
  const std::vector<Task> tasks = any_tasks(world);
  const PlanOutcome outcome = plan_of(world, tasks);
  const auto* plan = std::get_if<Plan>(&outcome);
  RC_TAG(plan == nullptr ? "refused" : plan->nodes.empty() ? "without locks" : "with locks");
  if (plan != nullptr) check_all(world, *plan, tasks);
}

RC_GTEST_PROP(AnyPlan, IsTheSameWhateverTheOrderOfTasks, ()) {
  const World world = any_world();
  const std::vector<Task> tasks = any_tasks(world);
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[pick(i)]);
  std::vector<std::size_t> place(tasks.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<Task> shuffled;
  for (const std::size_t i : order) {
    shuffled.push_back(tasks[i]);
    for (Requirement& requirement : shuffled.back().requirements) {
      if (auto* task = std::get_if<RequiredTask>(&requirement)) task->index = place[task->index];
    }
    std::reverse(shuffled.back().requirements.begin(), shuffled.back().requirements.end());
  }
  RC_ASSERT(text_of(plan_of(world, tasks)) == text_of(plan_of(world, shuffled)));
}

// Phases with their tasks, without one task and what is empty then.
std::vector<std::vector<std::string>> without(const Plan& plan, const std::string& id) {
  std::vector<std::vector<std::string>> phases;
  for (const Phase& phase : plan.phases) {
    std::vector<std::string> tasks;
    for (std::size_t i = phase.first; i < phase.first + phase.count; ++i) {
      if (plan.id(i) != id) tasks.push_back(plan.id(i));
    }
    if (!tasks.empty()) phases.push_back(std::move(tasks));
  }
  return phases;
}

RC_GTEST_PROP(AnyPlan, IsNotMovedByATaskThatHasNothingToDoWithIt, ()) {
  World world = any_world();
  const std::vector<Task> tasks = any_tasks(world);
  const PlanOutcome outcome = plan_of(world, tasks);
  const auto* plan = std::get_if<Plan>(&outcome);
  RC_PRE(plan != nullptr);
  // A node's own item stands in no element that another one of its node requires.
  Task stranger;
  stranger.plugin = "stranger";
  stranger.item = coin(2) ? path("/software/items/s") : world.nodes[pick(world.nodes.size())];
  if (stranger.item.text().starts_with("/software") || coin(2)) {
    stranger.work = CallbackWork{"stranger"};
  } else {
    stranger.work =
        ConfigWork{.node = stranger.item, .call = {"file", "/stranger"}, .replaces = {}};
  }
  // It has to do with whoever requires its item, with what its cluster does for all its nodes, and
  // with locks, if its node has no other task.
  for (const Task& task : tasks) {
    RC_PRE(task.item.text().find("/software/x") == std::string::npos);
    for (const Requirement& requirement : task.requirements) {
      const auto* item = std::get_if<RequiredItem>(&requirement);
      const bool is_required = item != nullptr && stranger.item.is_at_or_below(item->path);
      RC_PRE(!is_required);
    }
  }
  std::vector<Task> more = tasks;
  more.insert(more.begin() + static_cast<std::ptrdiff_t>(pick(more.size() + 1)), stranger);
  const std::size_t at = static_cast<std::size_t>(
      std::find_if(more.begin(), more.end(),
                   [](const Task& task) { return task.plugin == "stranger"; }) -
      more.begin());
  for (Task& task : more) {
    for (Requirement& requirement : task.requirements) {
      auto* wanted = std::get_if<RequiredTask>(&requirement);
      if (wanted != nullptr && wanted->index >= at) ++wanted->index;
    }
  }
  const PlanOutcome changed = plan_of(world, more);
  const auto* other = std::get_if<Plan>(&changed);
  RC_ASSERT(other != nullptr);
  RC_PRE(other->nodes.size() == plan->nodes.size());
  RC_ASSERT(without(*plan, "") == without(*other, task_id(stranger)));
}

RC_GTEST_PROP(AnyPlan, GoesOnAfterAFailureInTheSameOrder, ()) {
  World world = any_world();
  const std::vector<Task> tasks = any_tasks(world);
  const PlanOutcome outcome = plan_of(world, tasks);
  const auto* first = std::get_if<Plan>(&outcome);
  RC_PRE(first != nullptr);
  for (std::size_t i = 0; i < first->planned; ++i) {
    const auto* config = std::get_if<ConfigWork>(&first->tasks[i].work);
    if (config == nullptr || !config->persist) continue;
    world.remembered.push_back(
        remember(*first, i, coin(2) ? TaskState::Success : TaskState::Failed));
  }
  const PlanOutcome outcome_after = plan_of(world, tasks);
  const auto* second = std::get_if<Plan>(&outcome_after);
  if (second == nullptr) {
    RC_ASSERT(std::holds_alternative<NothingToDo>(outcome_after));
    return;
  }
  std::map<std::string, std::size_t> now;
  for (std::size_t i = 0; i < second->planned; ++i) now[second->id(i)] = i;
  const auto before = Oracle(world, *first).closure();
  const auto phases = ancestors(*second);
  for (std::size_t a = 0; a < first->planned; ++a) {
    for (std::size_t b = 0; b < first->planned; ++b) {
      const auto x = now.find(first->id(a));
      const auto y = now.find(first->id(b));
      if (!before[a][b] || x == now.end() || y == now.end()) continue;
      const std::uint32_t later = second->placements[x->second].phase;
      const std::uint32_t earlier = second->placements[y->second].phase;
      const bool is_kept =
          later == earlier ? x->second > y->second : phases[later].contains(earlier);
      RC_ASSERT(is_kept);
    }
  }
  for (const RememberedTask& task : world.remembered) {
    const bool is_out = !now.contains(task_id(task.task));
    RC_ASSERT(is_out == (task.state == TaskState::Success));
  }
}

}  // namespace
}  // namespace muster::plan::testing
