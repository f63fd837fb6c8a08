#include "model/lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "model/cross_checks.h"
#include "model/recorder.h"

namespace muster::model {
namespace {

template <typename Visit>
void for_each(const Node& node, const Visit& visit) {
  visit(node);
  for (const auto& child : node.children()) for_each(*child, visit);
}

void apply(Recorder& recorder, const Node& node) {
  Item item = node.item();
  item.set_state(ItemState::Applied, node.merged());
  recorder.replace(node, std::move(item));
}

// Decides which Removed items can go: those with nothing left below them and nothing left that
// inherits from them. A collection goes with the item that it is part of.
class Departure {
 public:
  bool can_go(const Node& node) {
    if (const auto known = known_.find(&node); known != known_.end()) return known->second;
    const Item& item = node.item();
    bool goes = item.state == ItemState::Removed || item.is_collection();
    for (const auto& child : node.children()) goes = can_go(*child) && goes;
    for (const Node* inheritor : node.inheritors()) goes = goes && can_go(*inheritor);
    known_.emplace(&node, goes);
    return goes;
  }

 private:
  std::unordered_map<const Node*, bool> known_;  // never iterated
};

// The topmost items that go, and the Removed ones that have to stay.
void sort_out(const Node& node, Departure& departure, std::vector<const Node*>& go,
              std::vector<const Node*>& stay) {
  const Item& item = node.item();
  if (item.state == ItemState::Removed) {
    // A member of a collection goes by itself; a collection only with the item that it is part of.
    if (!item.is_collection() && departure.can_go(node)) {
      go.push_back(&node);
      return;
    }
    stay.push_back(&node);
  }
  for (const auto& child : node.children()) sort_out(*child, departure, go, stay);
}

void clear_away(Tree& tree, Recorder& recorder) {
  Departure departure;
  std::vector<const Node*> go;
  std::vector<const Node*> stay;
  sort_out(tree.root(), departure, go, stay);
  for (const Node* node : stay) {
    Item item = node->item();
    item.previous_state = ItemState::Removed;
    item.state = ItemState::ForRemoval;
    item.determinable = item.is_collection() && item.determinable;
    recorder.replace(*node, std::move(item));
  }
  for (const Node* node : go) recorder.erase(*node);
}

void check_cardinality(const Node& node, Findings& findings) {
  const auto present = static_cast<std::size_t>(
      std::count_if(node.children().begin(), node.children().end(),
                    [](const auto& child) { return !child->item().is_for_removal(); }));
  if (!node.slot()) {
    findings.errors.push_back(
        {Refusal::ChildNotAllowed, node.path(), "",
         fmt::format("{} stands where the type above it has no collection", node.path().text())});
    return;
  }
  const ElementDefinition& slot = node.slot()->definition;
  if (present >= slot.min && present <= slot.max) return;
  findings.errors.push_back(
      {Refusal::Cardinality, node.path(), "",
       fmt::format("{} holds {} items of type {}; it needs {} {}", node.path().text(), present,
                   node.item().type->id, present < slot.min ? "at least" : "at most",
                   present < slot.min ? slot.min : slot.max)});
}

void check_required_items(const Node& node, Findings& findings) {
  for (const Element& element : node.item().type->elements) {
    if (!element.definition.required || element.is_collection()) continue;
    const Node* child = node.find_child(element.definition.name);
    if (child && !child->item().is_for_removal()) continue;
    findings.errors.push_back(
        {Refusal::MissingRequiredItem, node.path(), "",
         fmt::format(
             "a {} needs '{}', {} of type {}, {}", node.item().type->id, element.definition.name,
             element.is_reference() ? "inherited from an item" : "an item", element.type->id,
             child ? "which is marked for removal" : "which is not there")});
  }
}

void check_below(const Node& node, const Answers& answers, Findings& findings) {
  const Item& item = node.item();
  if (item.is_for_removal() || item.state == ItemState::Removed) return;
  if (item.is_collection()) {
    check_cardinality(node, findings);
  } else {
    check_required_items(node, findings);
    const std::size_t errors = findings.errors.size();
    check_all_values(node.path(), *item.type, node.merged(), answers, findings);
    // What has no values of its own has those of its source, where they are told.
    if (node.source() && !item.own) findings.errors.resize(errors);
  }
  for (const auto& child : node.children()) check_below(*child, answers, findings);
}

}  // namespace

ChangeSet tasks_succeeded(Tree& tree, const std::vector<Path>& items) {
  Recorder recorder(tree);
  for (const Path& path : items) {
    const Node* node = tree.find(path);
    if (!node) continue;
    if (node->item().is_for_removal()) {
      Item item = node->item();
      // What it was before is needed again if it cannot go after all.
      item.state = ItemState::Removed;
      recorder.replace(*node, std::move(item));
    } else if (node->item().state != ItemState::Removed) {
      apply(recorder, *node);
    }
  }
  return recorder.changes();
}

ChangeSet plan_ended(Tree& tree, bool successful, const std::vector<ItemTasks>& items) {
  Recorder recorder(tree);
  clear_away(tree, recorder);
  if (successful) {
    for_each(tree.root(), [&](const Node& node) {
      if (!node.item().is_for_removal()) apply(recorder, node);
    });
  }
  for (const ItemTasks& tasks : items) {
    const Node* node = tree.find(tasks.path);
    if (!node || !tasks.any_ran) continue;
    Item item = node->item();
    item.determinable = tasks.all_succeeded && !item.has_failed_removal();
    recorder.replace(*node, std::move(item));
  }
  return recorder.changes();
}

ChangeSet prepare_restore(Tree& tree, const std::vector<Path>& excluded) {
  Recorder recorder(tree);
  for_each(tree.root(), [&](const Node& node) {
    const Path path = node.path();
    const bool kept = std::any_of(excluded.begin(), excluded.end(),
                                  [&](const Path& each) { return path.is_at_or_below(each); });
    if (kept) return;
    Item item = node.item();
    item.state = ItemState::Initial;
    item.previous_state.reset();
    item.applied = nullptr;
    item.was_applied = false;
    item.determinable = true;
    recorder.replace(node, std::move(item));
  });
  return recorder.changes();
}

Findings check_complete(const Tree& tree, const Answers& answers) {
  Findings findings;
  check_below(tree.root(), answers, findings);
  check_across(tree, findings.errors);
  return findings;
}

}  // namespace muster::model
