#include "core/action/approvals.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "core/action/transitions.h"

namespace muster::core {
namespace {

std::optional<Error> refuse(const Action& action, const DecideRequest& request) {
  if (request.if_revision && *request.if_revision != action.revision) {
    return Error{ErrorCode::RevisionMismatch,
                 fmt::format("action {} is at revision {}, not {}", describe(action),
                             action.revision, *request.if_revision)};
  }
  if (action.status != Status::PendingApprove) {
    return Error{
        ErrorCode::Conflict,
        fmt::format("action {} is {}; only one that is PENDING_APPROVE can be {}", describe(action),
                    name(action.status), request.approve ? "approved" : "rejected")};
  }
  if (!request.approve) return std::nullopt;
  if (request.who == action.spec->requested_by && !action.spec->approval->allow_requester) {
    return Error{ErrorCode::SelfApproval,
                 fmt::format("{} requested action {} and may not approve it; somebody else must",
                             request.who, describe(action))};
  }
  const bool repeated =
      std::any_of(action.decisions.begin(), action.decisions.end(),
                  [&](const ApprovalDecision& decision) { return decision.who == request.who; });
  if (repeated) {
    return Error{ErrorCode::DuplicateApproval,
                 fmt::format("{} has approved action {} already; {} different people are needed",
                             request.who, describe(action), action.spec->approval->count)};
  }
  return std::nullopt;
}

}  // namespace

void handle_decision(Step& step, const DecideRequest& request) {
  const ActionPtr action = step.state.actions.find(request.id);
  if (!action) {
    step.reply(request.request,
               Error{ErrorCode::ActionFinal,
                     fmt::format("action {} has ended already", request.id.to_string())});
    return;
  }
  if (auto refused = refuse(*action, request)) {
    step.reply(request.request, std::move(*refused));
    return;
  }
  MUSTER_CHECK(action->spec->approval, "{} is PENDING_APPROVE without a policy", describe(*action));

  Action next = *action;
  next.decisions.push_back({request.who, request.approve, request.reason, step.now});
  const std::string because = request.reason.empty() ? "" : ": " + request.reason;
  if (!request.approve) {
    finish(step, next, Status::Cancelled, fmt::format("rejected by {}{}", request.who, because),
           request.who);
    step.effects.replies.push_back({request.request, ActionReply{step.ended.back()}});
    return;
  }
  const auto count = static_cast<std::uint32_t>(next.decisions.size());
  const EventNote note{.type = "action.approval",
                       .actor = request.who,
                       .reason = fmt::format("approved by {}{}", request.who, because)};
  if (count < action->spec->approval->count) {
    next.status_reason =
        fmt::format("has {} of {} approvals", count, action->spec->approval->count);
    step.put(std::move(next), &note);
  } else {
    next.status_reason = note.reason;
    enter_after_approval(step, std::move(next), note);
  }
  step.effects.replies.push_back(
      {request.request, ActionReply{step.state.actions.find(request.id)}});
}

void approval_expired(Step& step, const Action& action) {
  finish(step, action, Status::Cancelled,
         fmt::format("approval expired: {} of {} approvals within {}", action.decisions.size(),
                     action.spec->approval->count,
                     format_duration(action.spec->approval->expires_in)));
}

}  // namespace muster::core
