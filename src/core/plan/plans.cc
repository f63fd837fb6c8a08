#include "core/plan/plans.h"

#include <fmt/format.h>

#include <utility>

namespace muster::core {
namespace {

void tell(Step& step, const PlanRecord& plan, std::string_view type, const std::string& actor) {
  step.append_event(Event{.seq = 0,
                          .at = {},
                          .type = std::string(type),
                          .subject = fmt::format("{}", plan.number),
                          .name = {},
                          .kind = {},
                          .target = {},
                          .status = std::string(name(plan.state)),
                          .reason = plan.state_reason,
                          .actor = actor,
                          .revision = plan.revision});
}

Error no_such_plan(std::uint64_t number) {
  return {ErrorCode::NotFound, fmt::format("there is no plan {}", number)};
}

void drop(Step& step, const PlanRecord& plan) {
  step.effects.writes.push_back(DropPlan{plan.number, plan.body_bytes});
  step.state.plans.erase(plan.number);
}

}  // namespace

std::string_view name(PlanState state) {
  switch (state) {
    case PlanState::Initial:
      return "initial";
    case PlanState::Invalid:
      return "invalid";
  }
  return "?";
}

void handle_keep_plan(Step& step, const KeepPlan& keep) {
  if (!step.state.model) {
    return step.reply(keep.request, Error{ErrorCode::NotFound, "this controller has no model"});
  }
  const ModelState& model = *step.state.model;
  if (model.revision != keep.model_revision) {
    return step.reply(
        keep.request,
        Error{ErrorCode::Conflict,
              fmt::format("the model has changed while the plan was made from revision {}: {}; "
                          "make it again",
                          keep.model_revision, model.last_change)});
  }
  PlanRecord plan;
  plan.number = ++step.state.last_plan;
  plan.state_since = step.now;
  plan.created_at = step.now;
  plan.who = keep.who;
  plan.why = keep.why;
  plan.model_revision = keep.model_revision;
  plan.digest = keep.digest;
  plan.body_bytes = keep.body->size();
  plan.summary = keep.summary;
  const auto kept = std::make_shared<const PlanRecord>(std::move(plan));
  step.state.plans.emplace(kept->number, kept);
  step.effects.writes.push_back(PutPlan{kept, keep.body});
  tell(step, *kept, "plan.created", keep.who);
  while (step.state.plans.size() > step.state.options.plans_max) {
    const PlanRecordPtr oldest = step.state.plans.begin()->second;
    drop(step, *oldest);
  }
  step.effects.replies.push_back({keep.request, PlanReply{kept}});
}

void handle_remove_plan(Step& step, const RemovePlan& remove) {
  const auto found = step.state.plans.find(remove.number);
  if (found == step.state.plans.end()) {
    return step.reply(remove.request, no_such_plan(remove.number));
  }
  const PlanRecordPtr plan = found->second;
  if (remove.if_revision && *remove.if_revision != plan->revision) {
    return step.reply(remove.request,
                      Error{ErrorCode::RevisionMismatch,
                            fmt::format("plan {} has revision {} and not {}", plan->number,
                                        plan->revision, *remove.if_revision)});
  }
  drop(step, *plan);
  tell(step, *plan, "plan.removed", remove.who);
  step.effects.replies.push_back({remove.request, PlanReply{plan}});
}

void invalidate_plans(Step& step, const std::string& reason) {
  for (auto& [number, plan] : step.state.plans) {
    if (plan->state != PlanState::Initial) continue;
    PlanRecord next = *plan;
    ++next.revision;
    next.state = PlanState::Invalid;
    next.state_reason = reason;
    next.state_since = step.now;
    plan = std::make_shared<const PlanRecord>(std::move(next));
    step.effects.writes.push_back(PutPlan{plan, nullptr});
    tell(step, *plan, "plan.state", {});
  }
}

}  // namespace muster::core
