#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plan/task.h"

namespace muster::plan {

// The tasks of a plan while it is made: those of the request, then what the planner adds. Those of
// the request are its own, or lent by whoever only has a question about them. A million tasks are
// to be in memory once, so it grows by little, and room for what is known to come is made before
// there is anything else.
class TaskList {
 public:
  // REQUIRES: `lent` outlives it.
  explicit TaskList(std::span<const Task> lent) : lent_(lent) {}
  // With room for `more` tasks.
  TaskList(std::vector<Task> own, std::size_t more);

  std::size_t size() const { return lent_.size() + own_.size(); }
  const Task& operator[](std::size_t i) const {
    return i < lent_.size() ? lent_[i] : own_[i - lent_.size()];
  }
  void add(Task task);

  // All tasks, to be changed. REQUIRES: none are lent.
  std::vector<Task>& own();

 private:
  void grow(std::size_t capacity);

  std::span<const Task> lent_;
  std::vector<Task> own_;
};

}  // namespace muster::plan
