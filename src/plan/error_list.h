#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace muster::plan {

// Errors as they are found. Keeps the first kPlanErrorsMax in their order, which is not that in
// which they are found: the same request is told the same, whatever the order of its tasks.
class ErrorList {
 public:
  // The message says what is wrong with the task, whose description stands before it.
  void add(PlanErrorKind kind, const Task& task, const std::string& message);
  void add(PlanErrorKind kind, const model::Path& item, std::string message);

  bool empty() const { return errors_.empty(); }
  PlanErrors take() &&;

 private:
  void keep(PlanError error);
  void cut();

  std::vector<PlanError> errors_;
  std::size_t unnamed_ = 0;
};

}  // namespace muster::plan
