#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/call_table.h"
#include "plan/cluster_order.h"
#include "plan/error_list.h"
#include "plan/model_index.h"
#include "plan/planner.h"
#include "plan/task_list.h"

namespace muster::plan {

// What the planner finds out about a task.
struct DraftTask {
  std::uint32_t item = kNone;     // of ModelIndex
  std::uint32_t anchor = kNone;   // the item by which it is ordered among siblings
  std::uint32_t node = kNone;     // that it is sorted by; kNone: of no node, or of several
  std::uint32_t cluster = kNone;  // that it is sorted by, in a group per cluster
  std::uint16_t group = 0;        // index into Ruleset::groups
  LeftOut left_out = LeftOut::No;
  TaskRole role = TaskRole::Ordinary;
  bool is_refused = false;     // an error was told: nothing more is to be told about it
  bool is_remembered = false;  // of an earlier plan: it binds others, and is not in this plan
  bool is_removal = false;     // its item is to be removed
  bool is_reversed = false;    // siblings are done in the opposite order
  bool as_in_node = false;     // see Placement

  bool is_planned() const { return left_out == LeftOut::No && !is_refused && !is_remembered; }
  // It has a place in the order, whether it is in the plan or was done before.
  bool is_ordered() const {
    return !is_refused && role == TaskRole::Ordinary && left_out != LeftOut::NodeForRemoval;
  }
};

// A plan while it is made: what its stages work on, one after the other.
struct Draft {
  Draft(const PlanRequest& asked, TaskList given)
      : request(asked),
        index(asked.model, asked.schema, asked.ruleset),
        tasks(std::move(given)),
        facts(tasks.size()),
        given_count(tasks.size()) {
    clusters = order_clusters(index, errors);
  }

  const Group& group_of(const DraftTask& fact) const { return request.ruleset.groups[fact.group]; }
  // REQUIRES: no task is added any more once there are remembered ones.
  const Task& task(std::uint32_t i) const {
    return i < tasks.size() ? tasks[i] : request.remembered[remembered[i - tasks.size()]].task;
  }
  std::uint32_t add_task(Task task) {
    tasks.add(std::move(task));
    facts.emplace_back();
    return static_cast<std::uint32_t>(tasks.size() - 1);
  }
  void refuse(std::uint32_t i, PlanErrorKind kind, const std::string& message) {
    errors.add(kind, tasks[i], message);
    facts[i].is_refused = true;
  }

  void note(std::string text) {
    if (notices.size() < kNoticesMax) notices.push_back(std::move(text));
  }

  const PlanRequest& request;
  ModelIndex index;
  ErrorList errors;
  ClusterOrder clusters;
  TaskList tasks;
  std::vector<DraftTask> facts;  // of each task, then of those remembered
  std::size_t given_count;       // tasks of the request
  // Remote tasks that were split by node: all parts of each, itself the first.
  std::map<std::uint32_t, std::vector<std::uint32_t>> parts;
  std::vector<std::uint32_t> remembered;  // indexes into request.remembered
  CallTable calls;                        // of the config tasks
  std::vector<std::uint32_t> cleanups;    // of items that go without a task of a plugin; by path
  std::vector<std::string> notices;

 private:
  static constexpr std::size_t kNoticesMax = 1000;
};

}  // namespace muster::plan
