#include "model/comparison.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "model/item_checks.h"

namespace muster::model {
namespace {

bool is_default(const Node& node, const PropertyDefinition& definition, const std::string& value) {
  return !node.source() && definition.default_value == value;
}

bool only_plugins_write(const PropertyDefinition& definition) {
  return definition.plugin_may_update && !definition.user_may_update;
}

bool is_plugin_only(const ItemType* type, std::string_view name) {
  const Property* property = type ? type->find_property(name) : nullptr;
  return property && property->definition.plugin_only;
}

// A place that is declared, and what its slot says of it.
struct Spot {
  Path path;
  const Node* node = nullptr;      // null: nothing is there yet
  const ItemType* type = nullptr;  // that an item there would have; null: unknown
  bool is_collection = false;
  const ItemType* without_slot = nullptr;  // of the item above, which has nothing called so
  bool is_reference = false;               // items there inherit
};

Spot spot_in(const ItemType& above, Path path) {
  Spot spot;
  const Element* element = above.find_element(path.id());
  spot.path = std::move(path);
  if (element) {
    spot.type = element->type;
    spot.is_collection = element->is_collection();
    spot.is_reference = element->is_reference();
  } else {
    spot.without_slot = &above;
  }
  return spot;
}

class Comparer {
 public:
  Comparer(const Schema& schema, Prune prune) : schema_(schema), prune_(prune) {}

  void compare(const Spot& spot, const Declaration& wanted) {
    if (spot.without_slot) {
      wrong(Refusal::ChildNotAllowed, spot.path, no_such_child(*spot.without_slot, spot.path.id()));
      return;
    }
    if (spot.is_collection) {
      check_bare(spot.path, wanted);
    } else if (!spot.node) {
      if (!has_type(spot, wanted)) return;
      make(spot, wanted);
      // What it takes over is not there yet; of what has no known type nothing can be said.
      if (wanted.inherit || !type_to_be(spot, wanted)) return;
    } else if (spot.node->parent()) {
      if (!compare_item(spot, wanted)) return;
    } else {
      change(spot.path, *spot.node, wanted);
    }
    compare_children(spot, wanted);
  }

  Comparison finish() {
    Comparison result;
    result.errors = std::move(errors_);
    auto& all = result.operations;
    std::move(removals_.begin(), removals_.end(), std::back_inserter(all));
    std::move(makes_.begin(), makes_.end(), std::back_inserter(all));
    for (InheritItem& inherit : sources_first()) all.emplace_back(std::move(inherit));
    std::move(updates_.begin(), updates_.end(), std::back_inserter(all));
    return result;
  }

 private:
  void wrong(Refusal code, const Path& path, std::string message) {
    errors_.push_back({code, path, "", std::move(message)});
  }

  void check_bare(const Path& path, const Declaration& wanted) {
    if (!wanted.type && !wanted.inherit && wanted.properties.empty()) return;
    wrong(Refusal::PropertyNotAllowed, path,
          fmt::format("{} is a collection: it holds items and has no type and no properties",
                      path.text()));
  }

  // False, and told: the slot takes several types, and none is named.
  bool has_type(const Spot& spot, const Declaration& wanted) {
    const bool named = wanted.type || wanted.inherit || spot.is_reference;
    if (named || !spot.type || !spot.type->is_abstract) return true;
    wrong(Refusal::InvalidType, spot.path,
          fmt::format("{} needs a 'type': {}", spot.path.text(),
                      schema_.abstract_problem(*spot.type)));
    return false;
  }

  void make(const Spot& spot, const Declaration& wanted) {
    const Path& path = spot.path;
    if (wanted.inherit) {
      inherits_.push_back({path.parent(), std::string(path.id()), *wanted.inherit,
                           to_be(type_to_be(spot, wanted), wanted.properties)});
    } else if (wanted.type || spot.type) {
      makes_.push_back({path.parent(), std::string(path.id()),
                        wanted.type ? *wanted.type : spot.type->id,
                        to_be(type_to_be(spot, wanted), wanted.properties)});
    } else {
      wrong(Refusal::InvalidType, path,
            fmt::format("{} needs a 'type' or an 'inherit'", path.text()));
    }
  }

