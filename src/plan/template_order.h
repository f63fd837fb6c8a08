#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/task.h"

namespace muster::plan {

// The order of config tasks of templates that take resources away: the opposite of the one in which
// these were made. Looks at each of them a few times, never at all pairs.
class TemplateOrder {
 public:
  // What a task asks to come first.
  struct Wanted {
    std::vector<Call> calls;
    std::vector<std::string> types;  // every resource of the type
  };

  // `task` will be that number of the tasks and takes its resource away; for removal: because its
  // item goes.
  void add(std::size_t task, Wanted wanted, bool is_for_removal) {
    leaving_.push_back({task, std::move(wanted), is_for_removal});
  }

  // Drops removals of resources that other tasks ask for, and turns round what the rest requires:
  // what a task names, and is taken away for the same reason, requires the task.
  void settle(std::vector<Task>& tasks) &&;

 private:
  struct Leaving {
    std::size_t task;
    Wanted wanted;
    bool is_for_removal;
    bool is_dropped = false;
  };

  void drop_taken_over(const std::vector<Task>& tasks);
  void turn_calls(std::vector<Task>& tasks);
  void turn_types(std::vector<Task>& tasks);
  void remove_dropped(std::vector<Task>& tasks) const;

  std::vector<Leaving> leaving_;                          // by task
  std::unordered_map<std::string, std::size_t> by_call_;  // node and call -> index into leaving_
};

}  // namespace muster::plan
