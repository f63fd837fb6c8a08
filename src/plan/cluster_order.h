#pragma once

#include <cstdint>
#include <vector>

#include "plan/error_list.h"
#include "plan/model_index.h"

namespace muster::plan {

// In what order the clusters of the model are changed: deployment by deployment; in each, those
// that take part in a dependency in layers, each layer by id, then the others by id.
struct ClusterOrder {
  std::vector<std::uint32_t> sequence;  // indexes of ModelIndex::clusters()
  std::vector<std::uint32_t> position;  // of each cluster in it
  // Of each cluster those that it depends on, also by way of others; sorted.
  std::vector<std::vector<std::uint32_t>> before;

  bool depends(std::uint32_t cluster, std::uint32_t on) const;
};

// Reads `dependency_list` of the clusters. Tells of ids that are unknown, stand twice or name the
// cluster itself, of clusters that depend on one that is to be removed, and of cycles.
ClusterOrder order_clusters(const ModelIndex& index, ErrorList& errors);

}  // namespace muster::plan
