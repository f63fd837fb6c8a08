#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"
#include "model/tree.h"
#include "pack/loader.h"
#include "plan/planner.h"

namespace muster::bench {

// A site as large as asked for, over the types and groups of the shipped core pack: clusters of up
// to 1000 nodes, two of three dependent on the one before, every fourth with an HA manager and
// nodes that are locked; on each node callbacks and config tasks, of which some require a task, an
// item or a call of the same node, and all of which stand in elements that require each other.
class PlanSite {
 public:
  static Result<PlanSite> make(std::size_t nodes);

  const model::Tree& model() const { return *tree_; }
  const pack::LoadedPacks& packs() const { return packs_; }

  // `per_node` for each node, and one for each cluster.
  std::vector<plan::Task> tasks(std::size_t per_node) const;
  std::vector<plan::LockPair> lock(const std::vector<model::Path>& nodes) const;

 private:
  explicit PlanSite(pack::LoadedPacks packs);

  void add_nodes(std::size_t count);
  const model::Node& add_cluster(std::size_t number);
  void add_node(const model::Node& nodes, std::size_t number);
  model::ItemPtr item(std::string_view type, std::initializer_list<model::Properties::Entry> own);
  model::ItemPtr collection(const model::Element& element);
  void add_elements(const model::Node& place);

  pack::LoadedPacks packs_;
  std::unique_ptr<model::Tree> tree_;
  std::vector<model::Path> clusters_;
  std::vector<model::Path> nodes_;
};

}  // namespace muster::bench
