#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "plan/explain.h"
#include "plan/order_oracle.h"
#include "plan/planner.h"
#include "plan/random_site.h"
#include "plan/remembered.h"
#include "plan/task_id.h"

// What holds of every plan, over random sites and tasks.

namespace muster::plan::testing {
namespace {

using model::Path;

std::string text_of(const PlanOutcome& outcome) {
  std::string text;
  if (const auto* errors = std::get_if<PlanErrors>(&outcome)) {
    for (const PlanError& error : errors->errors) text += error.message + "\n";
  }
  const auto* plan = std::get_if<Plan>(&outcome);
  if (plan == nullptr) return text;
  for (const Phase& phase : plan->phases) {
    text += fmt::format("phase {} {} {} {} after {}\n", phase.group, phase.cluster, phase.node,
                        phase.rank, fmt::join(phase.after, " "));
    for (std::size_t i = phase.first; i < phase.first + phase.count; ++i) {
      text += "  " + plan->id(i) + "\n";
      for (const Reason& reason : explain(*plan, i)) text += "    " + reason.text + "\n";
    }
  }
  for (std::size_t i = plan->planned; i < plan->tasks.size(); ++i) {
    text += "left out " + plan->id(i) + "\n";
  }
  return text + fmt::format("{}", fmt::join(plan->notices, "\n"));
}

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

// --- What is checked of each plan. ---

// A remote task may be there in parts, each with nodes of its own.
void check_once(const Plan& plan, const std::vector<Task>& tasks) {
  std::map<std::string, int> seen;
  std::map<std::pair<Path, std::string>, std::vector<Path>> remotes;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    ++seen[plan.id(i)];
    const auto* remote = std::get_if<RemoteWork>(&plan.tasks[i].work);
    if (remote == nullptr) continue;
    std::vector<Path>& nodes = remotes[{plan.tasks[i].item, remote->action}];
    nodes.insert(nodes.end(), remote->nodes.begin(), remote->nodes.end());
  }
  for (const auto& [id, count] : seen) RC_ASSERT(count == 1);
  for (const Task& task : tasks) {
    const auto* remote = std::get_if<RemoteWork>(&task.work);
    if (remote == nullptr) {
      RC_ASSERT(seen.contains(task_id(task)));
      continue;
    }
    std::vector<Path> nodes = remotes[{task.item, remote->action}];
    std::sort(nodes.begin(), nodes.end());
    const bool has_all = nodes == remote->nodes;
    RC_ASSERT(has_all);
  }
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
      if (plan.placements[i].role == TaskRole::Ordinary) continue;
      const bool is_alone = phase.count == 1 || plan.placements[i].role == TaskRole::Cleanup;
      RC_ASSERT(is_alone);
    }
    RC_ASSERT(kinds.size() == 1U);
  }
}

void check_scopes(const Plan& plan, const OrderOracle& oracle) {
  for (const Phase& phase : plan.phases) {
    const Path* cluster = plan.cluster_of(phase);
    const std::string group(plan.group_of(phase));
    const std::string scope =
        fmt::format("{} {} {}", group, cluster == nullptr ? "" : cluster->text(),
                    phase.node == kNone ? "" : plan.nodes[phase.node].text());
    for (std::size_t i = phase.first; i < phase.first + phase.count; ++i) {
      if (plan.placements[i].role != TaskRole::Ordinary) continue;
      const std::string& wanted = oracle.scope(i);
      const std::size_t end = wanted.find(' ');
      RC_ASSERT(scope == "DEPLOYMENT_" + wanted.substr(0, end) + "_GROUP" + wanted.substr(end));
    }
  }
}

