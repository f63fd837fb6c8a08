#include "model/tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::model {
namespace {

auto lower_bound(auto& children, std::string_view id) {
  return std::lower_bound(children.begin(), children.end(), id,
                          [](const std::unique_ptr<Node>& child, std::string_view wanted) {
                            return child->id() < wanted;
                          });
}

// Makes every place look as `wanted` of its change says.
void move_to(Tree& tree, const ChangeSet& changes, ItemPtr Change::* wanted) {
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    if ((*change).*wanted) continue;
    if (const Node* node = tree.find(change->path)) tree.erase(*node);
  }
  std::vector<const Node*> touched;
  for (const Change& change : changes) {
    const ItemPtr& item = change.*wanted;
    if (!item) continue;
    if (const Node* node = tree.find(change.path)) {
      tree.replace(*node, item);
      touched.push_back(node);
    } else {
      touched.push_back(&tree.add(change.path, item));
    }
  }
  for (const Node* node : touched) {
    if (node->item().source && !node->source()) {
      MUSTER_CHECK(tree.connect(*node), "{} inherits from {}, which is not there",
                   node->path().text(), node->item().source->text());
    }
  }
}

}  // namespace

Node::Node(std::string id, Node* parent, ItemPtr item)
    : id_(std::move(id)), parent_(parent), item_(std::move(item)) {}

Path Node::path() const {
  if (!parent_) return {};
  return parent_->path().child(id_);
}

const Node* Node::find_child(std::string_view id) const {
  const auto found = lower_bound(children_, id);
  return found != children_.end() && (*found)->id() == id ? found->get() : nullptr;
}

const std::string* Node::property(std::string_view name) const {
  for (const Node* node = this; node; node = node->source_) {
    if (const std::string* value = find(node->item_->own, name)) return value;
  }
  return nullptr;
}

PropertiesPtr Node::merged() const {
  // Nothing is overridden up to here: all of them share what their source has.
  const Node* first = this;
  while (first->source_ && !first->item_->own) first = first->source_;
  if (!first->source_) return first->item_->own;
  Properties merged;
  for (const Node* node = first; node; node = node->source_) {
    if (!node->item_->own) continue;
    for (const auto& [name, value] : *node->item_->own) {
      if (!merged.find(name)) merged.set(name, value);
    }
  }
  return share(std::move(merged));
}

const Element* Node::slot() const {
  if (!parent_) return nullptr;
  const bool member = parent_->item_->is_collection();
  const Node* owner = member ? parent_->parent_ : parent_;
  return owner->item_->type->find_element(member ? parent_->id_ : id_);
}

Tree::Tree(ItemPtr root) : root_(std::make_unique<Node>("", nullptr, std::move(root))) {}

const Node* Tree::find(const Path& path) const {
  const Node* node = root_.get();
  for (const std::string_view id : path.segments()) {
    node = node->find_child(id);
    if (!node) return nullptr;
  }
  return node;
}

const Node& Tree::add(const Path& path, ItemPtr item) {
  const Node* parent = find(path.parent());
  MUSTER_CHECK(parent, "{} is added before what it stands below", path.text());
  return add(*parent, path.id(), std::move(item));
}

const Node& Tree::add(const Node& parent, std::string_view id, ItemPtr item) {
  Node& above = writable(parent);
  const auto place = lower_bound(above.children_, id);
  MUSTER_CHECK(place == above.children_.end() || (*place)->id_ != id, "{}/{} is there already",
               parent.path().text(), id);
  Node& node = **above.children_.insert(
      place, std::make_unique<Node>(std::string(id), &above, std::move(item)));
  ++size_;
  if (!node.item_->determinable) count(&node, 1);
  if (node.item_->source) connect(node);
  return node;
}

void Tree::replace(const Node& node, ItemPtr item) {
  Node& target = writable(node);
  const bool other_source = target.item_->source != item->source;
  if (target.item_->determinable != item->determinable) {
    count(&target, item->determinable ? -1 : 1);
  }
  target.item_ = std::move(item);
  if (!other_source) return;
  disconnect(target);
  if (target.item_->source) connect(target);
}

void Tree::erase(const Node& node) {
  Node& target = writable(node);
  MUSTER_CHECK(target.parent_ && target.children_.empty(), "{} cannot be erased",
               node.path().text());
  if (!target.item_->determinable) count(&target, -1);
  disconnect(target);
  for (Node* inheritor : target.inheritors_) inheritor->source_ = nullptr;
  auto& siblings = target.parent_->children_;
  siblings.erase(lower_bound(siblings, target.id_));
  --size_;
}

bool Tree::connect(const Node& node) {
  Node& target = writable(node);
  const Node* source = find(*target.item_->source);
  if (!source) return false;
  target.source_ = &writable(*source);
  target.inheritor_index_ = static_cast<std::uint32_t>(source->inheritors_.size());
  target.source_->inheritors_.push_back(&target);
  return true;
}

void Tree::disconnect(Node& node) {
  if (!node.source_) return;
  auto& inheritors = node.source_->inheritors_;
  Node* last = inheritors.back();
  inheritors[node.inheritor_index_] = last;
  last->inheritor_index_ = node.inheritor_index_;
  inheritors.pop_back();
  node.source_ = nullptr;
}

void Tree::count(Node* from, int change) {
  for (Node* node = from; node; node = node->parent_) {
    node->indeterminable_ += static_cast<std::uint32_t>(change);
  }
}

void revert(Tree& tree, const ChangeSet& changes) { move_to(tree, changes, &Change::before); }
void advance(Tree& tree, const ChangeSet& changes) { move_to(tree, changes, &Change::after); }

}  // namespace muster::model
