#include "plan/order_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/quoted.h"
#include "plan/task_id.h"

namespace muster::plan {

std::string sibling_reason(const model::Path& later, const model::Path& earlier, bool is_reversed) {
  const auto mine = later.segments();
  const auto theirs = earlier.segments();
  const auto [at, other] = std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end());
  if (at == mine.end() || other == theirs.end()) return "of the order of their items";
  model::Path owner;
  for (auto segment = mine.begin(); segment != at; ++segment) owner = owner.child(*segment);
  if (is_reversed) {
    return fmt::format("'{}' of {} requires '{}', and what is removed goes in the opposite order",
                       *other, owner.text(), *at);
  }
  return fmt::format("'{}' of {} requires '{}'", *at, owner.text(), *other);
}

model::Path ordered_item(const Task& task, bool as_in_node) {
  if (!as_in_node) return task.item;
  const model::Path& node = std::get<ConfigWork>(task.work).node;
  const auto mine = task.item.segments();
  const auto theirs = node.segments();
  const auto at = std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end()).first;
  return at == mine.end() ? task.item : node.child(*at);
}

void tell_cycle(Draft& draft, const Slots& slots, const Scope& scope,
                const std::vector<CycleStep>& cycle) {
  const auto index_of = [&](const CycleStep& step) {
    return slots.tasks[scope.first + step.vertex];
  };
  std::vector<std::string> names;
  std::string reasons;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const std::uint32_t index = index_of(cycle[i]);
    const std::uint32_t next_index = index_of(cycle[(i + 1) % cycle.size()]);
    const Task& task = draft.task(index);
    const Task& next = draft.task(next_index);
    names.push_back(task_id(task));
    reasons += fmt::format("; {} ", describe(task));
    switch (cycle[i].kind) {
      case OrderKind::RequiresTask:
        reasons += fmt::format("requires task {}", task_id(next));
        break;
      case OrderKind::RequiresItem:
        reasons += fmt::format("requires an item that {} is for", task_id(next));
        break;
      case OrderKind::RequiresCall: {
        const Call& call = std::get<ConfigWork>(next.work).call;
        reasons += fmt::format("requires {} '{}' of its node", call.type, call.id);
        break;
      }
      case OrderKind::Sibling:
      case OrderKind::Member:
        reasons +=
            fmt::format("comes after {}, because {}", task_id(next),
                        sibling_reason(ordered_item(task, draft.facts[index].as_in_node),
                                       ordered_item(next, draft.facts[next_index].as_in_node),
                                       draft.facts[index].is_reversed));
        break;
    }
  }
  draft.errors.add(PlanErrorKind::Cycle, draft.task(index_of(cycle.front())),
                   fmt::format("waits for itself: {}{}", model::arrows(names), reasons));
}

}  // namespace muster::plan