void check_order(const Plan& plan, const OrderOracle& oracle) {
  const auto before = ancestors(plan);
  for (std::size_t a = 0; a < plan.planned; ++a) {
    for (std::size_t b = 0; b < plan.planned; ++b) {
      if (!oracle.waits(a, b)) continue;
      const std::uint32_t mine = plan.placements[a].phase;
      const std::uint32_t theirs = plan.placements[b].phase;
      if (mine == theirs) {
        RC_ASSERT(oracle.may_share(a, b));
        RC_ASSERT(a > b);
        const std::vector<std::size_t> kept = required_in_phase(plan, a);
        RC_ASSERT(!kept.empty());
      } else {
        RC_ASSERT(before[mine].contains(theirs));
      }
    }
  }
}

void check_no_later_than_need_be(const Plan& plan, const OrderOracle& oracle) {
  const std::vector<int> ranks = oracle.ranks();
  for (std::size_t i = 0; i < plan.planned; ++i) {
    if (plan.placements[i].role != TaskRole::Ordinary) continue;
    RC_ASSERT(plan.phases[plan.placements[i].phase].rank == ranks[i]);
  }
}

bool depends(const Site& site, const Path& cluster, const Path& on) {
  if (cluster.parent() != on.parent()) return false;
  const std::string* list = site.tree.find(cluster)->property("dependency_list");
  if (list == nullptr) return false;
  for (const char* id : {"c0", "c1", "c2"}) {
    if (list->find(id) == std::string::npos) continue;
    const Path other = cluster.parent().child(id);
    if (other == on || depends(site, other, on)) return true;
  }
  return false;
}

// Groups one after the other; clusters after those that they depend on and no others.
void check_groups_and_clusters(const Site& site, const Plan& plan) {
  const auto before = ancestors(plan);
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Phase& later = plan.phases[i];
      const Phase& earlier = plan.phases[j];
      const bool both = later.cluster != kNone && earlier.cluster != kNone;
      const bool other = both && later.cluster != earlier.cluster;
      const bool expected =
          !other || depends(site, plan.clusters[later.cluster], plan.clusters[earlier.cluster]);
      RC_ASSERT(before[i].contains(static_cast<std::uint32_t>(j)) == expected);
      if (!both) RC_ASSERT(later.group >= earlier.group);
    }
  }
}

std::set<std::string> locked_nodes(const Plan& plan) {
  std::set<std::string> nodes;
  for (const Phase& phase : plan.phases) {
    const bool is_lock = plan.placements[phase.first].role == TaskRole::Lock;
    if (is_lock) nodes.insert(plan.nodes[phase.node].text());
  }
  return nodes;
}

