#include "plan/ruleset.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/nearest.h"
#include "model/quoted.h"

namespace muster::plan {
namespace {

class RulesetBuilder {
 public:
  RulesetBuilder(std::vector<Group> groups, const model::Schema& schema)
      : groups_(std::move(groups)), schema_(schema) {}

  BuiltRuleset build() && {
    take_names();
    for (const Group& group : groups_) check_group(group);
    check_unmatched();
    put_in_order();
    if (errors_.empty()) check_cluster_groups();
    check_type_count();
    if (!errors_.empty()) {
      std::sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) {
        return std::tie(a.place.file, a.place.line, a.place.column, a.message) <
               std::tie(b.place.file, b.place.line, b.place.column, b.message);
      });
      return {std::nullopt, std::move(errors_)};
    }
    return {Ruleset{std::move(groups_), std::move(order_), unmatched_}, {}};
  }

 private:
  template <typename... Args>
  void error(const model::Place& place, fmt::format_string<Args...> format, Args&&... args) {
    errors_.push_back({place, fmt::format(format, std::forward<Args>(args)...)});
  }

  void take_names() {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      const auto [name, new_name] = by_name_.emplace(group.name, i);
      if (!new_name) {
        error(group.place, "group '{}' is there already, at {}", group.name,
              to_text(groups_[name->second].place));
      }
      if (group.tag.empty()) continue;
      const auto [tag, new_tag] = by_tag_.emplace(group.tag, i);
      if (!new_tag) {
        error(group.place, "tag '{}' of group '{}' is also that of group '{}'", group.tag,
              group.name, groups_[tag->second].name);
      }
    }
    for (const auto& [name, index] : by_name_) names_.push_back(name);
    for (const auto& [tag, index] : by_tag_) tags_.push_back(tag);
  }

  void check_group(const Group& group) {
    for (const std::string& required : group.requires_groups) {
      if (by_name_.contains(required)) continue;
      error(group.place, "group '{}' requires {}, which is no group{}", group.name,
            model::quoted(required), did_you_mean(required, names_));
    }
    if (group.lockable && !group.per_cluster) {
      error(group.place,
            "group '{}' is lockable, but not per cluster; only nodes of a cluster are "
            "locked",
            group.name);
    }
    for (const Condition& condition : group.criteria) {
      check_condition(condition);
      const bool empty = condition.tasks.empty() && condition.tag.empty() &&
                         condition.node == NodeKind::Any && condition.item_below.empty() &&
                         condition.item_not_below.empty();
      if (empty) {
        error(condition.place,
              "a criterion of group '{}' that every task meets; use "
              "`takes_unmatched` for what belongs nowhere else",
              group.name);
      }
    }
    for (const Constraint& constraint : group.constraints) check_condition(constraint.must);
  }

  void check_condition(const Condition& condition) {
    if (!condition.tag.empty() && !by_tag_.contains(condition.tag)) {
      error(condition.place, "{} is the tag of no group{}", model::quoted(condition.tag),
            did_you_mean(condition.tag, tags_));
    }
    for (const std::string* type : {&condition.item_below, &condition.item_not_below}) {
      if (type->empty() || schema_.find_item_type(*type) != nullptr) continue;
      error(condition.place, "{} is no item type{}", model::quoted(*type),
            schema_.suggest_item_type(*type));
    }
    const bool is_config = condition.tasks == std::vector{TaskKind::Config};
    if (condition.node != NodeKind::Any && !is_config) {
      error(condition.place, "only config tasks have a node; say `task: config` beside `node`");
    }
  }

  void check_unmatched() {
    std::vector<std::string> takers;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (!groups_[i].takes_unmatched) continue;
      takers.push_back(groups_[i].name);
      unmatched_ = i;
    }
    if (takers.size() == 1) return;
    const model::Place place = groups_.empty() ? model::Place() : groups_.front().place;
    error(place, "exactly one group takes tasks that belong to no group; {}",
          takers.empty() ? "none does" : model::quoted_list(takers) + " do");
  }

  // Again and again the first group whose requirements are all placed: an order that depends on
  // nothing but the ruleset. Groups are few.
  void put_in_order() {
    std::set<std::string_view> placed;
    std::vector<bool> done(groups_.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < groups_.size() && !moved; ++i) {
        const auto& wanted = groups_[i].requires_groups;
        const bool ready = std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
          return placed.contains(name) || !by_name_.contains(name);
        });
        if (done[i] || !ready) continue;
        done[i] = moved = true;
        placed.insert(groups_[i].name);
        order_.push_back(i);
      }
    }
    if (order_.size() == groups_.size()) return;
    tell_cycle(done);
  }

  // From a group that is not placed there is always a way to another one that is not.
  void tell_cycle(const std::vector<bool>& done) {
    std::size_t at =
        static_cast<std::size_t>(std::find(done.begin(), done.end(), false) - done.begin());
    std::vector<std::string> way;
    while (std::find(way.begin(), way.end(), groups_[at].name) == way.end()) {
      way.push_back(groups_[at].name);
      for (const std::string& name : groups_[at].requires_groups) {
        const auto next = by_name_.find(name);
        if (next == by_name_.end() || done[next->second]) continue;
        at = next->second;
        break;
      }
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), groups_[at].name));
    error(groups_[at].place, "groups require each other in a circle: {}", model::arrows(way));
  }

  void check_cluster_groups() {
    std::string last;
    std::string last_lockable;
    bool ended = false;
    for (const std::size_t index : order_) {
      const Group& group = groups_[index];
      if (!group.per_cluster) {
        ended = ended || !last.empty();
        continue;
      }
      if (ended) {
        error(group.place,
              "group '{}' is per cluster, but another group stands between it and "
              "'{}'; the groups of a cluster follow each other",
              group.name, last);
      }
      if (group.lockable && !last_lockable.empty() && last_lockable != last) {
        error(group.place,
              "group '{}' is lockable, but another group stands between it and '{}'; a node is "
              "locked once for all of them",
              group.name, last_lockable);
      }
      if (group.lockable) last_lockable = group.name;
      last = group.name;
    }
  }

  // The planner keeps what an item is in the bits of one number, and needs three for itself.
  void check_type_count() {
    std::set<std::string_view> types;
    const auto take = [&](const Condition& condition) {
      types.insert(condition.item_below);
      types.insert(condition.item_not_below);
    };
    for (const Group& group : groups_) {
      for (const Condition& condition : group.criteria) take(condition);
      for (const Constraint& constraint : group.constraints) take(constraint.must);
    }
    types.erase("");
    if (types.size() <= kRulesetTypesMax) return;
    error(groups_.front().place, "a ruleset of {} item types; at most {} are allowed", types.size(),
          kRulesetTypesMax);
  }

  std::vector<Group> groups_;
  const model::Schema& schema_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::map<std::string, std::size_t, std::less<>> by_tag_;
  std::vector<std::string_view> names_;
  std::vector<std::string_view> tags_;
  std::vector<std::size_t> order_;
  std::size_t unmatched_ = 0;
  std::vector<model::DefinitionError> errors_;
};

}  // namespace

const Group* Ruleset::find_group(std::string_view name) const {
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& group) { return group.name == name; });
  return found == groups.end() ? nullptr : &*found;
}

const Group* Ruleset::find_by_tag(std::string_view tag) const {
  if (tag.empty()) return nullptr;
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& group) { return group.tag == tag; });
  return found == groups.end() ? nullptr : &*found;
}

BuiltRuleset build_ruleset(std::vector<Group> groups, const model::Schema& schema) {
  return RulesetBuilder(std::move(groups), schema).build();
}

}  // namespace muster::plan
