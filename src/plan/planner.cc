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

namespace {

// As much of a task as says where it is done.
Task place_of(const Task& task) {
  Task place;
  place.item = task.item;
  place.tag = task.tag;
  if (const auto* config = std::get_if<ConfigWork>(&task.work)) {
    place.work = ConfigWork{.node = config->node,
                            .call = config->call,
                            .attributes = {},
                            .replaces = {},
                            .persist = config->persist};
  } else if (const auto* remote = std::get_if<RemoteWork>(&task.work)) {
    place.work = RemoteWork{.nodes = remote->nodes, .action = {}, .inputs = {}};
  } else {
    place.work = CallbackWork{.method = {}, .arguments = {}};
  }
  return place;
}

}  // namespace

std::vector<model::Path> nodes_to_lock(const PlanRequest& request, const std::vector<Task>& tasks) {
  std::vector<model::Path> paths;
  if (!request.locks.lock) return paths;
  std::vector<Task> places;
  places.reserve(tasks.size());
  for (const Task& task : tasks) places.push_back(place_of(task));
  Draft draft(request, std::move(places));
  resolve_tasks(draft);
  add_removal_tasks(draft);
  assign_groups(draft);
  for (const std::uint32_t node : lockable_nodes(draft)) {
    paths.push_back(draft.index.nodes()[node].place->path());
  }
  return paths;
}

PlanOutcome make_plan(const PlanRequest& request, std::vector<Task> tasks,
                      std::vector<LockPair> pairs) {
  Draft draft(request, std::move(tasks));
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
