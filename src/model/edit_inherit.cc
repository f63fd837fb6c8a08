#include <algorithm>

#include "base/check.h"
#include "model/editor.h"

// Items that take their properties, and what is below them, from another item.

namespace muster::model {
namespace {

// An inherited copy of `source` below `parent` would hold a copy of itself: the parent, or
// something that inherits from it and so gets the same child, is part of the source.
bool would_hold_itself(const Node& parent, const Node& source) {
  for (const Node* at = &parent; at; at = at->parent()) {
    if (at == &source) return true;
  }
  return std::any_of(parent.inheritors().begin(), parent.inheritors().end(),
                     [&](const Node* inheritor) { return would_hold_itself(*inheritor, source); });
}

// Somebody has taken an inherited child away and now wants it back.
bool belongs_there(const Node& parent, const Node& source, std::string_view id) {
  return parent.source() && parent.source() == source.parent() && source.id() == id;
}

}  // namespace

void Editor::on(const InheritItem& operation) {
  const Node* parent = tree_.find(operation.parent);
  if (!check_place(parent, operation.parent, operation.id, "inherit")) return;
  const Path path = operation.parent.child(operation.id);
  if (const Node* existing = parent->find_child(operation.id)) {
    inherit_again(*existing, operation);
    return;
  }
  const Node* source = check_source(operation, *parent, path);
  if (!source || !check_reference_slot(operation, *parent, *source, path)) return;

  const ItemType& type = *source->item().type;
  Properties overrides;
  std::set<std::string_view> given;
  for (const auto& [name, value] : operation.properties) {
    const Property* property = check_name(path, type, name, findings_);
    if (!property) continue;
    const std::string* taken_over = source->property(property->definition.name);
    if (!check_plugin_only(path, *property, taken_over, &value)) continue;
    overrides.set(property->definition.name, value);
    given.insert(property->definition.name);
  }
  const Node* node = copy(*source, *parent, operation.id, share(std::move(overrides)));
  if (!node) return;
  check_values(path, type, node->merged(), given, answers_, findings_);
  mirror(*node);
}

const Node* Editor::check_source(const InheritItem& operation, const Node& parent,
                                 const Path& path) {
  const Node* source = tree_.find(operation.source);
  if (!source) {
    if (!has_failed(operation.source)) {
      wrong(Refusal::InvalidReference, path, "", "there is no item {} to inherit from",
            operation.source.text());
    } else {
      failed_.insert(path);
    }
    return nullptr;
  }
  if (source->item().is_collection() || !source->parent()) {
    wrong(Refusal::InvalidReference, path, "", "{} is no single item to inherit from",
          operation.source.text());
    return nullptr;
  }
  if (source->item().is_for_removal()) {
    wrong(Refusal::MethodNotAllowed, path, "", "the source {} is marked for removal",
          operation.source.text());
    return nullptr;
  }
  if (would_hold_itself(parent, *source)) {
    wrong(Refusal::InvalidReference, path, "", "{} would inherit from what it is itself part of",
          path.text());
    return nullptr;
  }
  return source;
}

bool Editor::check_reference_slot(const InheritItem& operation, const Node& parent,
                                  const Node& source, const Path& path) {
  const bool returns = belongs_there(parent, source, operation.id);
  if (parent.item().source && !returns) {
    wrong(Refusal::MethodNotAllowed, path, "",
          "items cannot be created under inherited items; inherit it under {} instead",
          parent.item().source->text());
    return false;
  }
  const Element* slot = check_slot(parent, path);
  if (!slot) return false;
  if (!slot->is_reference() && !returns) {
    wrong(Refusal::ChildNotAllowed, path, "",
          "'{}' takes items of its own, not inherited ones; create a {}", slot->definition.name,
          slot->type->id);
    return false;
  }
  if (!check_child_type(*slot, *source.item().type, path)) return false;
  if (slot->definition.read_only && !operation.properties.empty()) {
    wrong(Refusal::PropertyNotAllowed, path, operation.properties.begin()->first,
          "'{}' is a read-only reference: its properties are those of its source",
          slot->definition.name);
    return false;
  }
  return check_exclusive(*slot, source, path);
}

bool Editor::check_exclusive(const Element& slot, const Node& source, const Path& path) {
  if (!slot.definition.exclusive) return true;
  for (const Node* inheritor : source.inheritors()) {
    const Element* other = inheritor->slot();
    if (!other || !other->definition.exclusive || inheritor->item().is_for_removal()) continue;
    wrong(Refusal::InvalidReference, path, "", "{} is used by {} already, and by one at a time",
          source.path().text(), inheritor->path().text());
    return false;
  }
  return true;
}

void Editor::inherit_again(const Node& node, const InheritItem& operation) {
  const Item& item = node.item();
  if (!item.is_for_removal()) {
    wrong(Refusal::ItemExists, node.path(), "", "{} exists already", node.path().text());
    return;
  }
  if (!item.source || *item.source != operation.source) {
    wrong(Refusal::MethodNotAllowed, node.path(), "",
          "{} is marked for removal and cannot be inherited again from a different source{}{}",
          node.path().text(), item.source ? " than " : "", item.source ? item.source->text() : "");
    return;
  }
  if (!check_recoverable(node)) return;
  if (!operation.properties.empty() && !check_not_read_only(node)) return;
  recover(node);
  if (!operation.properties.empty()) update(node, operation.properties, {});
}

const Node* Editor::copy(const Node& source, const Node& parent, std::string_view id,
                         PropertiesPtr overrides) {
  const Path path = parent.path().child(id);
  if (!check_depth(path)) return nullptr;
  Item item;
  item.type = source.item().type;
  item.item_class = source.item().item_class;
  item.source = source.path();
  item.own = std::move(overrides);
  const Node& node = recorder_.add(parent, id, std::move(item));
  for (const auto& child : source.children()) {
    if (child->item().is_for_removal()) continue;
    if (!copy(*child, node, child->id(), nullptr)) return nullptr;
  }
  return &node;
}

void Editor::mirror(const Node& node) {
  // The list may not change under the loop: a copy made here inherits from `node`, never from its
  // parent.
  for (const Node* inheritor : node.parent()->inheritors()) {
    if (inheritor->item().is_for_removal() || inheritor->find_child(node.id())) continue;
    if (const Node* made = copy(node, *inheritor, node.id(), nullptr)) mirror(*made);
  }
}

}  // namespace muster::model
