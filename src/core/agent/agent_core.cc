#include "core/agent/agent_core.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace muster::core::agent {
namespace {

constexpr Duration kStartWithinMax = Duration::days(36'500);

// Who asked for the cancellation is known here only; how the process went is known to the runner.
std::string end_reason(const JournalEntry& entry, Status status, const std::string& reason) {
  if (status != Status::Cancelled || entry.control_reason.empty()) return reason;
  if (reason.empty()) return entry.control_reason;
  return fmt::format("{}; {}", entry.control_reason, reason);
}

}  // namespace

AgentCore::AgentCore(AgentCoreOptions options) : options_(std::move(options)) {}

void AgentCore::restore(JournalEntryPtr entry) {
  MUSTER_CHECK(entry->is_final() || is_on_agent(entry->status), "entry {} has status {}",
               entry->id.to_string(), name(entry->status));
  next_seq_ = std::max(next_seq_, entry->seq + 1);
  index(entry);
  const bool fresh = entries_.emplace(entry->id, entry).second;
  MUSTER_CHECK(fresh, "entry {} was restored twice", entry->id.to_string());
}

AgentEffects AgentCore::recover(Timestamp now) {
  AgentEffects out;
  if (const auto entry = entry_to_attach()) {
    attach(now, entry, out);
  } else {
    start_next(now, out);
  }
  return out;
}

AgentEffects AgentCore::step(Timestamp now, const AgentInput& input) {
  AgentEffects out;
  count_time(now);
  std::visit([&](const auto& one) { on(now, one, out); }, input);
  return out;
}

std::optional<Timestamp> AgentCore::next_deadline() const {
  const auto overrun = overrun_deadline();
  const auto expiry = expiry_deadline();
  if (!overrun || !expiry) return overrun ? overrun : expiry;
  return std::min(*overrun, *expiry);
}

JournalEntryPtr AgentCore::find(const ActionId& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second;
}

void AgentCore::on(Timestamp now, const Schedule& input, AgentEffects& out) {
  if (const auto known = find(input.id)) {
    // A newer attempt of an entry that has not ended breaks the protocol. One whose earlier run may
    // still be alive has to wait; the controller sends it again with its next sync.
    const bool again = planted(options_.bug, Bug::FinishedStartsAgain) && known->is_final() &&
                       input.attempt == known->attempt;
    const bool newer = input.attempt > known->attempt || again;
    if (!newer || !known->is_final() || in_slot(*known)) {
      out.messages.push_back(SendReport{to_agent_action(*known, known->origin == Origin::Agent)});
      return;
    }
    drop(known, out);
  }
  auto entry = make_entry(now, input, Origin::Controller);
  if (const auto admission = check_admission(input.kind); !admission) {
    refuse(now, entry, admission.error(), out);
    return;
  }
  admit(now, std::move(entry), out);
}

void AgentCore::on(Timestamp now, const LocalSchedule& input, AgentEffects& out) {
  const auto reply_error = [&](Error error) {
    out.replies.push_back(LocalReply{input.request, std::move(error)});
  };
  if (const auto known = find(input.action.id)) {
    return reply_error(
        Error{ErrorCode::DuplicateId, fmt::format("action {} already exists, its status is {}",
                                                  known->id.to_string(), name(known->status))});
  }
  if (const auto admission = check_admission(input.action.kind); !admission) {
    return reply_error(admission.error());
  }
  auto entry = make_entry(now, input.action, Origin::Agent);
  const ActionId id = entry->id;
  admit(now, std::move(entry), out);
  out.replies.push_back(LocalReply{input.request, find(id)});
}

Result<void> AgentCore::check_admission(const std::string& kind) const {
  if (std::find(options_.kinds.begin(), options_.kinds.end(), kind) == options_.kinds.end()) {
    return fail(ErrorCode::UnknownKind, "unknown kind \"{}\", this agent knows {}", kind,
                fmt::join(options_.kinds, ", "));
  }
  if (unfinished_count() >= options_.queue_max) {
    return fail(ErrorCode::Overloaded, "queue is full ({})", options_.queue_max);
  }
  return {};
}

JournalEntryPtr AgentCore::make_entry(Timestamp now, const Schedule& action, Origin origin) {
  auto entry = std::make_shared<JournalEntry>();
  entry->id = action.id;
  entry->attempt = origin == Origin::Agent ? 1 : action.attempt;
  entry->seq = next_seq_++;
  entry->origin = origin;
  entry->name = action.name;
  entry->kind = action.kind;
  entry->inputs = action.inputs;
  entry->timeout = action.timeout.us > 0 ? action.timeout : options_.default_timeout;
  entry->requested_by = action.requested_by;
  entry->created_at = action.created_at.is_set() ? action.created_at : now;
  if (action.start_within.us > 0) {
    entry->start_before = now + std::min(action.start_within, kStartWithinMax);
  }
  return entry;
}

void AgentCore::admit(Timestamp now, JournalEntryPtr entry, AgentEffects& out) {
  if (planted(options_.bug, Bug::TwoActionsAtOnce) && slot_) {
    start(now, entry, out);
    return;
  }
  if (!slot_) {
    MUSTER_CHECK(queue_.empty(), "{} entries wait while nothing runs", queue_.size());
    start(now, entry, out);
    return;
  }
  out.messages.push_back(SendReport{to_agent_action(*entry, entry->origin == Origin::Agent)});
  put(std::move(entry), out);
}

// Nothing ran. A full queue is worth another try, an unknown kind is not.
void AgentCore::refuse(Timestamp now, const JournalEntryPtr& entry, const Error& why,
                       AgentEffects& out) {
  auto refused = std::make_shared<JournalEntry>(*entry);
  refused->status = Status::Failed;
  refused->result = why.code == ErrorCode::Overloaded ? ExecuteResult::Retry : ExecuteResult::Error;
  refused->reason = why.message;
  refused->stop_time = now;
  out.messages.push_back(SendReport{to_agent_action(*refused, false)});
  put(std::move(refused), out);
}

void AgentCore::start(Timestamp now, const JournalEntryPtr& entry, AgentEffects& out) {
  auto running = std::make_shared<JournalEntry>(*entry);
  running->status = Status::Running;
  running->start_time = now;
  unindex(entry);
  slot_ = Slot{.id = entry->id,
               .attempt = entry->attempt,
               .stage = Slot::Stage::InTime,
               .left = run_time(*entry),
               .counted_at = now,
               .paused = false,
               .pause_left = {}};
  out.runs.push_back(StartRun{running, false});
  out.messages.push_back(SendReport{to_agent_action(*running, running->origin == Origin::Agent)});
  put(std::move(running), out);
}

// It waited for longer than the controller did, which has given it up.
void AgentCore::end_late(Timestamp now, const JournalEntryPtr& entry, AgentEffects& out) {
  auto late = std::make_shared<JournalEntry>(*entry);
  late->status = Status::Failed;
  late->result = ExecuteResult::Timeout;
  late->reason = "not started in time: the agent was down, or busy with others";
  late->stop_time = now;
  out.messages.push_back(SendReport{to_agent_action(*late, late->origin == Origin::Agent)});
  put(std::move(late), out);
}

void AgentCore::start_next(Timestamp now, AgentEffects& out) {
  while (!slot_ && !queue_.empty()) {
    const auto first = find(queue_.begin()->second);
    const bool is_late =
        first->status == Status::New && first->start_before.is_set() && now >= first->start_before;
    if (!is_late) break;
    end_late(now, first, out);
  }
  if (slot_ || queue_.empty()) return;
  const auto entry = find(queue_.begin()->second);
  if (entry->status == Status::New) {
    start(now, entry, out);
  } else {
    attach(now, entry, out);
  }
}

// Takes the slot for a run that was started, or was about to be, in an earlier life of the agent.
void AgentCore::attach(Timestamp now, const JournalEntryPtr& entry, AgentEffects& out) {
  unindex(entry);
  const bool abandoned = entry->is_final();
  const bool frozen = entry->status == Status::Suspended && entry->control != Signal::Cancel;
  slot_ = Slot{.id = entry->id,
               .attempt = entry->attempt,
               .stage = abandoned ? Slot::Stage::Abandoned : Slot::Stage::InTime,
               .left = abandoned ? options_.overrun_grace : run_time(*entry),
               .counted_at = now,
               .paused = frozen,
               .pause_left = options_.suspend_max};
  index(entry);
  const bool forgot = planted(options_.bug, Bug::DoubleStartAfterRestart) && !abandoned;
  out.runs.push_back(StartRun{entry, !forgot});
  if (entry->control != Signal::None) {
    out.runs.push_back(SignalRun{entry->id, entry->attempt, entry->control});
  }
}

JournalEntryPtr AgentCore::entry_to_attach() const {
  // An abandoned run first: it is older than whatever waits behind it.
  for (const auto* finished : {&kept_, &expirable_}) {
    for (const auto& key : *finished) {
      auto entry = find(std::get<ActionId>(key));
      if (entry->control != Signal::None) return entry;
    }
  }
  for (const auto& key : queue_) {
    auto entry = find(key.second);
    if (entry->status != Status::New) return entry;
  }
  return nullptr;
}

void AgentCore::on(Timestamp now, const RunEnded& input, AgentEffects& out) {
  if (!slot_ || slot_->id != input.id || slot_->attempt != input.attempt) return;
  const auto entry = find(input.id);
  auto ended = std::make_shared<JournalEntry>(*entry);
  ended->control = Signal::None;
  const bool overran = slot_->stage != Slot::Stage::InTime;
  unindex(entry);
  slot_.reset();
  if (!entry->is_final()) {
    // The core's own cancellation of an overrun is a timeout; somebody's CANCEL stays one.
    const bool timed_out =
        overran && input.result == ExecuteResult::Cancel && entry->control != Signal::Cancel;
    ended->result = timed_out ? ExecuteResult::Timeout : input.result;
    ended->status = final_status(ended->result);
    ended->reason = timed_out ? fmt::format("cancelled {} after its timeout of {}",
                                            format_duration(options_.overrun_grace),
                                            format_duration(entry->timeout))
                              : end_reason(*entry, ended->status, input.reason);
    ended->outputs = input.outputs;
    ended->stop_time = std::max(now, entry->start_time);
    out.messages.push_back(SendReport{to_agent_action(*ended, ended->origin == Origin::Agent)});
  }
  put(std::move(ended), out);
  start_next(now, out);
}

void AgentCore::on(Timestamp now, const AgentTick&, AgentEffects& out) {
  check_overrun(now, out);
  expire(now, out);
}

void AgentCore::put(JournalEntryPtr entry, AgentEffects& out) {
  auto& stored = entries_[entry->id];
  if (stored) unindex(stored);
  stored = entry;
  index(entry);
  out.writes.push_back(PutEntry{std::move(entry)});
}

void AgentCore::drop(const JournalEntryPtr& entry, AgentEffects& out) {
  unindex(entry);
  out.writes.push_back(DropEntry{entry->id, entry->attempt});
  entries_.erase(entry->id);
}

void AgentCore::index(const JournalEntryPtr& entry) {
  if (entry->is_final()) {
    const bool may_expire = entry->acked && !in_slot(*entry);
    (may_expire ? expirable_ : kept_).emplace(entry->stop_time, entry->seq, entry->id);
  } else if (!in_slot(*entry)) {
    queue_.emplace(entry->seq, entry->id);
  }
}

void AgentCore::unindex(const JournalEntryPtr& entry) {
  queue_.erase({entry->seq, entry->id});
  kept_.erase({entry->stop_time, entry->seq, entry->id});
  expirable_.erase({entry->stop_time, entry->seq, entry->id});
}

bool AgentCore::in_slot(const JournalEntry& entry) const {
  return slot_ && slot_->id == entry.id && slot_->attempt == entry.attempt;
}

std::size_t AgentCore::unfinished_count() const {
  const bool runs = slot_ && slot_->stage != Slot::Stage::Abandoned;
  return queue_.size() + (runs ? 1 : 0);
}

}  // namespace muster::core::agent
