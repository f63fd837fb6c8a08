#include <algorithm>

#include "core/agent/agent_core.h"

namespace muster::core::agent {
namespace {

// A page travels as one message; this keeps it far below what a peer accepts.
constexpr std::size_t kPageBytesMax = std::size_t{1} << 20;
// One step stays short, and so does its transaction; the deadline stays due until all are gone.
constexpr std::size_t kExpirePerStep = 256;

std::size_t size_of(const AgentAction& action) {
  return 128 + action.reason.size() + action.outputs.size() + action.name.size() +
         action.kind.size() + action.inputs.size() + action.requested_by.size();
}

}  // namespace

AgentAction to_agent_action(const JournalEntry& entry, bool spec) {
  AgentAction action;
  action.id = entry.id;
  action.attempt = entry.attempt;
  action.origin = entry.origin;
  action.status = entry.status;
  action.result = entry.result;
  action.reason = entry.reason;
  action.start_time = entry.start_time;
  action.stop_time = entry.stop_time;
  action.outputs = entry.outputs;
  if (spec) {
    action.name = entry.name;
    action.kind = entry.kind;
    action.inputs = entry.inputs;
    action.timeout = entry.timeout;
    action.requested_by = entry.requested_by;
    action.created_at = entry.created_at;
  }
  return action;
}

std::vector<JournalEntryPtr> AgentCore::queue() const {
  std::vector<JournalEntryPtr> entries;
  entries.reserve(queue_.size() + 1);
  if (slot_) {
    auto running = find(slot_->id);
    if (!running->is_final()) entries.push_back(std::move(running));
  }
  for (const auto& key : queue_) entries.push_back(find(key.second));
  return entries;
}

std::vector<JournalEntryPtr> AgentCore::finished(std::size_t limit) const {
  std::vector<JournalEntryPtr> entries;
  entries.reserve(std::min(limit, kept_.size() + expirable_.size()));
  auto kept = kept_.rbegin();
  auto expirable = expirable_.rbegin();
  while (entries.size() < limit && (kept != kept_.rend() || expirable != expirable_.rend())) {
    const bool take_kept =
        expirable == expirable_.rend() || (kept != kept_.rend() && *kept > *expirable);
    const auto& key = take_kept ? *kept++ : *expirable++;
    entries.push_back(find(std::get<ActionId>(key)));
  }
  return entries;
}

void AgentCore::on(Timestamp, const LinkUp&, AgentEffects& out) { send_view(0, out); }

void AgentCore::on(Timestamp, const LinkDown&, AgentEffects&) {}

void AgentCore::on(Timestamp, const SyncRequest& input, AgentEffects& out) {
  send_view(input.sync, out);
}

void AgentCore::send_view(std::uint64_t sync, AgentEffects& out) const {
  SendSyncPage page{.sync = sync, .actions = {}, .last = false};
  std::size_t bytes = 0;
  const auto add = [&](const JournalEntry& entry) {
    auto action = to_agent_action(entry, true);
    const std::size_t size = size_of(action);
    const bool full = page.actions.size() >= options_.sync_page_max || bytes + size > kPageBytesMax;
    if (full && !page.actions.empty()) {
      out.messages.push_back(std::exchange(page, {.sync = sync, .actions = {}, .last = false}));
      bytes = 0;
    }
    page.actions.push_back(std::move(action));
    bytes += size;
  };
  for (const auto& entry : queue()) add(*entry);
  for (const auto& key : kept_) {
    const auto entry = find(std::get<ActionId>(key));
    if (!entry->acked) add(*entry);
  }
  page.last = true;
  out.messages.push_back(std::move(page));
}

void AgentCore::on(Timestamp now, const Ack& input, AgentEffects& out) {
  const auto entry = find(input.id);
  if (!entry || entry->attempt != input.attempt || !entry->is_final() || entry->acked) return;
  auto acked = std::make_shared<JournalEntry>(*entry);
  acked->acked = true;
  put(std::move(acked), out);
  expire(now, out);
}

void AgentCore::expire(Timestamp now, AgentEffects& out) {
  for (std::size_t dropped = 0; dropped < kExpirePerStep && !expirable_.empty(); ++dropped) {
    const auto& oldest = *expirable_.begin();
    const bool too_many = expirable_.size() > options_.keep_finished;
    const bool too_old = now - std::get<Timestamp>(oldest) >= options_.keep_finished_for;
    if (!too_many && !too_old) break;
    drop(find(std::get<ActionId>(oldest)), out);
  }
}

std::optional<Timestamp> AgentCore::expiry_deadline() const {
  if (expirable_.empty()) return std::nullopt;
  const Timestamp oldest = std::get<Timestamp>(*expirable_.begin());
  if (expirable_.size() > options_.keep_finished) return oldest;
  return oldest + options_.keep_finished_for;
}

}  // namespace muster::core::agent
