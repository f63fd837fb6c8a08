#pragma once

#include <cstddef>

#include "base/json.h"
#include "core/plan/plan_record.h"

// Deployment plans in answers. Phases are numbered from 1. Secrets are in no plan: a task that
// needs one names it.

namespace muster::controller {

Json plan_json(const core::PlanRecord& plan);
Json phase_json(const plan::Plan& plan, std::size_t phase);
Json task_json(const core::PlanBody& body, std::size_t task);
// Why the task is where it is, from the task back.
Json explain_json(const plan::Plan& plan, std::size_t task);

}  // namespace muster::controller
