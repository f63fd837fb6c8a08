#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/edit.h"
#include "model/item_checks.h"
#include "model/recorder.h"

// One edit in the making. Internal to edit(): operations change the tree at once and are taken back
// together if any of them was wrong, so each may count on those before it.

namespace muster::model {

class Editor {
 public:
  Editor(Tree& tree, const Schema& schema, Actor actor, const Answers& answers)
      : tree_(tree), schema_(schema), actor_(actor), answers_(answers), recorder_(tree) {}

  void run(const Operation& operation);
  void refuse(ModelError error) { findings_.errors.push_back(std::move(error)); }
  bool ok() const { return findings_.errors.empty(); }
  // What was done, or, after any error or open question, why nothing was.
  EditOutcome finish();

  // edit_create.cc
  // Makes what the type of an item says is always below it.
  void furnish(const Node& node);

 private:
  // edit_create.cc
  void on(const CreateItem& operation);
  void create(const Node& parent, const CreateItem& operation, const ItemType& type);
  void create_again(const Node& node, const CreateItem& operation);
  const Element* check_slot(const Node& parent, const Path& path);
  bool check_child_type(const Element& slot, const ItemType& type, const Path& path);

  // edit_inherit.cc
  void on(const InheritItem& operation);
  const Node* check_source(const InheritItem& operation, const Node& parent, const Path& path);
  bool check_reference_slot(const InheritItem& operation, const Node& parent, const Node& source,
                            const Path& path);
  bool check_exclusive(const Element& slot, const Node& source, const Path& path);
  void inherit_again(const Node& node, const InheritItem& operation);
  // Copies `source` and what is below it to be `id` below `parent`, inheriting from it.
  const Node* copy(const Node& source, const Node& parent, std::string_view id,
                   PropertiesPtr overrides);
  // What was made below an item is also made below everything that inherits from that item.
  void mirror(const Node& node);

  // edit_update.cc
  void on(const UpdateItem& operation);
  void update(const Node& node, const GivenProperties& set, const std::vector<std::string>& unset);
  bool check_may_change(const Node& node, const Property& property, const std::string* value);
  // Whether somebody may say that a property is `value` which is or would be `present`, even of an
  // item that is only being made. Null: unset.
  bool check_plugin_only(const Path& path, const Property& property, const std::string* present,
                         const std::string* value);
  // The values in `own` have changed: the item's state follows, and so do those that inherit them.
  void settle(const Node& node, const std::set<std::string_view>& changed);
  bool check_changed(const Node& node, const std::set<std::string_view>& changed);
  // `right`: nothing is wrong with the values here, so only what they are together with those of an
  // inheritor remains to be seen.
  void pass_on(const Node& node, const std::set<std::string_view>& changed, bool right);

  // edit_remove.cc
  void on(const RemoveItem& operation);
  static bool is_deletable(const Node& node);
  void erase_with_inheritors(const Path& path);
  void mark_for_removal(const Node& node);
  // Whether an item that waits for its removal can be had back.
  bool check_recoverable(const Node& node);
  void recover(const Node& node);

  // editor.cc
  // Null, and an error: it is not there. Null without one: it failed before in this edit.
  const Node* find(const Path& path);
  bool has_failed(const Path& path) const;
  bool check_not_read_only(const Node& node);
  bool check_depth(const Path& path);
  // Whether something called `id` can be made below `parent`, which is null if nothing is at
  // `parent_path`. `verb` says what was to be done, for the error.
  bool check_place(const Node* parent, const Path& parent_path, const std::string& id,
                   std::string_view verb);

  template <typename... Args>
  void wrong(Refusal code, const Path& path, std::string property,
             fmt::format_string<Args...> format, Args&&... args) {
    findings_.errors.push_back(
        {code, path, std::move(property), fmt::format(format, std::forward<Args>(args)...)});
  }

  Tree& tree_;
  const Schema& schema_;
  const Actor actor_;
  const Answers& answers_;
  Recorder recorder_;
  Findings findings_;
  std::set<Path> failed_;  // operations on or below these would only repeat what is wrong
};

}  // namespace muster::model
