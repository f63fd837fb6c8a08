#include <algorithm>

#include "base/nearest.h"
#include "model/quoted.h"
#include "model/schema_builder.h"

namespace muster::model {

void SchemaBuilder::take_item_types() {
  for (const PackDefinition* const pack : in_order_) {
    for (const ItemTypeDefinition& definition : pack->item_types) {
      if (const std::string problem = type_name_problem(definition.id); !problem.empty()) {
        error(definition.place, "{}", problem);
      }
      auto [entry, is_new] = drafts_.try_emplace(definition.id);
      Draft& draft = entry->second;
      if (!is_new) {
        error(definition.place, "item type '{}' is there already, at {}", definition.id,
              to_text(draft.definition->place));
        clashed_items_.insert(definition.id);
        continue;
      }
      draft.definition = &definition;
      draft.pack = pack;
      draft.type = std::make_unique<ItemType>();
      draft.type->id = definition.id;
      draft.type->pack = pack->name;
      draft.type->description = definition.description;
      draft.type->deprecated = definition.deprecated;
      draft.type->is_abstract = definition.is_abstract;
      draft.type->place = definition.place;
    }
  }
}

void SchemaBuilder::resolve_bases() {
  std::vector<std::string_view> names;
  for (const auto& [id, draft] : drafts_) names.push_back(id);
  for (auto& [id, draft] : drafts_) {
    const std::string& base = draft.definition->extends;
    if (base.empty()) continue;
    const auto found = drafts_.find(base);
    if (found == drafts_.end()) {
      draft.incomplete = true;
      if (const PackDefinition* const other = other_with_item_type(base)) {
        check_reach(*draft.pack, other->name, draft.definition->place,
                    fmt::format("item type '{}'", base));
      } else {
        error(draft.definition->place, "item type '{}' extends {}, which no pack defines{}", id,
              quoted(base), did_you_mean(base, names));
      }
      continue;
    }
    draft.base = &found->second;
    draft.type->base = found->second.type.get();
    if (clashed_items_.contains(base)) {
      draft.incomplete = true;
      continue;
    }
    check_reach(*draft.pack, found->second.pack->name, draft.definition->place,
                fmt::format("item type '{}'", base));
  }
}

void SchemaBuilder::find_extends_cycles() {
  std::set<const Draft*> settled;
  for (auto& [id, start] : drafts_) {
    std::vector<Draft*> walk;
    std::set<const Draft*> on_walk;
    Draft* at = &start;
    while (at != nullptr && !settled.contains(at) && on_walk.insert(at).second) {
      walk.push_back(at);
      at = at->base;
    }
    if (at != nullptr && !settled.contains(at)) {  // came back to something on this walk
      std::vector<std::string> cycle;
      const auto first = std::find(walk.begin(), walk.end(), at);
      for (auto member = first; member != walk.end(); ++member) {
        cycle.push_back((*member)->definition->id);
      }
      error(at->definition->place, "item types extend each other in a circle: {}", arrows(cycle));
      for (auto member = first; member != walk.end(); ++member) {
        (*member)->base = nullptr;
        (*member)->type->base = nullptr;
        (*member)->incomplete = true;
      }
    }
    settled.insert(walk.begin(), walk.end());
  }
}

void SchemaBuilder::mark_incomplete() {
  for (Draft* draft : in_order_of_bases()) {
    if (draft->base != nullptr && draft->base->incomplete) draft->incomplete = true;
  }
}

std::vector<SchemaBuilder::Draft*> SchemaBuilder::in_order_of_bases() {
  std::vector<Draft*> order;
  std::set<const Draft*> placed;
  for (auto& [id, start] : drafts_) {
    std::vector<Draft*> chain;
    for (Draft* at = &start; at != nullptr && !placed.contains(at); at = at->base) {
      chain.push_back(at);
    }
    for (auto draft = chain.rbegin(); draft != chain.rend(); ++draft) {
      placed.insert(*draft);
      order.push_back(*draft);
    }
  }
  return order;
}

}  // namespace muster::model
