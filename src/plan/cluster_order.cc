#include "plan/cluster_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/nearest.h"
#include "model/quoted.h"

namespace muster::plan {
namespace {

constexpr std::string_view kDependencyList = "dependency_list";

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> ids;
  if (list.empty()) return ids;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t end = std::min(list.find(',', from), list.size());
    ids.push_back(list.substr(from, end - from));
    from = end + 1;
  }
  return ids;
}

// The clusters of one deployment.
class Deployment {
 public:
  Deployment(const ModelIndex& index, std::span<const std::uint32_t> clusters, ErrorList& errors)
      : index_(index), clusters_(clusters), errors_(errors) {
    for (const std::uint32_t cluster : clusters) by_id_[place(cluster).id()] = cluster;
    for (const std::uint32_t cluster : clusters) read(cluster);
  }

  void put_in_order(ClusterOrder& order) {
    std::map<std::uint32_t, bool> takes_part;
    for (const auto& [cluster, on] : depends_on_) {
      if (on.empty()) continue;
      takes_part[cluster] = true;
      for (const std::uint32_t other : on) takes_part[other] = true;
    }
    std::vector<std::uint32_t> open;
    for (const std::uint32_t cluster : clusters_) {
      if (takes_part.contains(cluster)) open.push_back(cluster);
    }
    std::vector<std::uint32_t> done;
    while (!open.empty()) {
      const std::size_t placed = done.size();
      std::vector<std::uint32_t> rest;
      std::vector<std::uint32_t> layer;
      for (const std::uint32_t cluster : open) {
        const auto& on = depends_on_[cluster];
        const bool ready = std::all_of(on.begin(), on.end(), [&](std::uint32_t other) {
          return std::find(done.begin(), done.end(), other) != done.end();
        });
        (ready ? layer : rest).push_back(cluster);
      }
      done.insert(done.end(), layer.begin(), layer.end());
      open = std::move(rest);
      if (done.size() == placed) {
        tell_cycle(open);
        done.insert(done.end(), open.begin(), open.end());
        break;
      }
    }
    for (const std::uint32_t cluster : done) note_before(cluster, order);
    for (const std::uint32_t cluster : clusters_) {
      if (!takes_part.contains(cluster)) done.push_back(cluster);
    }
    order.sequence.insert(order.sequence.end(), done.begin(), done.end());
  }

 private:
  const model::Node& place(std::uint32_t cluster) const {
    return *index_.clusters()[cluster].place;
  }

  void read(std::uint32_t cluster) {
    std::vector<std::uint32_t>& on = depends_on_[cluster];
    const std::string* list = place(cluster).property(kDependencyList);
    if (list == nullptr) return;
    const auto wrong = [&](const std::string& what) {
      const model::Path path = place(cluster).path();
      errors_.add(PlanErrorKind::ClusterDependency, path,
                  fmt::format("{} of cluster {} {}", kDependencyList, path.text(), what));
    };
    for (const std::string_view id : split(*list)) {
      const auto found = by_id_.find(id);
      if (found == by_id_.end()) {
        std::vector<std::string_view> known;
        for (const auto& [other, unused] : by_id_) known.push_back(other);
        wrong(fmt::format("names {}, which is no cluster of its deployment{}", model::quoted(id),
                          did_you_mean(id, known)));
      } else if (found->second == cluster) {
        wrong("names the cluster itself");
      } else if (std::find(on.begin(), on.end(), found->second) != on.end()) {
        wrong(fmt::format("names '{}' more than once", id));
      } else if (place(found->second).item().is_for_removal() &&
                 !place(cluster).item().is_for_removal()) {
        wrong(fmt::format("names '{}', which is to be removed, while the cluster stays", id));
      } else {
        on.push_back(found->second);
      }
    }
  }

  // Everything that is left depends on something that is left: a walk comes to where it was.
  void tell_cycle(const std::vector<std::uint32_t>& left) {
    std::vector<std::uint32_t> way;
    std::uint32_t at = left.front();
    while (std::find(way.begin(), way.end(), at) == way.end()) {
      way.push_back(at);
      for (const std::uint32_t other : depends_on_[at]) {
        if (std::find(left.begin(), left.end(), other) == left.end()) continue;
        at = other;
        break;
      }
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), at));
    std::vector<std::string> names;
    for (const std::uint32_t cluster : way) names.push_back(place(cluster).id());
    const model::Path path = place(at).path();
    errors_.add(PlanErrorKind::ClusterDependency, path,
                fmt::format("clusters of {} depend on each other in a circle, by their {}: {}",
                            path.parent().parent().text(), kDependencyList, model::arrows(names)));
  }

  void note_before(std::uint32_t cluster, ClusterOrder& order) {
    std::vector<std::uint32_t>& all = order.before[cluster];
    for (const std::uint32_t other : depends_on_[cluster]) {
      all.push_back(other);
      const auto& further = order.before[other];
      all.insert(all.end(), further.begin(), further.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }

  const ModelIndex& index_;
  std::span<const std::uint32_t> clusters_;
  ErrorList& errors_;
  std::map<std::string_view, std::uint32_t> by_id_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> depends_on_;
};

}  // namespace

bool ClusterOrder::depends(std::uint32_t cluster, std::uint32_t on) const {
  return std::binary_search(before[cluster].begin(), before[cluster].end(), on);
}

ClusterOrder order_clusters(const ModelIndex& index, ErrorList& errors) {
  ClusterOrder order;
  const auto& clusters = index.clusters();
  order.before.resize(clusters.size());
  std::map<const model::Node*, std::vector<std::uint32_t>> by_parent;
  std::vector<const model::Node*> parents;  // by path
  for (std::uint32_t i = 0; i < clusters.size(); ++i) {
    std::vector<std::uint32_t>& siblings = by_parent[clusters[i].place->parent()];
    if (siblings.empty()) parents.push_back(clusters[i].place->parent());
    siblings.push_back(i);
  }
  for (const model::Node* parent : parents) {
    Deployment(index, by_parent[parent], errors).put_in_order(order);
  }
  order.position.resize(clusters.size());
  for (std::uint32_t i = 0; i < order.sequence.size(); ++i) {
    order.position[order.sequence[i]] = i;
  }
  return order;
}

}  // namespace muster::plan
