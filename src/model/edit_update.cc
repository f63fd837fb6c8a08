#include <algorithm>

#include "model/editor.h"

// Changing properties, and what that means for the state of the item and of those that inherit.

namespace muster::model {
namespace {

bool is_initial(const Item& item) {
  if (item.is_for_removal()) {
    return item.previous_state.value_or(ItemState::Initial) == ItemState::Initial;
  }
  return item.state == ItemState::Initial;
}

// The names in `changed` that `node` does not set for itself.
std::set<std::string_view> not_overridden(const Node& node,
                                          const std::set<std::string_view>& changed) {
  std::set<std::string_view> names;
  for (const std::string_view name : changed) {
    if (!find(node.item().own, name)) names.insert(name);
  }
  return names;
}

}  // namespace

void Editor::on(const UpdateItem& operation) {
  const Node* node = find(operation.path);
  if (!node) return;
  if (node->item().is_collection()) {
    const std::string& name =
        operation.set.empty() ? (operation.unset.empty() ? std::string() : operation.unset.front())
                              : operation.set.begin()->first;
    wrong(Refusal::PropertyNotAllowed, operation.path, name, "a collection has no properties");
    return;
  }
  if (operation.set.empty() && operation.unset.empty()) {
    wrong(Refusal::NothingToUpdate, operation.path, "",
          "an update must set or unset at least one property");
    return;
  }
  if (node->item().state == ItemState::Removed) {
    wrong(Refusal::MethodNotAllowed, operation.path, "", "{} is being removed",
          operation.path.text());
    return;
  }
  if (!check_not_read_only(*node)) return;
  if (node->item().is_for_removal()) {
    if (!check_recoverable(*node)) return;
    recover(*node);
  }
  update(*node, operation.set, operation.unset);
}

void Editor::update(const Node& node, const GivenProperties& set,
                    const std::vector<std::string>& unset) {
  const Path path = node.path();
  const ItemType& type = *node.item().type;
  Properties own = node.item().own ? *node.item().own : Properties();
  std::set<std::string_view> changed;
  for (const auto& [name, value] : set) {
    const Property* property = check_name(path, type, name, findings_);
    if (!property || !check_may_change(node, *property, &value)) continue;
    own.set(property->definition.name, value);
    changed.insert(property->definition.name);
  }
  for (const std::string& name : unset) {
    const Property* property = check_name(path, type, name, findings_);
    if (!property) continue;
    if (set.contains(name)) {
      wrong(Refusal::InvalidRequest, path, name, "'{}' is both set and unset", name);
      continue;
    }
    if (!own.find(name)) {
      wrong(Refusal::PropertyNotSet, path, name, "'{}' is not set{}", name,
            node.source() ? " here; its value comes from the source" : "");
      continue;
    }
    if (!check_may_change(node, *property, nullptr)) continue;
    const auto& default_value = property->definition.default_value;
    if (default_value && !node.source()) {
      own.set(property->definition.name, *default_value);
    } else {
      own.erase(name);
    }
    changed.insert(property->definition.name);
  }
  // Made even where a name is wrong, so that the values of the others are checked too; an edit with
  // any error is taken back whole.
  Item item = node.item();
  item.own = share(std::move(own));
  recorder_.replace(node, std::move(item));
  const bool right = check_changed(node, changed);
  settle(node, changed);
  pass_on(node, changed, right);
}

bool Editor::check_changed(const Node& node, const std::set<std::string_view>& changed) {
  const std::size_t errors = findings_.errors.size();
  check_values(node.path(), *node.item().type, node.merged(), changed, answers_, findings_);
  return findings_.errors.size() == errors;
}

bool Editor::check_may_change(const Node& node, const Property& property,
                              const std::string* value) {
  const PropertyDefinition& definition = property.definition;
  if (actor_ == Actor::Plugin) {
    if (definition.plugin_may_update) return true;
    wrong(Refusal::ReadOnlyProperty, node.path(), definition.name,
          "plugins may not update the property '{}' of a {}", definition.name,
          node.item().type->id);
    return false;
  }
  if (definition.plugin_only) {
    return check_plugin_only(node.path(), property, node.property(definition.name), value);
  }
  if (definition.user_may_update || is_initial(node.item())) return true;
  // To say what is already so is no change.
  const std::string* present = node.property(definition.name);
  if (value && present && *present == *value) return true;
  wrong(Refusal::ReadOnlyProperty, node.path(), definition.name,
        "unable to modify the read-only property '{}' of {}, which is {}", definition.name,
        node.path().text(), name(node.item().state));
  return false;
}

bool Editor::check_plugin_only(const Path& path, const Property& property,
                               const std::string* present, const std::string* value) {
  if (actor_ == Actor::Plugin || !property.definition.plugin_only) return true;
  // To say what is so anyway is no change.
  if (value && present && *present == *value) return true;
  wrong(
      Refusal::ReadOnlyProperty, path, property.definition.name,
      "only plugins write the property '{}'{}", property.definition.name,
      present && !property.definition.secret ? fmt::format(", which is '{}' here", *present) : "");
  return false;
}

void Editor::settle(const Node& node, const std::set<std::string_view>& changed) {
  Item item = node.item();
  const PropertiesPtr merged = node.merged();
  if (item.was_applied) {
    Properties applied = item.applied ? *item.applied : Properties();
    for (const std::string_view name : changed) {
      const Property* property = item.type->find_property(name);
      if (!property || property->definition.configuration) continue;
      // No plan will ever apply it: it is applied as soon as it is written.
      if (const std::string* value = model::find(merged, name)) {
        applied.set(property->definition.name, *value);
      } else {
        applied.erase(name);
      }
    }
    item.applied = merged && applied == *merged ? merged : share(std::move(applied));
  }
  const bool as_applied = item.was_applied && same(merged, item.applied);
  if (item.state == ItemState::Applied && !as_applied) {
    item.set_state(ItemState::Updated, merged);
  } else if (item.state == ItemState::Updated && as_applied && item.determinable &&
             (item.previous_state == ItemState::Applied ||
              item.previous_state == ItemState::Updated)) {
    item.set_state(ItemState::Applied, merged);
  }
  recorder_.replace(node, std::move(item));
}

void Editor::pass_on(const Node& node, const std::set<std::string_view>& changed, bool right) {
  for (const Node* inheritor : node.inheritors()) {
    const std::set<std::string_view> theirs = not_overridden(*inheritor, changed);
    if (theirs.empty()) continue;
    // What is wrong at the source is told there, not again for everything that inherits it.
    const bool theirs_right = right && check_changed(*inheritor, theirs);
    settle(*inheritor, theirs);
    pass_on(*inheritor, theirs, theirs_right);
  }
}

}  // namespace muster::model