// Locked nodes one by one, each locked once, and only what is the node's own under its lock.
void check_locks(const Plan& plan) {
  std::map<std::uint32_t, std::uint32_t> locked;  // by cluster, the node
  std::set<std::uint32_t> done;
  for (const Phase& phase : plan.phases) {
    const TaskRole role = plan.placements[phase.first].role;
    if (role == TaskRole::Lock) {
      RC_ASSERT(!locked.contains(phase.cluster));
      RC_ASSERT(done.insert(phase.node).second);
      locked[phase.cluster] = phase.node;
    } else if (phase.cluster != kNone && locked.contains(phase.cluster)) {
      RC_ASSERT(locked[phase.cluster] == phase.node);
      if (role == TaskRole::Unlock) locked.erase(phase.cluster);
    } else if (role == TaskRole::Release) {
      RC_ASSERT(!done.contains(phase.node));
    } else {
      RC_ASSERT(phase.node == kNone);
    }
  }
  RC_ASSERT(locked.empty());
  // What is done on a locked node in the groups of locks is done under its lock.
  const std::set<std::string> nodes = locked_nodes(plan);
  for (std::size_t i = 0; i < plan.planned; ++i) {
    const Phase& phase = plan.phases[plan.placements[i].phase];
    const std::string group = group_of(plan.tasks[i]);
    const auto* remote = std::get_if<RemoteWork>(&plan.tasks[i].work);
    if (remote == nullptr || (group != "NODE" && group != "UPGRADE_BOOT")) continue;
    for (const Path& node : remote->nodes) {
      const bool is_kept =
          !nodes.contains(node.text()) || (phase.node != kNone && plan.nodes[phase.node] == node);
      RC_ASSERT(is_kept);
    }
  }
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

void check_all(const Site& site, const Plan& plan, const std::vector<Task>& tasks) {
  const OrderOracle oracle(site, plan);
  check_once(plan, tasks);
  check_not_mixed(plan);
  check_scopes(plan, oracle);
  check_order(plan, oracle);
  check_no_later_than_need_be(plan, oracle);
  check_groups_and_clusters(site, plan);
  check_locks(plan);
  check_explained(plan);
}

// --- The properties. ---

RC_GTEST_PROP(AnyPlan, KeepsToEveryConstraintAndWaitsForNothingElse, ()) {
  const Site site = any_site();
  const std::vector<Task> tasks = any_tasks(site);
  RC_LOG() << describe(site, tasks);
  const PlanOutcome outcome = plan_of(site, tasks);
  RC_LOG() << text_of(outcome);
  const auto* plan = std::get_if<Plan>(&outcome);
  const auto* errors = std::get_if<PlanErrors>(&outcome);
  RC_TAG(errors != nullptr     ? fmt::format("refused: {}", name(errors->errors.front().kind))
         : plan == nullptr     ? "nothing to do"
         : plan->nodes.empty() ? "without locks"
                               : "with locks");
  if (plan != nullptr) check_all(site, *plan, tasks);
}

RC_GTEST_PROP(AnyPlan, IsTheSameWhateverTheOrderOfTasks, ()) {
  const Site site = any_site();
  const std::vector<Task> tasks = any_tasks(site);
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
  RC_LOG() << describe(site, tasks);
  RC_ASSERT(text_of(plan_of(site, tasks)) == text_of(plan_of(site, shuffled)));
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

// One more task, at a random place among the others.
std::vector<Task> with(const std::vector<Task>& tasks, const Task& added) {
  const std::size_t at = pick(tasks.size() + 1);
  std::vector<Task> more = tasks;
  for (Task& task : more) {
    for (Requirement& requirement : task.requirements) {
      auto* wanted = std::get_if<RequiredTask>(&requirement);
      if (wanted != nullptr && wanted->index >= at) ++wanted->index;
    }
  }
  more.insert(more.begin() + static_cast<std::ptrdiff_t>(at), added);
  return more;
}

// It has to do with whoever requires its item, and with those that come after it by the order of
// siblings; with a node that is locked on its account, and with the clean-up of its item.
bool is_required(const Task& stranger, const std::vector<Task>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(), [&](const Task& task) {
    return std::any_of(task.requirements.begin(), task.requirements.end(), [&](const auto& each) {
      const auto* item = std::get_if<RequiredItem>(&each);
      return item != nullptr && stranger.item.is_at_or_below(item->path);
    });
  });
}

bool has_to_do_with(const Task& stranger, const Site& site, const Plan& with_it,
                    const Plan& without_it) {
  if (site.tree.find(stranger.item)->item().is_for_removal()) return true;
  if (locked_nodes(with_it) != locked_nodes(without_it)) return true;
  const OrderOracle oracle(site, with_it);
  const std::size_t at = *with_it.find(task_id(stranger));
  for (std::size_t i = 0; i < with_it.tasks.size(); ++i) {
    if (oracle.waits(i, at)) return true;
  }
  return false;
}

RC_GTEST_PROP(AnyPlan, IsNotMovedByATaskThatHasNothingToDoWithIt, ()) {
  const Site site = any_site();
  const std::vector<Task> tasks = any_tasks(site);
  const PlanOutcome outcome = plan_of(site, tasks);
  const auto* plan = std::get_if<Plan>(&outcome);
  Task stranger;
  stranger.plugin = "stranger";
  stranger.item = site.items[pick(site.items.size())];
  stranger.work = CallbackWork{"stranger"};
  const std::string node = node_above(stranger.item);
  if (!node.empty() && coin(2)) {
    stranger.work =
        ConfigWork{.node = *Path::parse(node), .call = {"file", "/stranger"}, .replaces = {}};
  }
  if (plan == nullptr || is_required(stranger, tasks)) return;
  const std::vector<Task> more = with(tasks, stranger);
  RC_LOG() << describe(site, more);
  const PlanOutcome changed = plan_of(site, more);
  RC_LOG() << text_of(changed);
  // It may stand between two that wait for each other by way of it alone.
  if (const auto* errors = std::get_if<PlanErrors>(&changed)) {
    for (const PlanError& error : errors->errors) {
      RC_ASSERT(error.kind == PlanErrorKind::Cycle);
      RC_ASSERT(error.message.find(task_id(stranger)) != std::string::npos);
    }
    return;
  }
  const auto* other = std::get_if<Plan>(&changed);
  const bool is_stranger = !has_to_do_with(stranger, site, *other, *plan);
  RC_CLASSIFY(is_stranger, "has nothing to do with it");
  if (is_stranger) RC_ASSERT(without(*plan, "") == without(*other, task_id(stranger)));
}

// States as a run leaves them: whatever waits for what has not succeeded has not run. An item that
// is still to be removed has a task that has not succeeded; what is on the host is then in doubt.
std::vector<RememberedTask> run(const Plan& plan, const OrderOracle& oracle) {
  std::vector<RememberedTask> remembered;
  std::vector<bool> is_done(plan.tasks.size(), true);
  for (std::size_t i = 0; i < plan.planned; ++i) {
    bool is_good = !coin(6) && !oracle.is_removal(i);
    for (std::size_t j = 0; j < plan.planned; ++j) {
      if (oracle.waits(i, j) && !is_done[j]) is_good = false;
    }
    is_done[i] = is_good;
    const auto* config = std::get_if<ConfigWork>(&plan.tasks[i].work);
    if (config == nullptr || !config->persist) continue;
    remembered.push_back(remember(plan, i, is_good ? TaskState::Success : TaskState::Failed));
  }
  return remembered;
}

bool requires_transient(const Plan& plan, const std::string& id) {
  const std::size_t task = *plan.find(id);
  const auto& requirements = plan.tasks[task].requirements;
  return std::any_of(requirements.begin(), requirements.end(), [&](const Requirement& each) {
    const auto* wanted = std::get_if<RequiredTask>(&each);
    if (wanted == nullptr) return false;
    const auto* config = std::get_if<ConfigWork>(&plan.tasks[wanted->index].work);
    return config != nullptr && !config->persist;
  });
}

RC_GTEST_PROP(AnyPlan, GoesOnAfterAFailureInTheSameOrder, ()) {
  Site site = any_site();
  const std::vector<Task> tasks = any_tasks(site);
  const PlanOutcome outcome = plan_of(site, tasks);
  const auto* first = std::get_if<Plan>(&outcome);
  if (first == nullptr) return;
  const OrderOracle oracle(site, *first);
  site.remembered = run(*first, oracle);
  RC_LOG() << describe(site, tasks);
  RC_LOG() << text_of(outcome);
  const PlanOutcome outcome_after = plan_of(site, tasks);
  RC_LOG() << text_of(outcome_after);
  RC_CLASSIFY(true, "goes on");
  if (std::holds_alternative<NothingToDo>(outcome_after)) return;
  const auto* second = std::get_if<Plan>(&outcome_after);
  const bool has_second = second != nullptr;
  RC_ASSERT(has_second);
  check_all(site, *second, tasks);
  std::map<std::string, std::size_t> now;
  for (std::size_t i = 0; i < second->planned; ++i) now[second->id(i)] = i;
  for (const RememberedTask& task : site.remembered) {
    const std::string id = task_id(task.task);
    const bool is_out = !now.contains(id);
    RC_ASSERT(is_out == (task.state == TaskState::Success && !requires_transient(*first, id)));
  }
  const auto before = oracle.waits_by_way_of([](std::size_t) { return true; });
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
}

}  // namespace
}  // namespace muster::plan::testing