  // False: what is below it cannot be compared yet.
  bool compare_item(const Spot& spot, const Declaration& wanted) {
    const Node& node = *spot.node;
    const Item& item = node.item();
    // Below an inherited item is what its source has; a file only names what it overrides.
    const bool taken_over = item.source && !wanted.inherit && !wanted.type;
    const bool other_source = !taken_over && wanted.inherit != item.source;
    const bool other_type = wanted.type && *wanted.type != item.type->id;
    if (wanted.inherit && !other_source && other_type) {
      wrong(Refusal::InvalidReference, spot.path,
            fmt::format("{} inherits from {}, which is of type {}, not {}", spot.path.text(),
                        item.source->text(), item.type->id, *wanted.type));
      return false;
    }
    if (other_source || other_type) {
      replace(spot, wanted);
      return !wanted.inherit && prune_ != Prune::Nothing;
    }
    if (item.is_for_removal()) {
      // Asking for it again is how it is had back; its properties are a change like any other.
      if (item.source) {
        inherits_.push_back({spot.path.parent(), std::string(spot.path.id()), *item.source, {}});
      } else {
        makes_.push_back({spot.path.parent(), std::string(spot.path.id()), item.type->id, {}});
      }
    }
    change(spot.path, node, wanted);
    return true;
  }

  void replace(const Spot& spot, const Declaration& wanted) {
    const Item& item = spot.node->item();
    if (prune_ == Prune::Nothing) {
      wrong(Refusal::ItemExists, spot.path,
            item.source ? fmt::format("{} inherits from {}; what an item is only changes when "
                                      "pruning is asked for",
                                      spot.path.text(), item.source->text())
                        : fmt::format("{} is of type {}; what an item is only changes when "
                                      "pruning is asked for",
                                      spot.path.text(), item.type->id));
      return;
    }
    removals_.push_back({spot.path});
    make(spot, wanted);
  }

  void change(const Path& path, const Node& node, const Declaration& wanted) {
    UpdateItem update{path, {}, {}};
    for (const auto& [name, value] : to_be(node.item().type, wanted.properties)) {
      const std::string* present = find(node.item().own, name);
      if (!present || *present != value) update.set.emplace(name, value);
    }
    if (prune_ != Prune::Nothing && node.item().own) {
      for (const auto& [name, value] : *node.item().own) {
        if (!wanted.properties.contains(name) && may_unset(node, name, value)) {
          update.unset.emplace_back(name);
        }
      }
    }
    if (!update.set.empty() || !update.unset.empty()) updates_.push_back(std::move(update));
  }

  bool may_unset(const Node& node, std::string_view name, const std::string& value) const {
    const Property* property = node.item().type->find_property(name);
    if (!property || is_default(node, property->definition, value)) return false;
    if (property->definition.plugin_only) return false;
    if (prune_ == Prune::Everything) return true;
    if (property->definition.secret) return false;
    return !only_plugins_write(property->definition) || node.item().state == ItemState::Initial;
  }

  void compare_children(const Spot& spot, const Declaration& wanted) {
    const bool replaced = !removals_.empty() && removals_.back().path == spot.path;
    const Node* node = replaced ? nullptr : spot.node;
    for (const auto& [id, child] : wanted.children) {
      if (const std::string problem = item_id_problem(id); !problem.empty()) {
        wrong(Refusal::Validation, spot.path, problem);
        continue;
      }
      compare(spot_below(spot, node, wanted, id), child);
    }
    if (node && prunes_below(*node)) prune_below(spot.path, *node, wanted);
  }

  Spot spot_below(const Spot& spot, const Node* node, const Declaration& wanted,
                  const std::string& id) const {
    Spot below;
    below.path = spot.path.child(id);
    below.node = node ? node->find_child(id) : nullptr;
    if (below.node) {
      below.is_collection = below.node->item().is_collection();
      below.is_reference = below.node->item().item_class == ItemClass::RefCollection;
      below.type = below.node->item().type;
      return below;
    }
    if (spot.is_collection) {
      below.type = spot.type;
      below.is_reference = spot.is_reference;
      return below;
    }
    const ItemType* above = node ? node->item().type : type_to_be(spot, wanted);
    return above ? spot_in(*above, std::move(below.path)) : below;
  }

