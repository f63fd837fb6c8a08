#pragma once

#include <string>
#include <vector>

#include "model/tree.h"
#include "plan/planner.h"

// Random models and tasks of the test world, for properties of plans. To be called inside of a
// RapidCheck property: what they draw shrinks with it.

namespace muster::plan::testing {

struct Site {
  model::SchemaPtr schema;
  Ruleset ruleset;
  model::Tree tree;
  std::vector<model::Path> nodes;
  std::vector<model::Path> items;  // that tasks may be for
  std::vector<RememberedTask> remembered;
  LockPolicy locks;

  PlanRequest request() const { return {tree, *schema, ruleset, locks, {}, remembered}; }
};

bool coin(int one_in);
std::size_t pick(std::size_t size);

// Up to two deployments with a few clusters each; some depend on each other, some lock their nodes.
// Some items are for removal, some nodes were left locked.
Site any_site();

// Tasks of all kinds and most groups. Most of what they require can be kept.
std::vector<Task> any_tasks(const Site& site);

// A plugin has lock tasks for every node that it is asked for.
PlanOutcome plan_of(const Site& site, const std::vector<Task>& tasks);

// The site and the tasks in words, for whoever looks into a property that does not hold.
std::string describe(const Site& site, const std::vector<Task>& tasks);

}  // namespace muster::plan::testing
