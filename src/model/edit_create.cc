#include "model/editor.h"

// Making items, and with them what their types say is always below them.

namespace muster::model {
void Editor::on(const CreateItem& operation) {
  const Node* parent = tree_.find(operation.parent);
  if (parent && parent->item().source) {
    wrong(Refusal::MethodNotAllowed, operation.parent, "",
          "items cannot be created under inherited items; create it under {} instead",
          parent->item().source->text());
    return;
  }
  const ItemType* type = schema_.find_item_type(operation.type);
  if (!type) {
    const bool named = item_id_problem(operation.id).empty();
    wrong(Refusal::InvalidType, named ? operation.parent.child(operation.id) : operation.parent, "",
          "there is no item type '{}'{}", operation.type,
          schema_.suggest_item_type(operation.type));
    return;
  }
  if (!check_place(parent, operation.parent, operation.id, "create")) return;
  if (const Node* existing = parent->find_child(operation.id)) {
    create_again(*existing, operation);
    return;
  }
  create(*parent, operation, *type);
}

void Editor::create(const Node& parent, const CreateItem& operation, const ItemType& type) {
  const Path path = operation.parent.child(operation.id);
  const Element* slot = check_slot(parent, path);
  if (!slot) return;
  if (slot->is_reference()) {
    wrong(Refusal::ChildNotAllowed, path, "",
          "'{}' takes only items that inherit from an item of type {}", slot->definition.name,
          slot->type->id);
    return;
  }
  if (!check_child_type(*slot, type, path)) return;
  if (type.is_abstract) {
    wrong(Refusal::InvalidType, path, "", "{}", schema_.abstract_problem(type));
    return;
  }

  Properties properties;
  for (const auto& [name, value] : operation.properties) {
    const Property* property = check_name(path, type, name, findings_);
    if (!property) continue;
    const auto& by_itself = property->definition.default_value;
    if (!check_plugin_only(path, *property, by_itself ? &*by_itself : nullptr, &value)) continue;
    properties.set(property->definition.name, value);
  }
  for (const auto& [name, property] : type.properties) {
    if (property.definition.default_value && !properties.find(name)) {
      properties.set(name, *property.definition.default_value);
    }
  }
  Item item;
  item.type = &type;
  item.own = share(std::move(properties));
  (void)check_all_values(path, type, item.own, answers_, findings_);
  // Made even where a value is wrong, so that what is declared below it is checked too; an edit
  // with any error is taken back whole.
  const Node& node = recorder_.add(parent, operation.id, std::move(item));
  furnish(node);
  mirror(node);
}

void Editor::create_again(const Node& node, const CreateItem& operation) {
  const Item& item = node.item();
  if (!item.is_for_removal() || item.is_collection()) {
    wrong(Refusal::ItemExists, node.path(), "", "{} exists already", node.path().text());
    return;
  }
  if (item.source) {
    wrong(Refusal::ItemExists, node.path(), "",
          "{} is marked for removal and inherits from {}; inherit it again to keep it",
          node.path().text(), item.source->text());
    return;
  }
  if (item.type->id != operation.type) {
    wrong(Refusal::ItemExists, node.path(), "",
          "{} of type {} is marked for removal; a {} can take its place once it is removed",
          node.path().text(), item.type->id, operation.type);
    return;
  }
  if (!check_recoverable(node)) return;
  recover(node);
  if (!operation.properties.empty()) update(node, operation.properties, {});
}

const Element* Editor::check_slot(const Node& parent, const Path& path) {
  const Item& above = parent.item();
  if (above.is_collection()) {
    const Element* slot = parent.slot();
    if (!slot) {
      wrong(Refusal::ChildNotAllowed, path, "",
            "{} stands where the type above it has no collection", parent.path().text());
    }
    return slot;
  }
  const Element* slot = above.type->find_element(path.id());
  if (!slot) {
    wrong(Refusal::ChildNotAllowed, path, "", "{}", no_such_child(*above.type, path.id()));
    return nullptr;
  }
  if (slot->is_collection()) {
    wrong(Refusal::ChildNotAllowed, path, "", "'{}' of a {} is a collection; create items in it",
          path.id(), above.type->id);
    return nullptr;
  }
  return slot;
}

bool Editor::check_child_type(const Element& slot, const ItemType& type, const Path& path) {
  if (type.is_a(*slot.type)) return true;
  wrong(Refusal::InvalidChildType, path, "",
        "'{}' takes items of type {} or of one that extends it, not {}", slot.definition.name,
        slot.type->id, type.id);
  return false;
}

void Editor::furnish(const Node& node) {
  for (const Element& element : node.item().type->elements) {
    const ElementDefinition& definition = element.definition;
    Item item;
    item.type = element.type;
    if (element.is_collection()) {
      item.item_class = definition.kind == ElementKind::Collection ? ItemClass::Collection
                                                                   : ItemClass::RefCollection;
      recorder_.add(node, definition.name, std::move(item));
      continue;
    }
    if (!comes_by_itself(element)) continue;
    item.own = share(*defaults_of(*element.type));
    furnish(recorder_.add(node, definition.name, std::move(item)));
  }
}

}  // namespace muster::model
