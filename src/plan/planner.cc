#include "plan/planner.h"

#include "plan/assembly.h"
#include "plan/draft.h"
#include "plan/grouping.h"
#include "plan/locking.h"
#include "plan/phase_builder.h"
#include "plan/remembered.h"
#include "plan/removal.h"
#include "plan/resolve.h"
#include "plan/scopes.h"

namespace muster::plan {

std::vector<model::Path> nodes_to_lock(const PlanRequest& request, const std::vector<Task>& tasks) {
  std::vector<model::Path> paths;
  if (!request.locks.lock) return paths;
  Draft draft(request, TaskList(tasks));
  resolve_places(draft);
  add_removal_tasks(draft);
  assign_groups(draft);
  for (const std::uint32_t node : lockable_nodes(draft)) {
    paths.push_back(draft.index.nodes()[node].place->path());
  }
  return paths;
}

PlanOutcome make_plan(const PlanRequest& request, std::vector<Task> tasks,
                      std::vector<LockPair> pairs) {
  // For each pair the lock, the unlock, and the release of a node that was left locked.
  Draft draft(request, TaskList(std::move(tasks), 3 * pairs.size()));
  resolve_tasks(draft);
  add_removal_tasks(draft);
  assign_groups(draft);
  const Locks locks = arrange_locks(draft, std::move(pairs));
  take_remembered(draft);
  const Slots slots = make_slots(draft, locks);
  DraftPhases phases = build_phases(draft, locks, slots);
  if (!draft.errors.empty()) return std::move(draft.errors).take();
  return assemble(draft, slots, std::move(phases));
}

}  // namespace muster::plan
