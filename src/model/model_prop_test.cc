#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "model/declaration.h"
#include "model/edit.h"
#include "model/lifecycle.h"
#include "model/test_types.h"

// Random edits and plans over the small world of test_types.h: whatever is asked for, the model
// never contradicts its own rules.

namespace muster::model {
namespace {

void for_each(const Node& node, const auto& visit) {
  visit(node);
  for (const auto& child : node.children()) for_each(*child, visit);
}

void print(const Node& node, std::string& text) {
  const Item& item = node.item();
  text += node.path().text() + " " + item.type->id + " " + std::string(name(item.state));
  if (!item.determinable) text += " indeterminable";
  if (item.source) text += " <- " + item.source->text();
  if (item.own) {
    for (const auto& [key, value] : *item.own) text += " " + std::string(key) + "=" + value;
  }
  text += '\n';
  for (const auto& child : node.children()) print(*child, text);
}

std::string picture(const Tree& tree) {
  std::string text;
  print(tree.root(), text);
  return text;
}

// Few names, so that operations meet.
rc::Gen<std::string> any_id() { return rc::gen::element<std::string>("a", "b", "c"); }

rc::Gen<Path> any_path() {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange(0, 9), any_id(), any_id()),
                      [](const auto& drawn) {
                        const auto& [shape, x, y] = drawn;
                        static constexpr const char* kShapes[] = {
                            "/software/items/{}",
                            "/software/items/{}",
                            "/software/items/{}/parts/{}",
                            "/infrastructure/systems/{}",
                            "/infrastructure/systems/{}/disks/{}",
                            "/ms/items/{}",
                            "/deployments/d/clusters/c/nodes/{}",
                            "/deployments/d/clusters/c/nodes/{}/items/{}",
                            "/deployments/d/clusters/c/nodes/{}/system",
                        };
                        return *Path::parse(fmt::format(fmt::runtime(kShapes[shape]), x, y));
                      });
}

rc::Gen<GivenProperties> any_properties() {
  return rc::gen::map(rc::gen::container<std::vector<std::pair<int, int>>>(
                          rc::gen::pair(rc::gen::inRange(0, 7), rc::gen::inRange(0, 3))),
                      [](const auto& drawn) {
                        static constexpr const char* kNames[] = {
                            "name", "version", "note", "serial", "size", "hostname", "colour"};
                        GivenProperties properties;
                        for (const auto& [key, value] : drawn)
                          properties[kNames[key]] = std::to_string(value);
                        return properties;
                      });
}

std::string likely_type(const Path& path) {
  const std::string& text = path.text();
  if (text.find("/disks/") != std::string::npos) return "disk";
  if (text.starts_with("/infrastructure")) return "system";
  if (text.find("/parts/") != std::string::npos) return "package";
  if (text.starts_with("/software")) return text.back() == 'a' ? "bundle" : "package";
  return "node";
}

// What the type needs, so that most of what is drawn is accepted.
GivenProperties complete(const std::string& type, GivenProperties properties) {
  if (type == "package" || type == "bundle") properties.try_emplace("name", "x");
  if (type == "system") properties.try_emplace("serial", "x");
  if (type == "node") properties.try_emplace("hostname", "x");
  properties.erase("colour");
  std::erase_if(properties, [&](const auto& property) {
    const std::string& key = property.first;
    if (type == "package" || type == "bundle") {
      return key != "name" && key != "version" && key != "note";
    }
    return !(type == "system" && key == "serial") && !(type == "disk" && key == "size") &&
           !(type == "node" && key == "hostname");
  });
  return properties;
}

Operation any_operation() {
  const Path path = *any_path();
  const std::string id(path.id());
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
    case 1: {
      const std::string type = likely_type(path);
      return CreateItem{path.parent(), id, type, complete(type, *any_properties())};
    }
    case 2: {
      Path source = *any_path();
      GivenProperties properties;
      if (*rc::gen::inRange(0, 3) == 0) properties["version"] = "7";
      return InheritItem{path.parent(), id, source, properties};
    }
    case 3:
      return UpdateItem{path, *any_properties(), {}};
    case 4: {
      const std::string name = *rc::gen::element<std::string>("version", "note", "size");
      return UpdateItem{path, {}, {name}};
    }
    default:
      return RemoveItem{path};
  }
}

