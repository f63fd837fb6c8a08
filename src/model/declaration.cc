#include "model/declaration.h"

#include <fmt/format.h>

#include <utility>

#include "model/comparison.h"
#include "model/editor.h"

namespace muster::model {
namespace {

// Each round settles what the one before has brought into being: the overrides below an item that
// inherits, and below those that inherit from it. Chains of inheritance longer than this do not
// converge for any reason but a fault here.
constexpr int kRoundsMax = 64;

// What the item would be anyway, because its type or its source says so.
bool goes_without_saying(const Node& node, const Declaration& declaration) {
  if (!declaration.properties.empty() || !declaration.children.empty()) return false;
  if (node.item().is_collection()) return true;
  if (node.source()) return node.parent()->source() == node.source()->parent();
  const Element* slot = node.slot();
  return slot && slot->definition.kind == ElementKind::Child && slot->definition.required &&
         slot->type == node.item().type;
}

void declare_properties(const Node& node, Detail detail, GivenProperties& properties) {
  if (!node.item().own) return;
  for (const auto& [name, value] : *node.item().own) {
    const Property* property = node.item().type->find_property(name);
    if (detail == Detail::Brief && property) {
      if (property->definition.secret || property->definition.plugin_only) continue;
      if (!node.source() && property->definition.default_value == value) continue;
    }
    properties.emplace(name, value);
  }
}

}  // namespace

EditOutcome apply(Tree& tree, const Schema& schema, const Path& at, const Declaration& wanted,
                  Prune prune, const Answers& answers) {
  Editor editor(tree, schema, Actor::User, answers);
  for (int round = 0; round < kRoundsMax; ++round) {
    Comparison comparison = compare(tree, schema, at, wanted, prune);
    for (ModelError& error : comparison.errors) editor.refuse(std::move(error));
    for (const Operation& operation : comparison.operations) editor.run(operation);
    if (comparison.operations.empty() || !editor.ok()) return editor.finish();
  }
  editor.refuse({Refusal::InvalidReference, at, "",
                 fmt::format("after {} rounds the model is not yet what {} declares", kRoundsMax,
                             at.text())});
  return editor.finish();
}

Declaration declare(const Node& node, Detail detail) {
  const Item& item = node.item();
  Declaration declaration;
  const bool taken_over = node.source() && node.parent()->source() == node.source()->parent();
  if (!item.is_collection() && node.parent()) {
    if (!node.source()) {
      declaration.type = item.type->id;
    } else if (detail == Detail::Full || !taken_over) {
      declaration.inherit = item.source;
    }
  }
  declare_properties(node, detail, declaration.properties);
  for (const auto& child : node.children()) {
    if (child->item().is_for_removal() || child->item().state == ItemState::Removed) continue;
    Declaration below = declare(*child, detail);
    if (detail == Detail::Brief && goes_without_saying(*child, below)) continue;
    declaration.children.emplace(child->id(), std::move(below));
  }
  return declaration;
}

}  // namespace muster::model
