#include <algorithm>

#include "model/editor.h"

// Removing items, and having them back before a plan has removed them from their hosts.

namespace muster::model {
namespace {

bool never_reached_a_host(const Item& item) {
  return item.state == ItemState::Initial || item.state == ItemState::Removed;
}

// Nothing of it can be on a host, as far as it and what is below it go.
bool is_fresh(const Node& node) {
  return never_reached_a_host(node.item()) && node.item().determinable &&
         std::all_of(node.children().begin(), node.children().end(),
                     [](const auto& child) { return is_fresh(*child); });
}

template <typename Visit>
void for_each_below(const Node& node, const Visit& visit) {
  visit(node);
  for (const auto& child : node.children()) for_each_below(*child, visit);
}

}  // namespace

void Editor::on(const RemoveItem& operation) {
  const Node* node = find(operation.path);
  if (!node) return;
  if (!node->parent()) {
    wrong(Refusal::MethodNotAllowed, operation.path, "", "the root cannot be removed");
    return;
  }
  if (node->item().is_collection()) {
    wrong(Refusal::MethodNotAllowed, operation.path, "",
          "a collection cannot be removed; remove the items in it");
    return;
  }
  const Element* slot = node->slot();
  if (slot && slot->definition.kind == ElementKind::Child && slot->definition.required) {
    wrong(Refusal::MethodNotAllowed, operation.path, "", "{} cannot be removed: a {} always has it",
          operation.path.text(), node->parent()->item().type->id);
    return;
  }
  // The reference itself may go, not a part of what it refers to.
  if (node->parent()->item().source && !check_not_read_only(*node->parent())) return;
  if (!never_reached_a_host(node->item()) || !is_deletable(*node)) {
    mark_for_removal(*node);
    return;
  }
  erase_with_inheritors(operation.path);
}

bool Editor::is_deletable(const Node& node) {
  if (!is_fresh(node)) return false;
  for (const Node* above = node.parent(); above; above = above->parent()) {
    if (!above->item().determinable) return false;
  }
  const bool sibling_in_doubt = node.parent()->indeterminable() > node.indeterminable();
  if (sibling_in_doubt) return false;
  bool deletable = true;
  for_each_below(node, [&](const Node& each) {
    for (const Node* inheritor : each.inheritors()) {
      deletable = deletable && is_deletable(*inheritor);
    }
  });
  return deletable;
}

void Editor::erase_with_inheritors(const Path& path) {
  const Node* node = tree_.find(path);
  if (!node) return;
  std::vector<Path> inheritors;
  for_each_below(*node, [&](const Node& each) {
    for (const Node* inheritor : each.inheritors()) inheritors.push_back(inheritor->path());
  });
  // By path, because erasing one may take another with it.
  for (const Path& inheritor : inheritors) erase_with_inheritors(inheritor);
  recorder_.erase(*node);
}

void Editor::mark_for_removal(const Node& node) {
  for_each_below(node, [&](const Node& each) {
    if (each.item().is_for_removal() || each.item().state == ItemState::Removed) return;
    Item item = each.item();
    item.set_state(ItemState::ForRemoval, nullptr);
    recorder_.replace(each, std::move(item));
    for (const Node* inheritor : each.inheritors()) mark_for_removal(*inheritor);
  });
}

bool Editor::check_recoverable(const Node& node) {
  const Path path = node.path();
  if (node.item().has_failed_removal()) {
    wrong(Refusal::MethodNotAllowed, path, "",
          "{} has previously failed removal and cannot be updated; remove what is left of it",
          path.text());
    return false;
  }
  if (node.parent()->item().is_for_removal()) {
    wrong(Refusal::MethodNotAllowed, path, "", "{} is marked for removal", path.parent().text());
    return false;
  }
  bool recoverable = true;
  for_each_below(node, [&](const Node& each) {
    const Node* source = each.source();
    if (!recoverable || !source || !source->item().is_for_removal()) return;
    // A source that is part of the same removal comes back together with it.
    if (source->path().is_at_or_below(path)) return;
    recoverable = false;
    wrong(Refusal::MethodNotAllowed, path, "", "{} inherits from {}, which is marked for removal",
          each.path().text(), source->path().text());
  });
  return recoverable;
}

void Editor::recover(const Node& node) {
  if (!node.item().is_for_removal() || node.item().has_failed_removal()) return;
  Item item = node.item();
  item.state = item.previous_state.value_or(ItemState::Initial);
  if (!item.determinable && item.state == ItemState::Applied) item.state = ItemState::Updated;
  recorder_.replace(node, std::move(item));
  // Its source may have changed while it waited.
  settle(node, {});
  for (const auto& child : node.children()) recover(*child);
  for (const Node* inheritor : node.inheritors()) {
    const bool overrides = inheritor->item().own != nullptr;
    if (!overrides && !inheritor->parent()->item().is_for_removal()) recover(*inheritor);
  }
}

}  // namespace muster::model
