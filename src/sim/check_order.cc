#include "sim/check_order.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::sim {

Wrong check_order(const RecordView& records, const core::ActionId& id, std::uint32_t attempt) {
  const core::ActionPtr action = records.find(id);
  if (!action) return std::nullopt;
  const bool is_given_up = action->attempt > attempt;
  for (const core::ActionId& dependency : action->spec->depends_on) {
    const core::ActionPtr before = records.find(dependency);
    if (is_given_up || (before && before->status == core::Status::Succeeded)) continue;
    return fmt::format("action {} starts, but action {}, which it depends on, is {}",
                       id.to_string(), dependency.to_string(),
                       before ? core::name(before->status) : "not stored");
  }
  if (action->status == core::Status::Init || action->status == core::Status::PendingApprove) {
    return fmt::format("action {} starts and is still {}", id.to_string(),
                       core::name(action->status));
  }
  if (!action->spec->approval) return std::nullopt;
  const auto approvals =
      std::count_if(action->decisions.begin(), action->decisions.end(),
                    [](const core::ApprovalDecision& decision) { return decision.approved; });
  if (static_cast<std::uint32_t>(approvals) >= action->spec->approval->count) return std::nullopt;
  return fmt::format("action {} starts with {} of {} approvals", id.to_string(), approvals,
                     action->spec->approval->count);
}

}  // namespace muster::sim
