#include <algorithm>

#include "base/nearest.h"
#include "model/quoted.h"
#include "model/schema_builder.h"

namespace muster::model {
namespace {

// Follows `require` to its end from one element on. Elements of one type are few, so the walk is
// made anew for each of them. A walk that comes home leaves its way in `cycle`.
struct RequireWalk {
  const ItemType& type;
  std::set<std::string, std::less<>> seen = {};
  std::vector<std::string> way = {};
  std::vector<std::string> cycle = {};

  void follow(const Element& element, const std::string& home) {
    way.push_back(element.definition.name);
    for (const std::string& name : element.definition.require) {
      if (name == home && cycle.empty()) cycle = way;
      const Element* next = type.find_element(name);
      if (next != nullptr && name != home && seen.insert(name).second) follow(*next, home);
    }
    way.pop_back();
  }
};

}  // namespace

void SchemaBuilder::resolve_require(Draft& draft) {
  ItemType& type = *draft.type;
  std::vector<std::string_view> names;
  for (const Element& element : type.elements) names.push_back(element.definition.name);
  std::set<std::string> told;
  for (Element& element : type.elements) {
    const ElementDefinition& definition = element.definition;
    const bool own =
        std::any_of(draft.definition->elements.begin(), draft.definition->elements.end(),
                    [&](const ElementDefinition& mine) { return mine.name == definition.name; });
    if (!own) continue;  // told with the base, which cannot require what it does not know
    for (const std::string& name : definition.require) {
      if (draft.incomplete || type.find_element(name) != nullptr) continue;
      error(definition.place, "element '{}' requires {}, which is no element of '{}'{}",
            definition.name, quoted(name), type.id, did_you_mean(name, names));
    }
    RequireWalk walk{type};
    walk.follow(element, definition.name);
    element.after.assign(walk.seen.begin(), walk.seen.end());
    if (walk.cycle.empty() || told.contains(definition.name)) continue;
    told.insert(walk.cycle.begin(), walk.cycle.end());
    error(definition.place, "item type '{}': elements require each other in a circle: {}", type.id,
          arrows(walk.cycle));
  }
}

}  // namespace muster::model
