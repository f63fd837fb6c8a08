#include "model/cross_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/nearest.h"
#include "model/quoted.h"

namespace muster::model {
namespace {

bool is_leaving(const Node& node) {
  return node.item().is_for_removal() || node.item().state == ItemState::Removed;
}

// Items, each before what is below it; what waits for removal is left out with everything below.
template <typename Visit>
void for_each_that_stays(const Node& node, const Visit& visit) {
  if (is_leaving(node)) return;
  if (!node.item().is_collection()) visit(node);
  for (const auto& child : node.children()) for_each_that_stays(*child, visit);
}

std::vector<std::string_view> entries_of(std::string_view list) {
  std::vector<std::string_view> entries;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    entries.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return entries;
}

// One rule of uniqueness, and who has which value so far.
struct Claims {
  UniqueCheck check;
  std::map<std::string, const Node*> by_value;
};

class CrossChecker {
 public:
  explicit CrossChecker(std::vector<ModelError>& errors) : errors_(errors) {}

  void run(const Node& root) {
    for_each_that_stays(root, [&](const Node& node) { types_.insert(node.item().type); });
    find_rules();
    if (claims_of_.empty() && !any_lists_) return;
    for_each_that_stays(root, [&](const Node& node) { check(node); });
  }

 private:
  void find_rules() {
    for (const ItemType* type : types_) {
      for (const auto& [pack, check] : type->model_checks) {
        if (const auto* unique = std::get_if<UniqueCheck>(&check)) {
          // Types that extend each other have the same rule, which counts for all of them together.
          rules_.try_emplace(*unique, Claims{*unique, {}});
        } else {
          any_lists_ = true;
        }
      }
    }
    for (auto& [check, claims] : rules_) {
      for (const ItemType* type : types_) {
        const bool concerned = std::ranges::any_of(
            check.among, [&](const std::string& each) { return type->is_a(each); });
        if (concerned) claims_of_[type].push_back(&claims);
      }
    }
  }

  void check(const Node& node) {
    const ItemType* type = node.item().type;
    // An inherited item has what its source has; that is one thing in two places.
    if (const auto found = claims_of_.find(type); found != claims_of_.end() && !node.source()) {
      for (Claims* claims : found->second) claim(node, *claims);
    }
    for (const auto& [pack, each] : type->model_checks) {
      if (const auto* lists = std::get_if<ListsCheck>(&each)) check_list(node, *lists);
    }
  }

  void claim(const Node& node, Claims& claims) {
    const UniqueCheck& check = claims.check;
    const std::string* value = node.property(check.property);
    if (!value) return;
    const auto [first, is_new] =
        claims.by_value.try_emplace(check.ignore_case ? in_lower_case(*value) : *value, &node);
    if (is_new) return;
    const Node& other = *first->second;
    const bool secret = node.item().type->is_secret(check.property);
    wrong(node, check.property, "{} has the same '{}'{}; it is unique among items of type {}{}",
          other.path().text(), check.property,
          secret ? "" : fmt::format(", {}", quoted(*other.property(check.property))),
          quoted_list(check.among), check.ignore_case ? ", in upper or lower case" : "");
  }

  void check_list(const Node& node, const ListsCheck& check) {
    const std::string* value = node.property(check.property);
    const Node* owner = node.parent();
    while (owner && (owner->item().is_collection() || !owner->item().type->is_a(check.of))) {
      owner = owner->parent();
    }
    // An item that stands elsewhere, to be inherited, names nothing yet.
    const Node* collection = owner ? owner->find_child(check.collection) : nullptr;
    if (!value || !collection) return;
    std::set<std::string_view> seen;
    for (const std::string_view id : entries_of(*value)) {
      const Node* named = collection->find_child(id);
      if (!seen.insert(id).second) {
        wrong(node, check.property, "'{}' stands twice in '{}'", id, check.property);
      } else if (named == &node) {
        wrong(node, check.property, "{} names itself in '{}'", node.path().text(), check.property);
      } else if (!named) {
        std::vector<std::string_view> ids;
        for (const auto& child : collection->children()) ids.push_back(child->id());
        wrong(node, check.property, "'{}' names '{}', which is not in {}{}", check.property, id,
              collection->path().text(), did_you_mean(id, ids));
      } else if (is_leaving(*named)) {
        wrong(node, check.property, "'{}' names {}, which is marked for removal", check.property,
              named->path().text());
      }
    }
  }

  template <typename... Args>
  void wrong(const Node& node, const std::string& property, fmt::format_string<Args...> format,
             Args&&... args) {
    errors_.push_back({Refusal::Validation, node.path(), property,
                       fmt::format(format, std::forward<Args>(args)...)});
  }

  std::vector<ModelError>& errors_;
  std::set<const ItemType*> types_;  // those that items have; the order makes no difference
  std::map<UniqueCheck, Claims> rules_;
  std::map<const ItemType*, std::vector<Claims*>> claims_of_;
  bool any_lists_ = false;
};

}  // namespace

void check_across(const Tree& tree, std::vector<ModelError>& errors) {
  CrossChecker(errors).run(tree.root());
}

}  // namespace muster::model
