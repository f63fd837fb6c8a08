#include "model/fit.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "model/item_checks.h"
#include "model/type_json.h"

namespace muster::model {
namespace {

constexpr std::size_t kReasonsKept = 1000;

class FitChecker {
 public:
  FitChecker(const Schema& schema, const std::set<Path>& left_out, Misfits& misfits)
      : schema_(schema), left_out_(left_out), misfits_(misfits) {}

  void check(const Node& node) {
    if (node.parent() && !check_place(node)) return;
    if (!node.item().is_collection()) {
      check_furniture(node);
      check_own_values(node);
    }
    for (const auto& child : node.children()) check(*child);
  }

 private:
  bool check_place(const Node& node) {
    const Element* slot = node.slot();
    const bool is_member = node.parent()->item().is_collection();
    const ItemType& owner = *(is_member ? node.parent()->parent() : node.parent())->item().type;
    if (!slot) {
      return wrong(node, "{} has no '{}'; a migration with {} drops it", text_of(owner), node.id(),
                   removal_step(node));
    }
    if (!is_member) return check_kind(node, *slot, owner) && check_type(node, *slot, owner);
    if (node.item().is_collection()) {
      return wrong(node, "is a collection within '{}' of {}", slot->definition.name,
                   text_of(owner));
    }
    return check_origin(node, *slot, owner) && check_type(node, *slot, owner);
  }

  bool check_kind(const Node& node, const Element& slot, const ItemType& owner) {
    const Item& item = node.item();
    if (slot.is_collection() != item.is_collection()) {
      return wrong(node, "is {}, but stands in {} of {}; a migration with {} drops it",
                   item.is_collection() ? "a collection" : "a single item", article(slot),
                   text_of(owner), removal_step(node));
    }
    if (!slot.is_collection()) return check_origin(node, slot, owner);
    const ItemClass right = slot.is_reference() ? ItemClass::RefCollection : ItemClass::Collection;
    if (item.item_class == right && item.type == slot.type) return true;
    return wrong(node, "holds {} '{}', but stands in {} of {}{}",
                 item.item_class == ItemClass::RefCollection ? "references to" : "items of type",
                 item.type->id, article(slot), text_of(owner), kWithoutVersion);
  }

  // What stands below an inherited item inherits whatever its slot is for.
  bool check_origin(const Node& node, const Element& slot, const ItemType& owner) {
    const bool inherits = node.item().source.has_value();
    if (inherits == slot.is_reference()) return true;
    if (node.parent()->item().source) return true;
    return wrong(node, "{}, but stands in {} of {}; remove it while the older pack is loaded",
                 inherits ? "inherits from another item" : "inherits from nothing", article(slot),
                 text_of(owner));
  }

  bool check_type(const Node& node, const Element& slot, const ItemType& owner) {
    const ItemType& type = *node.item().type;
    if (type.is_a(*slot.type)) return true;
    return wrong(node,
                 "is of type '{}', which does not fit {} of {}; a migration with rename_type makes "
                 "it another, or remove it while the older pack is loaded",
                 type.id, article(slot), text_of(owner));
  }

  // What a new item of the type has by itself.
  void check_furniture(const Node& node) {
    const Item& item = node.item();
    for (const Element& element : item.type->elements) {
      const ElementDefinition& definition = element.definition;
      if (!comes_by_itself(element) || node.find_child(definition.name)) continue;
      if (!left_out_.empty() && left_out_.contains(node.path().child(definition.name))) continue;
      wrong(node, "has no '{}', which {} always has{}", definition.name, text_of(*item.type),
            kWithoutVersion);
    }
    if (item.source) return;
    for (const auto& [name, property] : item.type->properties) {
      if (!property.definition.default_value || find(item.own, name)) continue;
      wrong(node, "has no '{}', for which {} has a default{}", name, text_of(*item.type),
            kWithoutVersion);
    }
  }

  void check_own_values(const Node& node) {
    const Item& item = node.item();
    // Nobody can correct what waits for removal, and nothing will be made of its values.
    if (item.is_for_removal() || item.state == ItemState::Removed) return;
    if (item.source && !item.own) return;  // told of its source
    if (item.source && !node.source()) return;
    Findings findings;
    static const Answers kNoAnswers;
    if (item.source) {
      std::set<std::string_view> own;
      for (const auto& [name, value] : *item.own) own.insert(name);
      check_values(Path(), *item.type, node.merged(), own, kNoAnswers, findings);
    } else {
      check_all_values(Path(), *item.type, item.own, kNoAnswers, findings);
    }
    for (const ModelError& error : findings.errors) {
      if (error.code == Refusal::MissingRequiredProperty) {
        wrong(node,
              "has no '{}', which {} requires; a migration with add_property and a value gives it "
              "one",
              error.property, text_of(*item.type));
      } else {
        wrong(node,
              "{}{}{}: {}; set it right while the older pack is loaded, or let a migration "
              "remove the property",
              error.property.empty() ? "" : fmt::format("'{}' of ", error.property),
              text_of(*item.type), error.property.empty() ? " has a check" : "", error.message);
      }
    }
  }

  static std::string_view removal_step(const Node& node) {
    return node.item().is_collection() ? "remove_collection" : "remove_child";
  }

  static std::string article(const Element& slot) {
    return fmt::format("'{}', a {} of '{}'", slot.definition.name, kind_word(slot.definition.kind),
                       slot.type->id);
  }

  std::string text_of(const ItemType& type) const {
    const Pack* pack = schema_.find_pack(type.pack);
    return fmt::format("item type '{}' of pack '{}' {}", type.id, type.pack,
                       pack ? pack->version : "");
  }

  template <typename... Args>
  bool wrong(const Node& node, fmt::format_string<Args...> format, Args&&... args) {
    misfits_.add(node.path(), fmt::format(format, std::forward<Args>(args)...));
    return false;
  }

  // A migration sees to these, and there is none without a newer version.
  static constexpr std::string_view kWithoutVersion =
      "; the pack was changed and needs a newer version";

  const Schema& schema_;
  const std::set<Path>& left_out_;
  Misfits& misfits_;
};

}  // namespace

void Misfits::add(const Path& path, const std::string& problem) {
  const auto [known, is_new] = by_text_.try_emplace(problem, problems_.size());
  if (!is_new) {
    ++problems_[known->second].items;
    return;
  }
  if (problems_.size() == kReasonsKept) {
    by_text_.erase(known);
    ++untold_;
    return;
  }
  problems_.push_back({path, problem, 1});
}

void Misfits::add_first(const std::string& problem) { general_.push_back(problem); }

std::string Misfits::text(std::size_t shown) const {
  std::string text;
  std::size_t lines = 0;
  std::size_t untold = untold_;
  for (const std::string& problem : general_) {
    text += fmt::format("\n  {}", problem);
    ++lines;
  }
  for (const Problem& problem : problems_) {
    if (++lines > shown) {
      untold += problem.items;
    } else if (problem.items == 1) {
      text += fmt::format("\n  {}: {}", problem.first.text(), problem.text);
    } else {
      text += fmt::format("\n  {} and {} more: {}", problem.first.text(), problem.items - 1,
                          problem.text);
    }
  }
  if (untold != 0) text += fmt::format("\n  and {} more", untold);
  return text;
}

void check_fit(const Tree& tree, const Schema& schema, const std::set<Path>& left_out,
               Misfits& misfits) {
  if (tree.root().item().type != &schema.root()) {
    misfits.add(Path(), fmt::format("is of type '{}', not 'root'", tree.root().item().type->id));
    return;
  }
  FitChecker(schema, left_out, misfits).check(tree.root());
}

}  // namespace muster::model
