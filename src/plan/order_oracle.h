#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/random_site.h"

// What must come before what in a plan, worked out a second time: pair by pair and by paths alone.
// Slow, and with nothing in common with the planner but the schema. It knows the groups of the test
// world.

namespace muster::plan::testing {

// The node or management server above an item, and the cluster; empty: there is none.
std::string node_above(const model::Path& item);
std::string cluster_above(const model::Path& item);
// The node that a task is sorted by; empty: of none, or of several.
std::string node_of(const Task& task);
// MS, NODE and so on.
std::string group_of(const Task& task);
// The cluster that it is sorted by; empty: its group is not done by cluster.
std::string cluster_of(const Task& task);

class OrderOracle {
 public:
  using Relation = std::vector<std::vector<bool>>;

  OrderOracle(const Site& site, const Plan& plan);

  // a waits for b, directly.
  bool waits(std::size_t a, std::size_t b) const { return waits_[a][b]; }
  // a waits for b, directly or by way of tasks that `leads_on`.
  Relation waits_by_way_of(const std::function<bool(std::size_t)>& leads_on) const;

  bool may_share(std::size_t a, std::size_t b) const;
  bool is_removal(std::size_t task) const;
  // What a task is sorted with: group, cluster, locked node.
  const std::string& scope(std::size_t task) const { return scopes_[task]; }

  // The least ranks that keep to everything, of tasks in phases. Tasks that were left out have none
  // and pass on what binds them.
  std::vector<int> ranks() const;

 private:
  bool is_config(std::size_t task) const;
  bool is_reversed(std::size_t task) const;
  bool is_together(std::size_t a, std::size_t b) const;
  bool says(std::size_t a, std::size_t b) const;
  bool comes_after_sibling(std::size_t a, std::size_t b) const;
  model::Path ordered_by(const Task& task) const;
  static void close(Relation& relation, const std::function<bool(std::size_t)>& leads_on);

  const Site& site_;
  const Plan& plan_;
  std::vector<std::string> scopes_;
  Relation waits_;
};

}  // namespace muster::plan::testing
