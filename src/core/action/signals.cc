#include "core/action/signals.h"

#include <fmt/format.h>

#include "core/action/transitions.h"
#include "core/kind/catalog.h"

namespace muster::core {
namespace {

void signal_executor(Step& step, const Action& action, Signal signal, const std::string& reason) {
  if (action.spec->side == Side::Engine) {
    step.effects.jobs.push_back(SignalJob{action.id(), action.attempt, signal});
    return;
  }
  const Session* session = step.state.agents.session_of(action.spec->target);
  // Without a session the signal waits in `control` and goes out after the next sync.
  if (session == nullptr || !session->ready) return;
  step.send(session->id, SendSignal{action.id(), action.attempt, signal, reason});
}

std::string with_reason(std::string_view what, const std::string& who, const std::string& reason) {
  std::string text(what);
  if (!who.empty()) text += fmt::format(" by {}", who);
  if (!reason.empty()) text += fmt::format(": {}", reason);
  return text;
}

void ask(Step& step, const Action& action, Signal signal, const std::string& who,
         const std::string& reason) {
  Action next = action;
  next.control = signal;
  next.control_reason = with_reason(fmt::format("{} asked", name(signal)), who, reason);
  const EventNote note{.type = "action.control", .actor = who, .reason = next.control_reason};
  const ActionPtr asked = step.put(std::move(next), &note);
  signal_executor(step, *asked, signal, asked->control_reason);
}

// Suspended under a controller that is gone: no process or worker stands behind it.
bool is_left_suspended(const Action& action) {
  return action.spec->side == Side::Engine && action.status == Status::Suspended &&
         action.owner.empty();
}

bool can_suspend(const Action& action) {
  if (action.spec->side == Side::Agent) return true;
  const KindInfo* kind = KindCatalog::find(action.spec->kind);
  return kind != nullptr && kind->suspendable;
}

void reply_current(Step& step, RequestId request, const ActionId& id, const ActionPtr& before) {
  // A signal may have ended the action, which leaves the table with its last write.
  const ActionPtr live = step.state.actions.find(id);
  if (live) {
    step.effects.replies.push_back({request, ActionReply{live}});
    return;
  }
  for (const ActionPtr& ended : step.ended) {
    if (ended->id() == id) {
      step.effects.replies.push_back({request, ActionReply{ended}});
      return;
    }
  }
  step.effects.replies.push_back({request, ActionReply{before}});
}

Error not_in_state(const Action& action, Signal signal, std::string_view wanted) {
  return Error{ErrorCode::Conflict,
               fmt::format("action {} is {}; {} needs it to be {}", describe(action),
                           name(action.status), name(signal), wanted)};
}

// SUSPEND and RESUME. An Error explains why not.
std::optional<Error> suspend(Step& step, const Action& action, const SignalRequest& request) {
  if (action.status == Status::Suspended && action.control == Signal::None) return std::nullopt;
  if (action.status != Status::Running && action.status != Status::Suspended) {
    return not_in_state(action, Signal::Suspend, "RUNNING");
  }
  if (action.control == Signal::Cancel) {
    return Error{ErrorCode::Conflict,
                 fmt::format("action {} is being cancelled", describe(action))};
  }
  if (!can_suspend(action)) {
    return Error{
        ErrorCode::SignalUnsupported,
        fmt::format("kind '{}' cannot be suspended; CANCEL it instead", action.spec->kind)};
  }
  ask(step, action, Signal::Suspend, request.who, request.reason);
  return std::nullopt;
}

std::optional<Error> resume(Step& step, const Action& action, const SignalRequest& request) {
  if (action.status == Status::Init) {
    Action next = action;
    next.status_reason = with_reason("released", request.who, request.reason);
    enter_after_hold(step, std::move(next),
                     EventNote{.type = "action.status", .actor = request.who});
    return std::nullopt;
  }
  if (is_left_suspended(action)) {
    Action next = action;
    next.suspended_since = {};
    next.status_reason = with_reason("resumed", request.who, request.reason);
    const EventNote note{.type = "action.status", .actor = request.who};
    make_dispatchable(step, std::move(next), &note);
    return std::nullopt;
  }
  if (action.status == Status::Running && action.control == Signal::None) return std::nullopt;
  if (action.status != Status::Suspended && action.control != Signal::Suspend) {
    return not_in_state(action, Signal::Resume, "SUSPENDED or INIT");
  }
  if (action.control == Signal::Cancel) {
    return Error{ErrorCode::Conflict,
                 fmt::format("action {} is being cancelled", describe(action))};
  }
  ask(step, action, Signal::Resume, request.who, request.reason);
  return std::nullopt;
}

}  // namespace

void cancel(Step& step, const Action& action, const std::string& reason, const std::string& actor,
            bool force) {
  const std::string why = with_reason("cancelled", actor, reason);
  switch (action.status) {
    case Status::Init:
    case Status::PendingApprove:
    case Status::Waiting:
    case Status::WaitingLifecycleCompletion:
    case Status::Ready:
      finish(step, action, Status::Cancelled, why, actor);
      return;
    case Status::PendingSchedule:
      if (!action.sent) {
        finish(step, action, Status::Cancelled, why, actor);
        return;
      }
      break;
    case Status::Suspended:
      if (is_left_suspended(action)) {
        finish(step, action, Status::Cancelled, why, actor);
        return;
      }
      break;
    case Status::New:
    case Status::Running:
      break;
    case Status::Succeeded:
    case Status::Failed:
    case Status::Cancelled:
    case Status::Lost:
      return;
  }
  if (force) {
    signal_executor(step, action, Signal::Cancel, why);
    finish(step, action, Status::Cancelled, why + " (forced; it may still be stopping)", actor);
    return;
  }
  if (action.control == Signal::Cancel) return;
  ask(step, action, Signal::Cancel, actor, reason);
}

void resend_control(Step& step, const Action& action) {
  if (action.control == Signal::None) return;
  signal_executor(step, action, action.control, action.control_reason);
}

void handle_signal(Step& step, const SignalRequest& request) {
  const ActionPtr action = step.state.actions.find(request.id);
  if (!action) {
    step.reply(request.request,
               Error{ErrorCode::ActionFinal,
                     fmt::format("action {} has ended; its status does not change any more",
                                 request.id.to_string())});
    return;
  }
  if (request.if_revision && *request.if_revision != action->revision) {
    step.reply(request.request,
               Error{ErrorCode::RevisionMismatch,
                     fmt::format("action {} is at revision {}, not {}", describe(*action),
                                 action->revision, *request.if_revision)});
    return;
  }
  std::optional<Error> refused;
  switch (request.signal) {
    case Signal::Cancel:
      cancel(step, *action, request.reason, request.who, request.force);
      break;
    case Signal::Suspend:
      refused = suspend(step, *action, request);
      break;
    case Signal::Resume:
      refused = resume(step, *action, request);
      break;
    case Signal::None:
      refused = Error{ErrorCode::InvalidValue, "the signal must be CANCEL, SUSPEND or RESUME"};
      break;
  }
  if (refused) {
    step.reply(request.request, std::move(*refused));
    return;
  }
  reply_current(step, request.request, request.id, action);
}

}  // namespace muster::core