class World {
 public:
  World() : schema_(testing::test_schema()), tree_(empty_model(*schema_)) {
    const auto outcome =
        edit({CreateItem{*Path::parse("/deployments"), "d", "deployment", {}},
              CreateItem{*Path::parse("/deployments/d/clusters"), "c", "cluster", {}}});
    RC_ASSERT(outcome.ok());
  }

  EditOutcome edit(const std::vector<Operation>& operations) {
    return model::edit(tree_, *schema_, operations, Actor::User);
  }

  // A plan with a task for each item that is not Applied; some of them may fail.
  void run_plan(bool may_fail) {
    std::vector<Path> succeeded;
    std::vector<ItemTasks> tasks;
    bool all = true;
    for_each(tree_.root(), [&](const Node& node) {
      if (node.item().state == ItemState::Applied) return;
      const bool fails = may_fail && *rc::gen::inRange(0, 8) == 0;
      all = all && !fails;
      tasks.push_back({node.path(), true, !fails});
      if (!fails) succeeded.push_back(node.path());
    });
    tasks_succeeded(tree_, succeeded);
    plan_ended(tree_, all, tasks);
  }

  Tree& tree() { return tree_; }
  const Schema& schema() const { return *schema_; }

 private:
  SchemaPtr schema_;
  Tree tree_;
};

void check_links(const Node& node) {
  const Item& item = node.item();
  RC_ASSERT((node.source() != nullptr) == item.source.has_value());
  if (node.source()) {
    RC_ASSERT(node.source()->path() == *item.source);
    const auto& inheritors = node.source()->inheritors();
    RC_ASSERT(std::count(inheritors.begin(), inheritors.end(), &node) == 1);
  }
  for (const Node* inheritor : node.inheritors()) RC_ASSERT(inheritor->source() == &node);
}

void check_state(const Node& node) {
  const Item& item = node.item();
  if (item.state == ItemState::Applied) {
    RC_ASSERT(item.was_applied);
    RC_ASSERT(same(item.applied, node.merged()));
  }
  if (item.state == ItemState::Updated) {
    RC_ASSERT(item.was_applied);
    RC_ASSERT(!item.determinable || !same(item.applied, node.merged()));
  }
  RC_ASSERT(item.state != ItemState::Removed);
  if (item.is_for_removal()) {
    for (const auto& child : node.children()) RC_ASSERT(child->item().is_for_removal());
    for (const Node* inheritor : node.inheritors()) RC_ASSERT(inheritor->item().is_for_removal());
  }
}

void check_invariants(const Tree& tree) {
  std::size_t count = 0;
  for_each(tree.root(), [&](const Node& node) {
    ++count;
    check_links(node);
    check_state(node);
    std::size_t indeterminable = node.item().determinable ? 0 : 1;
    for (const auto& child : node.children()) indeterminable += child->indeterminable();
    RC_ASSERT(node.indeterminable() == indeterminable);
  });
  RC_ASSERT(tree.size() == count);
}

RC_GTEST_PROP(Model, KeepsItsRulesWhateverIsAsked, ()) {
  World world;
  const int steps = *rc::gen::inRange(1, 40);
  for (int i = 0; i < steps; ++i) {
    if (*rc::gen::inRange(0, 10) == 0) {
      world.run_plan(true);
    } else {
      world.edit({any_operation()});
    }
    check_invariants(world.tree());
  }
}

