#include "plan/model_index.h"

#include <algorithm>
#include <functional>

#include "base/check.h"

namespace muster::plan {
namespace {

constexpr std::string_view kNodeType = "node";
constexpr std::string_view kMsType = "ms";
constexpr std::string_view kClusterType = "cluster-base";

std::size_t hash_of(std::string_view path) { return std::hash<std::string_view>()(path); }

}  // namespace

ModelIndex::ModelIndex(const model::Tree& tree, const model::Schema& schema,
                       const Ruleset& ruleset) {
  for (const std::string_view type : {kNodeType, kMsType, kClusterType}) name_type(schema, type);
  node_bit_ = bit_of(kNodeType);
  ms_bit_ = bit_of(kMsType);
  cluster_bit_ = bit_of(kClusterType);
  const auto name_types = [&](const Condition& condition) {
    name_type(schema, condition.item_below);
    name_type(schema, condition.item_not_below);
  };
  for (const Group& group : ruleset.groups) {
    for (const Condition& condition : group.criteria) name_types(condition);
    for (const Constraint& constraint : group.constraints) name_types(constraint.must);
  }
  walk(tree.root(), kNone);
  item_of_node_.assign(nodes_.size(), kNone);
  add(kNone, tree.root(), hash_of("/"));
}

void ModelIndex::name_type(const model::Schema& schema, std::string_view type) {
  if (type.empty() || bits_.contains(type)) return;
  const model::ItemType* known = schema.find_item_type(type);
  if (known == nullptr) {
    bits_[type] = 0;
    return;
  }
  MUSTER_CHECK(named_types_.size() < 64, "a ruleset names more item types than it may");
  bits_[type] = std::uint64_t{1} << named_types_.size();
  named_types_.push_back(known);
}

std::uint64_t ModelIndex::bit_of(std::string_view type) const {
  const auto found = bits_.find(type);
  return found == bits_.end() ? 0 : found->second;
}

const TypeFacts& ModelIndex::facts_of(const model::ItemType& type) {
  std::unique_ptr<TypeFacts>& facts = types_[&type];
  if (facts) return *facts;
  facts = std::make_unique<TypeFacts>();
  for (std::size_t bit = 0; bit < named_types_.size(); ++bit) {
    if (type.is_a(*named_types_[bit])) facts->bits |= std::uint64_t{1} << bit;
  }
  facts->elements.resize(type.elements.size());
  for (std::size_t i = 0; i < type.elements.size(); ++i) {
    for (const std::string& required : type.elements[i].definition.require) {
      const model::Element* before = type.find_element(required);
      if (before == nullptr) continue;
      const auto index = static_cast<std::size_t>(before - type.elements.data());
      facts->elements[i].before.push_back(static_cast<std::uint16_t>(index));
      facts->elements[index].behind.push_back(static_cast<std::uint16_t>(i));
    }
  }
  return *facts;
}

void ModelIndex::walk(const model::Node& place, std::uint32_t cluster) {
  const model::Item& item = place.item();
  if (item.is_for_removal()) for_removal_.push_back(&place);
  if (!item.is_collection()) {
    const std::uint64_t bits = facts_of(*item.type).bits;
    if ((bits & cluster_bit_) != 0) {
      cluster = static_cast<std::uint32_t>(clusters_.size());
      cluster_of_place_.emplace(&place, cluster);
      clusters_.push_back({&place, {}});
    }
    const bool is_ms = (bits & ms_bit_) != 0;
    if (is_ms || (bits & node_bit_) != 0) {
      const auto node = static_cast<std::uint32_t>(nodes_.size());
      node_of_place_.emplace(&place, node);
      nodes_.push_back({&place, is_ms ? kNone : cluster, is_ms});
      if (!is_ms && cluster != kNone) clusters_[cluster].nodes.push_back(node);
    }
  }
  for (const auto& child : place.children()) walk(*child, cluster);
}

std::uint32_t ModelIndex::find(const model::Path& path) {
  return find(std::string_view(path.text()));
}

std::uint32_t ModelIndex::find(std::string_view path) {
  const std::size_t hash = hash_of(path);
  if (const std::uint32_t known = find_known(path, hash); known != kNone) return known;
  if (path.size() == 1) return kNone;
  const std::size_t slash = path.rfind('/');
  const std::uint32_t parent = find(path.substr(0, std::max<std::size_t>(slash, 1)));
  if (parent == kNone) return kNone;
  const model::Node* place = items_[parent].place->find_child(path.substr(slash + 1));
  return place == nullptr ? kNone : add(parent, *place, hash);
}

std::uint32_t ModelIndex::find_known(std::string_view path, std::size_t hash) const {
  return by_path_.find(hash, [&](std::uint32_t item) { return has_path(item, path); });
}

std::uint32_t ModelIndex::child(std::uint32_t item, std::string_view id) {
  return find(items_[item].place->path().child(id));
}

bool ModelIndex::has_path(std::uint32_t item, std::string_view path) const {
  for (; items_[item].parent != kNone; item = items_[item].parent) {
    const std::string& id = items_[item].place->id();
    if (path.size() <= id.size() || !path.ends_with(id)) return false;
    path.remove_suffix(id.size());
    if (path.back() != '/') return false;
    path.remove_suffix(1);
  }
  return path.empty() || path == "/";
}

std::uint32_t ModelIndex::add(std::uint32_t parent, const model::Node& place, std::size_t hash) {
  ItemFacts facts;
  facts.place = &place;
  facts.parent = parent;
  const model::Item& item = place.item();
  if (!item.is_collection()) {
    facts.type = &facts_of(*item.type);
    facts.bits = facts.type->bits;
    const bool is_node = (facts.bits & (node_bit_ | ms_bit_)) != 0;
    if (is_node) facts.node = node_of_place_.at(&place);
    if ((facts.bits & cluster_bit_) != 0) facts.cluster = cluster_of_place_.at(&place);
  }
  if (parent != kNone) {
    const ItemFacts& above = items_[parent];
    facts.bits |= above.bits;
    if (facts.node == kNone) facts.node = above.node;
    if (facts.cluster == kNone) facts.cluster = above.cluster;
    const model::Item& owner = above.place->item();
    if (!owner.is_collection()) {
      const model::Element* element = owner.type->find_element(place.id());
      if (element != nullptr) {
        facts.element = static_cast<std::uint16_t>(element - owner.type->elements.data());
      }
    }
  }
  const auto index = static_cast<std::uint32_t>(items_.size());
  if (facts.node != kNone && nodes_[facts.node].place == &place) item_of_node_[facts.node] = index;
  items_.push_back(facts);
  by_path_.add(hash, index);
  return index;
}

std::uint32_t ModelIndex::as_node(std::uint32_t item) const {
  const std::uint32_t node = items_[item].node;
  return node != kNone && nodes_[node].place == items_[item].place ? node : kNone;
}

std::uint32_t ModelIndex::as_cluster(std::uint32_t item) const {
  const std::uint32_t cluster = items_[item].cluster;
  return cluster != kNone && clusters_[cluster].place == items_[item].place ? cluster : kNone;
}

bool ModelIndex::is_at_or_below(std::uint32_t item, std::uint32_t above) const {
  // Parents have smaller indexes.
  while (item != kNone && item > above) item = items_[item].parent;
  return item == above;
}

void ModelIndex::rank_items() {
  // Children of each item side by side, then sorted by id, then a walk.
  std::vector<std::uint32_t> first(items_.size() + 1, 0);
  for (const ItemFacts& facts : items_) {
    if (facts.parent != kNone) ++first[facts.parent + 1];
  }
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<std::uint32_t> children(items_.size() - 1);
  std::vector<std::uint32_t> filled = first;
  for (std::uint32_t i = 1; i < items_.size(); ++i) children[filled[items_[i].parent]++] = i;
  const auto by_id = [&](std::uint32_t a, std::uint32_t b) {
    return items_[a].place->id() < items_[b].place->id();
  };
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> open = {0};
  while (!open.empty()) {
    const std::uint32_t item = open.back();
    open.pop_back();
    items_[item].rank = rank++;
    const auto begin = children.begin() + first[item];
    const auto end = children.begin() + first[item + 1];
    std::sort(begin, end, by_id);
    // The last of them goes in first, so that the first comes out next.
    open.insert(open.end(), std::make_reverse_iterator(end), std::make_reverse_iterator(begin));
  }
}

}  // namespace muster::plan
