#include <fmt/format.h>

#include <algorithm>

#include "core/agent/agent_core.h"

namespace muster::core::agent {
namespace {

// Longer than any real run, short enough that adding to it cannot overflow.
constexpr Duration kTimeoutMax = Duration::days(36'500);
// The time of a run is counted this often, and no longer step than that is believed.
constexpr Duration kCountEvery = Duration::seconds(30);
constexpr Duration kCountMax = Duration::seconds(60);

std::string_view past_participle(Signal signal) {
  switch (signal) {
    case Signal::Cancel:
      return "cancelled";
    case Signal::Suspend:
      return "suspended";
    case Signal::Resume:
      return "resumed";
    case Signal::None:
      break;
  }
  return "signalled";
}

}  // namespace

void AgentCore::on(Timestamp now, const SignalFromController& input, AgentEffects& out) {
  const auto entry = find(input.id);
  // A signal for an attempt that is over, or that never came, must not hit another one.
  if (!entry || entry->attempt != input.attempt) return;
  std::string reason = input.reason.empty()
                           ? fmt::format("{} by the controller", past_participle(input.signal))
                           : input.reason;
  const auto status_before = entry->status;
  const auto writes_before = out.writes.size();
  const bool done = apply_signal(now, entry, input.signal, std::move(reason), out).has_value();
  const bool changed = find(input.id)->status != status_before;
  // Where the signal does nothing, or nothing more, the controller learns how the action stands.
  if (changed || !done || out.writes.size() == writes_before) {
    out.messages.push_back(
        SendReport{to_agent_action(*find(input.id), entry->origin == Origin::Agent)});
  }
}

void AgentCore::on(Timestamp now, const LocalSignal& input, AgentEffects& out) {
  const auto entry = find(input.id);
  if (!entry) {
    out.replies.push_back(
        LocalReply{input.request,
                   Error{ErrorCode::NotFound, fmt::format("no action {}", input.id.to_string())}});
    return;
  }
  std::string reason =
      fmt::format("{} by {}", past_participle(input.signal), input.who.empty() ? "?" : input.who);
  if (!input.reason.empty()) reason = fmt::format("{}: {}", reason, input.reason);
  const auto done = apply_signal(now, entry, input.signal, std::move(reason), out);
  if (!done) {
    out.replies.push_back(LocalReply{input.request, done.error()});
    return;
  }
  const auto after = find(input.id);
  if (after->status != entry->status) {
    out.messages.push_back(SendReport{to_agent_action(*after, after->origin == Origin::Agent)});
  }
  out.replies.push_back(LocalReply{input.request, after});
}

Result<void> AgentCore::apply_signal(Timestamp now, const JournalEntryPtr& entry, Signal signal,
                                     std::string reason, AgentEffects& out) {
  if (signal == Signal::None) {
    return fail(ErrorCode::InvalidValue, "a signal is CANCEL, SUSPEND or RESUME");
  }
  if (entry->is_final()) {
    return fail(ErrorCode::ActionFinal, "action {} has ended, its status is {}",
                entry->id.to_string(), name(entry->status));
  }
  if (entry->status == Status::New) {
    if (signal != Signal::Cancel) {
      return fail(ErrorCode::Conflict, "action {} is NEW, {} needs RUNNING or SUSPENDED",
                  entry->id.to_string(), name(signal));
    }
    auto cancelled = std::make_shared<JournalEntry>(*entry);
    cancelled->status = Status::Cancelled;
    cancelled->result = ExecuteResult::Cancel;
    cancelled->reason = std::move(reason);
    cancelled->stop_time = now;
    put(std::move(cancelled), out);
    return {};
  }
  if (entry->control == Signal::Cancel && signal != Signal::Cancel) {
    return fail(ErrorCode::Conflict, "action {} is being cancelled", entry->id.to_string());
  }
  const Status wanted = signal == Signal::Suspend ? Status::Suspended : Status::Running;
  if (signal != Signal::Cancel && entry->control == Signal::None && entry->status == wanted) {
    return {};
  }
  if (entry->control != signal) {
    auto asked = std::make_shared<JournalEntry>(*entry);
    asked->control = signal;
    asked->control_reason = std::move(reason);
    put(std::move(asked), out);
  }
  // A repeated signal goes to the runner again, should the first have been lost on the way.
  if (in_slot(*entry)) {
    out.runs.push_back(SignalRun{entry->id, entry->attempt, signal});
    // A frozen run that is told to end must end in bounded time too.
    if (signal == Signal::Cancel) slot_->paused = false;
  }
  return {};
}

void AgentCore::on(Timestamp, const RunSuspended& input, AgentEffects& out) {
  if (!slot_ || slot_->id != input.id || slot_->attempt != input.attempt) return;
  const auto entry = find(input.id);
  if (entry->is_final()) return;
  auto changed = std::make_shared<JournalEntry>(*entry);
  changed->status = input.suspended ? Status::Suspended : Status::Running;
  const Signal answered = input.suspended ? Signal::Suspend : Signal::Resume;
  if (entry->control == answered) {
    changed->control = Signal::None;
    changed->control_reason.clear();
  }
  const bool pauses =
      input.suspended && entry->control != Signal::Cancel && slot_->stage == Slot::Stage::InTime;
  if (pauses && !slot_->paused) slot_->pause_left = options_.suspend_max;
  slot_->paused = pauses;
  if (*changed == *entry) return;
  if (changed->status != entry->status) {
    out.messages.push_back(SendReport{to_agent_action(*changed, changed->origin == Origin::Agent)});
  }
  put(std::move(changed), out);
}

Duration AgentCore::run_time(const JournalEntry& entry) const {
  return std::min(entry.timeout, kTimeoutMax) + options_.overrun_grace;
}

void AgentCore::count_time(Timestamp now) {
  if (!slot_) return;
  Duration& left = slot_->paused ? slot_->pause_left : slot_->left;
  left = left - std::clamp(now - slot_->counted_at, Duration{}, kCountMax);
  slot_->counted_at = now;
}

std::optional<Timestamp> AgentCore::overrun_deadline() const {
  if (!slot_) return std::nullopt;
  const Duration left = slot_->paused ? slot_->pause_left : slot_->left;
  return slot_->counted_at + std::clamp(left, Duration{}, kCountEvery);
}

void AgentCore::check_overrun(Timestamp now, AgentEffects& out) {
  if (!slot_) return;
  const auto entry = find(slot_->id);
  if (slot_->paused && slot_->pause_left <= Duration{}) {
    // It cannot fail: what is paused is neither final nor being cancelled.
    (void)apply_signal(now, entry, Signal::Cancel,
                       fmt::format("suspended for {}", format_duration(options_.suspend_max)), out);
    return;
  }
  if (slot_->paused || slot_->left > Duration{}) return;
  if (slot_->stage == Slot::Stage::CancelSent) {
    auto failed = std::make_shared<JournalEntry>(*entry);
    failed->status = Status::Failed;
    failed->result = ExecuteResult::Timeout;
    failed->reason = fmt::format(
        "did not end within its timeout of {} and could not be stopped; the agent runs nothing "
        "else until it ends",
        format_duration(entry->timeout));
    failed->control = Signal::Cancel;
    failed->stop_time = std::max(now, entry->start_time);
    out.messages.push_back(SendReport{to_agent_action(*failed, failed->origin == Origin::Agent)});
    put(std::move(failed), out);
    slot_->stage = Slot::Stage::Abandoned;
  } else if (slot_->stage == Slot::Stage::InTime) {
    slot_->stage = Slot::Stage::CancelSent;
  }
  slot_->left = options_.overrun_grace;
  out.runs.push_back(SignalRun{slot_->id, slot_->attempt, Signal::Cancel});
}

}  // namespace muster::core::agent