  // A model that is had back as it was is not told what only plugins know: that stays as it is.
  GivenProperties to_be(const ItemType* type, GivenProperties properties) const {
    if (prune_ != Prune::Everything) return properties;
    std::erase_if(properties, [&](const auto& each) { return is_plugin_only(type, each.first); });
    return properties;
  }

  // Null: none that there is.
  const ItemType* type_to_be(const Spot& spot, const Declaration& wanted) const {
    return wanted.type ? schema_.find_item_type(*wanted.type) : spot.type;
  }

  bool prunes_below(const Node& node) const {
    switch (prune_) {
      case Prune::Nothing:
        return false;
      case Prune::Undeclared:
        return node.parent() && !node.item().source;
      case Prune::Everything:
        return true;
    }
    return false;
  }

  void prune_below(const Path& path, const Node& node, const Declaration& wanted) {
    for (const auto& child : node.children()) {
      const Item& item = child->item();
      if (item.is_for_removal() || wanted.children.contains(child->id())) continue;
      const Path child_path = path.child(child->id());
      const Element* slot = child->slot();
      const bool always_there =
          slot && slot->definition.required && slot->definition.kind == ElementKind::Child;
      if (item.is_collection() || always_there) {
        prune_below(child_path, *child, {});
      } else {
        removals_.push_back({child_path});
      }
    }
  }

  std::vector<InheritItem> sources_first() {
    std::map<Path, std::size_t> by_path;
    for (std::size_t i = 0; i < inherits_.size(); ++i) {
      by_path.emplace(inherits_[i].parent.child(inherits_[i].id), i);
    }
    std::vector<InheritItem> ordered;
    std::vector<bool> placed(inherits_.size(), false);
    // A chain of sources may be as long as the file, so it is followed without recursion.
    for (std::size_t i = 0; i < inherits_.size(); ++i) {
      std::vector<std::size_t> chain;
      for (std::optional<std::size_t> next = i; next && !placed[*next];) {
        placed[*next] = true;
        chain.push_back(*next);
        next = made_above(inherits_[*next].source, by_path);
      }
      for (auto index = chain.rbegin(); index != chain.rend(); ++index) {
        ordered.push_back(std::move(inherits_[*index]));
      }
    }
    return ordered;
  }

  // The operation that makes the item at `path`, or one that it stands below.
  static std::optional<std::size_t> made_above(const Path& path,
                                               const std::map<Path, std::size_t>& by_path) {
    for (Path at = path; !at.is_root(); at = at.parent()) {
      if (const auto found = by_path.find(at); found != by_path.end()) return found->second;
    }
    return std::nullopt;
  }

  const Schema& schema_;
  const Prune prune_;
  std::vector<ModelError> errors_;
  std::vector<RemoveItem> removals_;
  std::vector<CreateItem> makes_;
  std::vector<InheritItem> inherits_;
  std::vector<UpdateItem> updates_;
};

}  // namespace

Comparison compare(const Tree& tree, const Schema& schema, const Path& at,
                   const Declaration& wanted, Prune prune) {
  Comparer comparer(schema, prune);
  Spot spot;
  spot.path = at;
  spot.node = tree.find(at);
  if (spot.node) {
    spot.is_collection = spot.node->item().is_collection();
    spot.is_reference = spot.node->item().item_class == ItemClass::RefCollection;
    spot.type = spot.node->item().type;
  } else if (const Node* parent = tree.find(at.parent())) {
    if (parent->item().is_collection()) {
      spot.type = parent->item().type;
      spot.is_reference = parent->item().item_class == ItemClass::RefCollection;
    } else {
      spot = spot_in(*parent->item().type, at);
    }
  }
  comparer.compare(spot, wanted);
  return comparer.finish();
}

}  // namespace muster::model
