#include "sim/check_acknowledged.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::sim {

Wrong CheckAcknowledged::on_submitted(const std::string& key,
                                      const std::vector<core::ActionId>& ids) {
  acknowledged_.insert(ids.begin(), ids.end());
  return key.empty() ? std::nullopt : on_key(key, ids);
}

Wrong CheckAcknowledged::on_key(const std::string& key, const std::vector<core::ActionId>& ids) {
  const auto [known, first] = by_key_.emplace(key, ids);
  if (first || known->second == ids) return std::nullopt;
  return fmt::format("the request with key '{}' made action {}, and now makes {}", key,
                     known->second.front().to_string(), ids.front().to_string());
}

void CheckAcknowledged::on_cancelled(const core::ActionId& id, std::uint32_t attempt) {
  cancelled_.emplace(id, attempt);
}

void CheckAcknowledged::on_local(std::size_t agent, const core::ActionId& id) {
  local_.emplace(agent, id);
}

void CheckAcknowledged::on_journal_lost(std::size_t agent) {
  std::erase_if(local_, [agent](const auto& each) { return each.first == agent; });
}

Wrong CheckAcknowledged::on_change(const RecordView::Change& change) const {
  if (change.after || !acknowledged_.contains(change.before->id())) return std::nullopt;
  return fmt::format("action {} was acknowledged and is deleted", change.before->id().to_string());
}

Wrong CheckAcknowledged::on_start(const core::ActionId& id, std::uint32_t attempt) const {
  const auto cancelled = cancelled_.find(id);
  if (cancelled == cancelled_.end() || attempt <= cancelled->second) return std::nullopt;
  return fmt::format("CANCEL of action {} was acknowledged at attempt {}, and attempt {} starts",
                     id.to_string(), cancelled->second, attempt);
}

Wrong CheckAcknowledged::at_end(const RecordView& records,
                                const std::set<std::size_t>& gone) const {
  for (const auto& id : acknowledged_) {
    if (!records.find(id)) {
      return fmt::format("action {} was acknowledged and is not in the store", id.to_string());
    }
  }
  for (const auto& [agent, id] : local_) {
    if (gone.contains(agent) || records.find(id)) continue;
    return fmt::format("action {} was acknowledged by agent {} and never reached the controller",
                       id.to_string(), agent);
  }
  return std::nullopt;
}

}  // namespace muster::sim
