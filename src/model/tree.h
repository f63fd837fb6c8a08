#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/item.h"
#include "model/path.h"

namespace muster::model {

// Where an item stands: its value, and its neighbours in the tree and along inheritance.
class Node {
 public:
  Node(std::string id, Node* parent, ItemPtr item);

  const std::string& id() const { return id_; }
  Path path() const;
  const Item& item() const { return *item_; }
  const ItemPtr& item_ptr() const { return item_; }
  const Node* parent() const { return parent_; }  // null: the root
  // What it inherits from; null: nothing.
  const Node* source() const { return source_; }
  const std::vector<Node*>& inheritors() const { return inheritors_; }
  // Sorted by id.
  const std::vector<std::unique_ptr<Node>>& children() const { return children_; }
  const Node* find_child(std::string_view id) const;
  // Items at and below this one whose applied properties are not determinable.
  std::size_t indeterminable() const { return indeterminable_; }

  // The value of a property: its own, or that of the first source along the chain that has it.
  const std::string* property(std::string_view name) const;
  // All of them. Shares the item's own where there is nothing to merge.
  PropertiesPtr merged() const;
  // The slot of its parent that it fills; for a member of a collection that of the collection.
  // Null: the root.
  const Element* slot() const;

 private:
  friend class Tree;

  std::string id_;
  Node* parent_;
  Node* source_ = nullptr;
  ItemPtr item_;
  std::vector<std::unique_ptr<Node>> children_;
  std::vector<Node*> inheritors_;
  std::uint32_t indeterminable_ = 0;
  std::uint32_t inheritor_index_ = 0;  // in inheritors_ of its source
};

// The items of a model by their place. It keeps neighbours and counts in step and knows no rule of
// the model: edits (edit.h) make the changes that the rules ask for. Owned by one thread.
class Tree {
 public:
  explicit Tree(ItemPtr root);

  const Node& root() const { return *root_; }
  const Node* find(const Path& path) const;
  std::size_t size() const { return size_; }

  // REQUIRES: the parent is there, and the item is not.
  const Node& add(const Path& path, ItemPtr item);
  const Node& add(const Node& parent, std::string_view id, ItemPtr item);
  void replace(const Node& node, ItemPtr item);
  // REQUIRES: not the root; nothing is below it; whatever inherits from it goes before the next
  // look at `source()`.
  void erase(const Node& node);
  // Connects `node` with its source. add() does so by itself where the source is there already;
  // whoever adds items in another order connects them afterwards. False: the source is not there.
  bool connect(const Node& node);

 private:
  // The tree owns every node; handing them out as const is what makes it their only writer.
  static Node& writable(const Node& node) { return const_cast<Node&>(node); }
  static void count(Node* from, int change);
  static void disconnect(Node& node);

  std::unique_ptr<Node> root_;
  std::size_t size_ = 1;
};

// What was and what is at each place that an edit has touched.
struct Change {
  Path path;
  ItemPtr before;  // null: it was not there
  ItemPtr after;   // null: it is not there any more
};
using ChangeSet = std::vector<Change>;  // by path

// Takes the tree back to before the changes. REQUIRES: nothing was changed since.
void revert(Tree& tree, const ChangeSet& changes);
// Makes the changes. REQUIRES: the tree is as it was before them.
void advance(Tree& tree, const ChangeSet& changes);

}  // namespace muster::model
