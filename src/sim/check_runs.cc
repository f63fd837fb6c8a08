#include "sim/check_runs.h"

#include <fmt/format.h>

namespace muster::sim {

Wrong CheckRuns::on_start_once(const Start& start) {
  const Key key{start.id, start.attempt};
  bool first = false;
  if (!start.on_agent) {
    first = jobs_.insert(key).second;
  } else {
    runs_[key][start.agent] = {start.inputs, start.origin, std::nullopt};
    first = of_journal_.emplace(start.agent, start.journal, start.id, start.attempt).second;
    // A lost journal excuses the host's own callers, who choose their ids, and nobody else.
    if (start.origin == core::Origin::Controller) {
      first = started_.emplace(start.agent, start.id, start.attempt).second && first;
    }
  }
  if (first) return std::nullopt;
  return fmt::format("attempt {} of action {} starts a second time on {}", start.attempt,
                     start.id.to_string(),
                     start.on_agent ? fmt::format("agent {}", start.agent) : "the controller");
}

Wrong CheckRuns::on_start_alone(const Start& start) {
  if (!start.on_agent) return std::nullopt;
  auto& live = live_[start.agent];
  const bool alone = live.empty();
  const core::ActionId other = alone ? core::ActionId() : live.begin()->first;
  live.emplace(start.id, start.attempt);
  if (alone) return std::nullopt;
  return fmt::format("action {} starts on agent {} while action {} runs there",
                     start.id.to_string(), start.agent, other.to_string());
}

void CheckRuns::on_end(std::size_t agent, const core::ActionId& id, std::uint32_t attempt,
                       core::ExecuteResult result) {
  live_[agent].erase({id, attempt});
  const auto runs = runs_.find({id, attempt});
  if (runs != runs_.end() && runs->second.contains(agent)) runs->second[agent].result = result;
}

void CheckRuns::on_journal_lost(std::size_t agent) { live_[agent].clear(); }

Wrong CheckRuns::on_change(const RecordView::Change& change) const {
  const core::ActionPtr& after = change.after;
  if (!after || after->status != core::Status::Succeeded || change.same_bytes) return std::nullopt;
  const core::ActionSpec& spec = *after->spec;
  // A repetition ends well when its time is over, whatever its last run did.
  if (spec.side != core::Side::Agent || !spec.interval.is_zero() || spec.kind == "noop") {
    return std::nullopt;
  }
  const auto runs = runs_.find({after->id(), after->attempt});
  if (runs == runs_.end()) {
    return fmt::format("action {} is SUCCEEDED, its attempt {} never started",
                       after->id().to_string(), after->attempt);
  }
  for (const auto& [agent, run] : runs->second) {
    if (run.result == core::ExecuteResult::Ok && run.inputs == spec.inputs) return std::nullopt;
  }
  return fmt::format("action {} is SUCCEEDED, but no run of its attempt {} with inputs {} was",
                     after->id().to_string(), after->attempt, spec.inputs);
}

}  // namespace muster::sim
