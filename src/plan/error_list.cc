#include "plan/error_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "plan/task_id.h"

namespace muster::plan {
namespace {

bool comes_first(const PlanError& a, const PlanError& b) {
  return std::tie(a.item, a.task, a.kind, a.message) < std::tie(b.item, b.task, b.kind, b.message);
}

}  // namespace

void ErrorList::add(PlanErrorKind kind, const Task& task, const std::string& message) {
  keep(
      {kind, task_id(task), task.plugin, task.item, fmt::format("{} {}", describe(task), message)});
}

void ErrorList::add(PlanErrorKind kind, const model::Path& item, std::string message) {
  keep({kind, "", "", item, std::move(message)});
}

void ErrorList::keep(PlanError error) {
  errors_.push_back(std::move(error));
  if (errors_.size() >= 2 * kPlanErrorsMax) cut();
}

void ErrorList::cut() {
  std::sort(errors_.begin(), errors_.end(), comes_first);
  if (errors_.size() <= kPlanErrorsMax) return;
  unnamed_ += errors_.size() - kPlanErrorsMax;
  errors_.resize(kPlanErrorsMax);
}

PlanErrors ErrorList::take() && {
  cut();
  return {std::move(errors_), unnamed_};
}

}  // namespace muster::plan
