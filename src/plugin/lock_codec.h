#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/planner.h"
#include "plugin/task_codec.h"

namespace muster::plugin {

// What is known where the tasks of an answer are read. Borrowed.
struct TaskReading {
  const std::string& plugin;
  const Snapshot& model;
  const std::vector<std::string>& callbacks;
  const TaskLimits& limits;
};

struct LockAnswer {
  std::optional<plan::LockPair> pair;  // none: the plugin does not know, or there are problems
  std::vector<std::string> problems;   // each names the node
};

// Reads the answer of create_lock_tasks for a node. A lock stands alone in its phase, between those
// of its node: it acts on that node and on no other, waits for nothing and belongs to no other
// group. A function of its inputs.
LockAnswer read_locks(const TaskReading& reading, const model::Path& node, Json&& answer);

}  // namespace muster::plugin
