#include "sim/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/check_fence.h"
#include "sim/check_final.h"
#include "sim/check_order.h"
#include "sim/check_settled.h"
#include "store/record_codec.h"

namespace muster::sim {

std::string agent_name(std::size_t agent) { return fmt::format("a{}", agent + 1); }

void Checks::expect(int promise, Wrong wrong) {
  if (wrong && !violation_) violation_ = Violation{promise, std::move(*wrong)};
}

std::size_t Checks::agent_called(const std::string& name) const {
  for (std::size_t i = 0; i < journals_.size(); ++i) {
    if (agent_name(i) == name) return i;
  }
  return journals_.size();
}

void Checks::on_batch(const store::Batch& batch, store::Term highest) {
  expect(8, check_fence(batch, highest));
  std::uint64_t expected = records_.last_event() + 1;
  for (const store::EventRow& event : batch.events) {
    if (event.seq > expected) {
      expect(1, fmt::format("event {} is stored after event {}", event.seq, expected - 1));
    }
    expected = std::max(expected, event.seq + 1);
  }
  for (const store::RecordWrite& write : batch.records) {
    if (write.space != store::Space::Idempotency || !write.value) continue;
    const auto answer = store::decode_idempotency(*write.value);
    if (!answer) continue;
    if (answer->revision == 0) {
      expect(1, acknowledged_.on_key(answer->key, answer->actions));
    } else {
      expect(1, model_.on_acknowledged(answer->key, answer->revision));
    }
  }
  expect(1, model_.on_batch(batch));
  for (const RecordView::Change& change : records_.apply(batch)) {
    expect(1, acknowledged_.on_change(change));
    expect(5, check_final(change));
    expect(5, runs_.on_change(change));
    if (!change.after) continue;
    const std::size_t agent = agent_called(change.after->spec->target);
    if (agent < journals_.size()) expect(5, check_lost(change, journals_[agent]));
  }
}

void Checks::on_reply(const core::Reply& reply) {
  expect(1, check_durable(records_, reply));
  if (const auto* edited = std::get_if<core::ModelReply>(&reply.body)) {
    expect(1, model_.on_reply(edited->revision));
  }
}

void Checks::on_edited(const std::string& key, const core::ModelReply& reply) {
  if (!reply.dry_run) expect(1, model_.on_acknowledged(key, reply.revision));
}
void Checks::on_send(const std::string& agent, const core::AgentSend& send) {
  expect(1, check_durable(records_, agent, send));
}
void Checks::on_event(const core::Event& event) { expect(1, check_durable(records_, event)); }

void Checks::on_job(const core::StartJob& job) {
  expect(2, check_durable(records_, job));
  on_start({.on_agent = false,
            .agent = 0,
            .journal = 0,
            .origin = job.action->spec->origin,
            .id = job.action->id(),
            .attempt = job.action->attempt,
            .inputs = job.action->spec->inputs});
}

void Checks::on_submitted(const std::string& key, const std::vector<core::ActionId>& ids) {
  expect(1, acknowledged_.on_submitted(key, ids));
}

void Checks::on_cancelled(const core::Action& told) {
  acknowledged_.on_cancelled(told.id(), told.attempt);
}

void Checks::on_journal(std::size_t agent, const store::Batch& batch) {
  journals_[agent].apply(batch);
}

void Checks::on_journal_lost(std::size_t agent) {
  journals_[agent].lose();
  acknowledged_.on_journal_lost(agent);
  runs_.on_journal_lost(agent);
}

void Checks::on_message(std::size_t agent, const core::agent::AgentMessage& message) {
  expect(1, check_durable(journals_[agent], message));
}

void Checks::on_local_reply(std::size_t agent, const core::agent::LocalReply& reply) {
  expect(1, check_durable(journals_[agent], reply));
}

void Checks::on_local_acknowledged(std::size_t agent, const core::ActionId& id) {
  acknowledged_.on_local(agent, id);
}

Start Checks::start_of(std::size_t agent, const exec::RunSpec& spec) const {
  const auto entry = journals_[agent].find(spec.id);
  return {.on_agent = true,
          .agent = agent,
          .journal = journals_[agent].epoch(),
          .origin = entry ? entry->origin : core::Origin::Controller,
          .id = spec.id,
          .attempt = spec.attempt,
          .inputs = spec.inputs};
}

void Checks::on_run_start(std::size_t agent, const exec::RunSpec& spec) {
  expect(2, check_durable_start(journals_[agent], spec.id, spec.attempt));
  on_start(start_of(agent, spec));
}

void Checks::on_run_repeated(std::size_t agent, const exec::RunSpec& spec) {
  expect(2, runs_.on_start_once(start_of(agent, spec)));
}

void Checks::on_start(const Start& start) {
  expect(2, runs_.on_start_once(start));
  expect(3, runs_.on_start_alone(start));
  // What an agent's own callers asked for has no dependencies, even where the controller uses the
  // same id.
  if (start.origin == core::Origin::Agent) return;
  expect(4, check_order(records_, start.id, start.attempt));
  expect(1, acknowledged_.on_start(start.id, start.attempt));
}

void Checks::on_run_end(std::size_t agent, const core::ActionId& id, std::uint32_t attempt,
                        core::ExecuteResult result) {
  runs_.on_end(agent, id, attempt, result);
}

std::vector<std::string> Checks::unsettled(const std::set<std::size_t>& gone) const {
  return sim::unsettled(records_, journals_, gone);
}

void Checks::never_settled(const std::vector<std::string>& left, Duration waited) {
  expect(6, fmt::format("{} after the faults healed, not everything has ended: {}",
                        format_duration(waited), fmt::join(left, "; ")));
}

void Checks::at_end(const std::set<std::size_t>& gone) {
  expect(1, acknowledged_.at_end(records_, gone));
  expect(1, model_.at_end());
}

}  // namespace muster::sim
