#include "agent/step_release.h"

#include <utility>

namespace muster::agent {
namespace {

namespace io = core::agent;

exec::RunSpec run_spec(const core::JournalEntry& entry) {
  return {.id = entry.id,
          .attempt = entry.attempt,
          .kind = entry.kind,
          .inputs = entry.inputs,
          .timeout = entry.timeout,
          .name = entry.name,
          .requested_by = entry.requested_by};
}

}  // namespace

StepRelease::StepRelease(exec::Executor& executor, exec::ExecutorListener& listener,
                         Outlets outlets)
    : executor_(executor), listener_(listener), outlets_(std::move(outlets)) {}

void StepRelease::let_out(io::AgentEffects& effects, LinkChange link) {
  if (link != LinkChange::None) link_ready_ = link == LinkChange::Up;
  for (const auto& write : effects.writes) {
    if (const auto* drop = std::get_if<io::DropEntry>(&write)) {
      executor_.forget(drop->id, drop->attempt);
    }
  }
  if (outlets_.send && link_ready_) {
    for (const auto& message : effects.messages) outlets_.send(message);
  }
  for (const auto& run : effects.runs) let_out_run(run);
  for (auto& reply : effects.replies) outlets_.answer(reply);
}

void StepRelease::let_out_run(const io::RunCommand& run) {
  if (const auto* signal = std::get_if<io::SignalRun>(&run)) {
    executor_.signal(signal->id, signal->attempt, signal->signal);
    return;
  }
  const auto& start = std::get<io::StartRun>(run);
  const auto& entry = *start.entry;
  if (entry.is_final()) {
    // Only to learn that it has ended: nothing may start for an entry that is final.
    const bool traced = executor_.read_output(entry.id, entry.attempt, 0, 1).known;
    if (!traced) return listener_.on_ended(entry.id, entry.attempt, {});
  }
  executor_.start(run_spec(entry), start.recovered);
}

}  // namespace muster::agent
