#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/schema.h"
#include "model/tree.h"
#include "plan/index_table.h"
#include "plan/ruleset.h"

namespace muster::plan {

// What the order of elements comes to for items of one type.
struct TypeFacts {
  struct ElementOrder {
    std::vector<std::uint16_t> before;  // elements that it requires
    std::vector<std::uint16_t> behind;  // elements that require it
  };

  std::uint64_t bits = 0;  // which types of the ruleset, and of the planner, it is
  std::vector<ElementOrder> elements;
};

// An item that some task has to do with.
struct ItemFacts {
  const model::Node* place = nullptr;
  const TypeFacts* type = nullptr;  // null: a collection
  std::uint64_t bits = 0;           // of the types that it is of or below
  std::uint32_t parent = kNone;
  std::uint32_t node = kNone;          // the node, or management server, that it is or is in
  std::uint32_t cluster = kNone;       // likewise
  std::uint32_t rank = 0;              // items by rank are items by path
  std::uint16_t element = kNoElement;  // which element of its parent it is

  static constexpr std::uint16_t kNoElement = 0xFFFF;  // a member of a collection, or the root
};

struct NodeFacts {
  const model::Node* place = nullptr;
  std::uint32_t cluster = kNone;
  bool is_ms = false;
};

struct ClusterFacts {
  const model::Node* place = nullptr;
  std::vector<std::uint32_t> nodes;  // by id
};

// The model as the planner needs it: its nodes, clusters and items for removal, and whatever it is
// asked for by path. Looks once at every item of the model, then only at what tasks name.
class ModelIndex {
 public:
  // REQUIRES: all of them outlive it; the ruleset was built with the schema.
  ModelIndex(const model::Tree& tree, const model::Schema& schema, const Ruleset& ruleset);

  // kNone: there is no such item.
  std::uint32_t find(const model::Path& path);
  std::uint32_t child(std::uint32_t item, std::string_view id);  // likewise
  const ItemFacts& item(std::uint32_t index) const { return items_[index]; }
  std::size_t item_count() const { return items_.size(); }
  // The node or management server that the item is; kNone: it is none.
  std::uint32_t as_node(std::uint32_t item) const;
  // The item that the node is. REQUIRES: it was found before.
  std::uint32_t item_of_node(std::uint32_t node) const { return item_of_node_[node]; }
  std::uint32_t as_cluster(std::uint32_t item) const;
  bool is_at_or_below(std::uint32_t item, std::uint32_t above) const;
  // Gives ranks to all items that were found so far.
  void rank_items();

  // The bit of a type that the ruleset names.
  std::uint64_t bit_of(std::string_view type) const;

  const std::vector<NodeFacts>& nodes() const { return nodes_; }                       // by path
  const std::vector<ClusterFacts>& clusters() const { return clusters_; }              // by path
  const std::vector<const model::Node*>& for_removal() const { return for_removal_; }  // by path

 private:
  void name_type(const model::Schema& schema, std::string_view type);
  const TypeFacts& facts_of(const model::ItemType& type);
  void walk(const model::Node& place, std::uint32_t cluster);
  std::uint32_t find(std::string_view path);
  std::uint32_t find_known(std::string_view path, std::size_t hash) const;
  std::uint32_t add(std::uint32_t parent, const model::Node& place, std::size_t hash);
  bool has_path(std::uint32_t item, std::string_view path) const;

  std::map<std::string_view, std::uint64_t> bits_;
  std::vector<const model::ItemType*> named_types_;  // by bit
  std::uint64_t node_bit_ = 0;
  std::uint64_t ms_bit_ = 0;
  std::uint64_t cluster_bit_ = 0;
  std::unordered_map<const model::ItemType*, std::unique_ptr<TypeFacts>> types_;
  std::unordered_map<const model::Node*, std::uint32_t> node_of_place_;
  std::unordered_map<const model::Node*, std::uint32_t> cluster_of_place_;
  std::vector<NodeFacts> nodes_;
  std::vector<std::uint32_t> item_of_node_;
  std::vector<ClusterFacts> clusters_;
  std::vector<const model::Node*> for_removal_;
  std::vector<ItemFacts> items_;  // the root first; each after its parent
  IndexTable by_path_;
};

}  // namespace muster::plan