RC_GTEST_PROP(Model, ARefusedEditChangesNothing, ()) {
  World world;
  const int steps = *rc::gen::inRange(1, 30);
  for (int i = 0; i < steps; ++i) {
    const std::string before = picture(world.tree());
    std::vector<Operation> operations;
    for (int k = *rc::gen::inRange(1, 5); k > 0; --k) operations.push_back(any_operation());
    const EditOutcome outcome = world.edit(operations);
    if (!outcome.ok()) RC_ASSERT(picture(world.tree()) == before);
    check_invariants(world.tree());
    if (*rc::gen::inRange(0, 10) == 0) world.run_plan(true);
  }
}

RC_GTEST_PROP(Model, ChangesCanBeTakenBackAndMadeAgain, ()) {
  World world;
  const int steps = *rc::gen::inRange(1, 30);
  for (int i = 0; i < steps; ++i) {
    const std::string before = picture(world.tree());
    const EditOutcome outcome = world.edit({any_operation(), any_operation()});
    const std::string after = picture(world.tree());
    revert(world.tree(), outcome.changes);
    RC_ASSERT(picture(world.tree()) == before);
    check_invariants(world.tree());
    advance(world.tree(), outcome.changes);
    RC_ASSERT(picture(world.tree()) == after);
    check_invariants(world.tree());
    if (*rc::gen::inRange(0, 8) == 0) world.run_plan(true);
  }
}

RC_GTEST_PROP(Model, WhatWasDeclaredBeforeBringsItBack, ()) {
  World world;
  const auto some_edits = [&] {
    for (int k = *rc::gen::inRange(0, 15); k > 0; --k) world.edit({any_operation()});
  };
  some_edits();
  if (*rc::gen::arbitrary<bool>()) world.run_plan(false);
  some_edits();
  // An item that waits for removal is wanted no more; a declaration cannot ask for it.
  if (*rc::gen::arbitrary<bool>()) world.run_plan(false);
  bool settled = true;
  for_each(world.tree().root(),
           [&](const Node& node) { settled = settled && !node.item().is_for_removal(); });
  RC_PRE(settled);
  const std::string before = picture(world.tree());
  const Declaration wanted = declare(world.tree().root(), Detail::Full);
  some_edits();
  const EditOutcome outcome =
      apply(world.tree(), world.schema(), Path(), wanted, Prune::Everything);
  for (const ModelError& error : outcome.errors) {
    RC_LOG() << error.path.text() << ": " << error.message << "\n";
  }
  RC_ASSERT(outcome.ok());
  RC_ASSERT(picture(world.tree()) == before);
}

RC_GTEST_PROP(Model, ApplyingWhatIsThereChangesNothing, ()) {
  World world;
  for (int k = *rc::gen::inRange(0, 25); k > 0; --k) world.edit({any_operation()});
  if (*rc::gen::arbitrary<bool>()) world.run_plan(false);
  const Detail detail = *rc::gen::element(Detail::Brief, Detail::Full);
  const Prune prune = *rc::gen::element(Prune::Nothing, Prune::Undeclared);
  const Declaration wanted = declare(world.tree().root(), detail);
  const EditOutcome outcome = apply(world.tree(), world.schema(), Path(), wanted, prune);
  for (const ModelError& error : outcome.errors) {
    RC_LOG() << error.path.text() << ": " << error.message << "\n";
  }
  RC_ASSERT(outcome.ok());
  RC_ASSERT(outcome.changes.empty());
}

// What a person writes down from one model makes another one like it.
RC_GTEST_PROP(Model, ABriefDeclarationIsEnough, ()) {
  World world;
  for (int k = *rc::gen::inRange(0, 25); k > 0; --k) world.edit({any_operation()});
  const Declaration wanted = declare(world.tree().root(), Detail::Brief);
  Tree other = empty_model(world.schema());
  const EditOutcome outcome = apply(other, world.schema(), Path(), wanted, Prune::Nothing);
  for (const ModelError& error : outcome.errors) {
    RC_LOG() << error.path.text() << ": " << error.message << "\n";
  }
  RC_ASSERT(outcome.ok());
  RC_ASSERT(declare(other.root(), Detail::Brief) == wanted);
}

}  // namespace
}  // namespace muster::model
