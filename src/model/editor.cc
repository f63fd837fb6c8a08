#include "model/editor.h"

#include <algorithm>

namespace muster::model {
namespace {

Path path_of(const Operation& operation) {
  struct Visitor {
    Path operator()(const CreateItem& create) const { return made(create.parent, create.id); }
    Path operator()(const InheritItem& inherit) const { return made(inherit.parent, inherit.id); }
    Path operator()(const UpdateItem& update) const { return update.path; }
    Path operator()(const RemoveItem& remove) const { return remove.path; }
    static Path made(const Path& parent, const std::string& id) {
      return item_id_problem(id).empty() ? parent.child(id) : parent;
    }
  };
  return std::visit(Visitor{}, operation);
}

}  // namespace

void Editor::run(const Operation& operation) {
  const Path path = path_of(operation);
  if (has_failed(path)) return;
  const std::size_t errors = findings_.errors.size();
  if (actor_ == Actor::Plugin && !std::holds_alternative<UpdateItem>(operation)) {
    wrong(Refusal::MethodNotAllowed, path, "",
          "a plugin may update properties, not create or remove items");
  } else {
    std::visit([this](const auto& each) { on(each); }, operation);
  }
  if (findings_.errors.size() > errors) failed_.insert(path);
}

EditOutcome Editor::finish() {
  EditOutcome outcome;
  outcome.changes = recorder_.changes();
  if (findings_.errors.empty() && findings_.questions.empty()) return outcome;
  revert(tree_, outcome.changes);
  outcome.changes.clear();
  if (findings_.errors.empty()) {
    outcome.questions = std::move(findings_.questions);
  } else {
    outcome.errors = std::move(findings_.errors);
  }
  return outcome;
}

const Node* Editor::find(const Path& path) {
  const Node* node = tree_.find(path);
  if (!node && !has_failed(path)) {
    wrong(Refusal::InvalidLocation, path, "", "there is no item {}", path.text());
  }
  return node;
}

bool Editor::has_failed(const Path& path) const {
  if (failed_.empty()) return false;
  for (Path at = path;; at = at.parent()) {
    if (failed_.contains(at)) return true;
    if (at.is_root()) return false;
  }
}

bool Editor::check_not_read_only(const Node& node) {
  for (const Node* at = &node; at->parent(); at = at->parent()) {
    if (!at->source() || at->item().is_collection()) continue;
    const Element* slot = at->slot();
    if (!slot || !slot->is_reference() || !slot->definition.read_only) continue;
    wrong(Refusal::MethodNotAllowed, node.path(), "",
          "{} is a read-only reference; change {} instead", at->path().text(),
          at->item().source->text());
    return false;
  }
  return true;
}

bool Editor::check_depth(const Path& path) {
  if (path.segments().size() <= kPathDepthMax) return true;
  wrong(Refusal::InvalidRequest, path, "", "the path has more than {} segments", kPathDepthMax);
  return false;
}

bool Editor::check_place(const Node* parent, const Path& parent_path, const std::string& id,
                         std::string_view verb) {
  if (const std::string problem = item_id_problem(id); !problem.empty()) {
    wrong(Refusal::Validation, parent_path, "", "{}", problem);
    return false;
  }
  const Path path = parent_path.child(id);
  if (!parent) {
    wrong(Refusal::InvalidLocation, path, "", "there is no item {} to {} it under",
          parent_path.text(), verb);
    return false;
  }
  if (!check_depth(path)) return false;
  if (!parent->item().is_for_removal()) return true;
  wrong(Refusal::MethodNotAllowed, path, "", "{} is marked for removal", parent_path.text());
  return false;
}

EditOutcome edit(Tree& tree, const Schema& schema, const std::vector<Operation>& operations,
                 Actor actor, const Answers& answers) {
  Editor editor(tree, schema, actor, answers);
  for (const Operation& operation : operations) editor.run(operation);
  return editor.finish();
}

Tree empty_model(const Schema& schema) {
  Item root;
  root.type = &schema.root();
  root.own = share(defaults_of(schema.root()).value_or(Properties()));
  Tree tree(std::make_shared<const Item>(std::move(root)));
  const Answers answers;
  Editor editor(tree, schema, Actor::User, answers);
  editor.furnish(tree.root());
  return tree;
}

}  // namespace muster::model
