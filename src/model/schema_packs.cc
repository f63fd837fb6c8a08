#include <algorithm>

#include "base/nearest.h"
#include "model/quoted.h"
#include "model/schema_builder.h"

namespace muster::model {

void SchemaBuilder::take_packs() {
  for (const PackDefinition& pack : packs_) {
    if (const std::string problem = type_name_problem(pack.name); !problem.empty()) {
      error(pack.place, "the pack's name {}", problem);
    }
    if (const std::string problem = version_problem(pack.version); !problem.empty()) {
      error(pack.version_place.file.empty() ? pack.place : pack.version_place,
            "the pack's version {}", problem);
    }
    const auto [other, is_new] = packs_by_name_.emplace(pack.name, &pack);
    if (!is_new) {
      error(pack.place, "pack '{}' is there already, at {}", pack.name,
            to_text(other->second->place));
    }
  }
  sort_packs();
}

void SchemaBuilder::sort_packs() {
  std::vector<const PackDefinition*> left;
  for (const PackDefinition& pack : packs_) left.push_back(&pack);
  std::stable_partition(left.begin(), left.end(),
                        [](const PackDefinition* pack) { return pack->name == "core"; });
  while (!left.empty()) {
    const auto is_left = [&](const PackNeed& need) {
      return std::any_of(left.begin(), left.end(),
                         [&](const PackDefinition* pack) { return pack->name == need.pack; });
    };
    auto next = std::find_if(left.begin(), left.end(), [&](const PackDefinition* pack) {
      return std::none_of(pack->needs.begin(), pack->needs.end(), is_left);
    });
    if (next == left.end()) next = left.begin();  // they need each other, which is told
    in_order_.push_back(*next);
    left.erase(next);
  }
}

const PackDefinition* SchemaBuilder::other_with_item_type(std::string_view id) const {
  for (const PackDefinition* pack : options_.others) {
    for (const ItemTypeDefinition& type : pack->item_types) {
      if (type.id == id) return pack;
    }
  }
  return nullptr;
}

const PackDefinition* SchemaBuilder::other_with_property_type(std::string_view id) const {
  for (const PackDefinition* pack : options_.others) {
    for (const PropertyTypeDefinition& type : pack->property_types) {
      if (type.id == id) return pack;
    }
  }
  return nullptr;
}

void SchemaBuilder::check_needs() {
  std::vector<std::string_view> names;
  for (const auto& [name, pack] : packs_by_name_) names.push_back(name);
  for (const auto& [name, pack] : packs_by_name_) {
    for (const PackNeed& need : pack->needs) {
      const std::string problem = need.version.empty() ? "" : version_problem(need.version);
      if (!problem.empty()) error(need.place, "the needed version {}", problem);
      const auto found = packs_by_name_.find(need.pack);
      if (found == packs_by_name_.end()) {
        error(need.place, "pack '{}' needs pack {}, which is not there{}", name, quoted(need.pack),
              did_you_mean(need.pack, names));
      } else if (problem.empty() && compare_versions(found->second->version, need.version) < 0) {
        error(need.place, "pack '{}' needs pack '{}' {} or newer; the one at {} is {}", name,
              need.pack, need.version, to_text(found->second->place), found->second->version);
      }
    }
  }
  check_need_cycles();
}

// A walk from each pack over what it needs: where it comes to is what the pack may use, and a walk
// that comes home is a cycle.
void SchemaBuilder::check_need_cycles() {
  std::set<std::string, std::less<>> told;
  for (const auto& [start, start_pack] : packs_by_name_) {
    std::map<std::string, std::string, std::less<>> reached_from;
    std::vector<std::string> next = {start};
    std::vector<std::string> cycle;
    while (!next.empty()) {
      const std::string name = next.back();
      next.pop_back();
      const auto pack = packs_by_name_.find(name);
      if (pack == packs_by_name_.end()) continue;
      for (const PackNeed& need : pack->second->needs) {
        if (need.pack == start && cycle.empty()) {
          for (std::string at = name; at != start; at = reached_from[at]) {
            cycle.insert(cycle.begin(), at);
          }
          cycle.insert(cycle.begin(), start);
        }
        if (need.pack != start && reached_from.emplace(need.pack, name).second) {
          next.push_back(need.pack);
        }
      }
    }
    auto& reach = reach_[start];
    reach.insert(start);
    for (const auto& [name, from] : reached_from) reach.insert(name);
    if (cycle.empty() || told.contains(start)) continue;
    told.insert(cycle.begin(), cycle.end());
    error(start_pack->place, "packs need each other in a circle: {}", arrows(cycle));
  }
}

void SchemaBuilder::check_reach(const PackDefinition& user, std::string_view owner,
                                const Place& place, std::string_view what) {
  if (user.name == owner || reach_[user.name].contains(owner)) return;
  error(place, "{} is defined by pack '{}', which pack '{}' does not need; add it to `needs`", what,
        owner, user.name);
}

}  // namespace muster::model
