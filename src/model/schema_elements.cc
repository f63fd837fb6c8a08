#include <algorithm>

#include "base/nearest.h"
#include "model/path.h"
#include "model/quoted.h"
#include "model/schema_builder.h"

namespace muster::model {
namespace {

bool is_reference(ElementKind kind) {
  return kind == ElementKind::Reference || kind == ElementKind::RefCollection;
}

bool is_collection(ElementKind kind) {
  return kind == ElementKind::Collection || kind == ElementKind::RefCollection;
}

}  // namespace

void SchemaBuilder::fill_elements(Draft& draft) {
  for (const ElementDefinition& definition : draft.definition->elements) {
    check_element(draft, definition);
    if (check_member_name(draft, "element", definition.name, definition.place)) {
      add_element(draft, definition);
    }
  }
  check_twin_children(draft);
}

void SchemaBuilder::add_element(Draft& draft, const ElementDefinition& definition) {
  const auto found = drafts_.find(definition.type);
  const ItemType* type = nullptr;
  if (definition.type.empty()) {
    error(definition.place,
          "element '{}' has no type; it is a child, collection, reference or ref_collection of one",
          definition.name);
  } else if (const PackDefinition* const other = other_with_item_type(definition.type);
             found == drafts_.end() && other != nullptr) {
    check_reach(*draft.pack, other->name, definition.place,
                fmt::format("item type '{}'", definition.type));
  } else if (found == drafts_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [id, known] : drafts_) names.push_back(id);
    error(definition.place, "element '{}' is of item type {}, which no pack defines{}",
          definition.name, quoted(definition.type), did_you_mean(definition.type, names));
  } else {
    type = found->second.type.get();
    if (!clashed_items_.contains(definition.type)) {
      check_reach(*draft.pack, found->second.pack->name, definition.place,
                  fmt::format("item type '{}'", definition.type));
    }
  }
  draft.type->elements.push_back({definition, type, {}});
}

void SchemaBuilder::check_element(Draft& draft, const ElementDefinition& definition) {
  const std::string& id = draft.definition->id;
  if (const std::string problem = type_name_problem(definition.name); !problem.empty()) {
    error(definition.place, "item type '{}': {}", id, problem);
  }
  if (is_reserved_word(definition.name)) {
    error(definition.place,
          "item type '{}': no element may be called '{}', which has its own meaning in a model "
          "file",
          id, definition.name);
  }
  const auto of = drafts_.find(definition.type);
  if (definition.kind == ElementKind::Child && definition.required && of != drafts_.end() &&
      of->second.definition->is_abstract) {
    error(definition.place,
          "element '{}': a required child is made with its parent, but '{}' is abstract",
          definition.name, definition.type);
  }
  if (is_collection(definition.kind)) {
    if (definition.max == 0 || definition.min > definition.max) {
      error(definition.place, "element '{}': {} to {} items leave no number that is right",
            definition.name, definition.min, definition.max);
    }
    if (definition.required) {
      error(definition.place,
            "element '{}': a collection is always there; use `min` to require "
            "items in it",
            definition.name);
    }
  }
  if (!is_reference(definition.kind) && (definition.read_only || definition.exclusive)) {
    error(definition.place, "element '{}': only a reference can be read-only or exclusive",
          definition.name);
  }
}

void SchemaBuilder::check_twin_children(const Draft& draft) {
  const std::vector<Element>& elements = draft.type->elements;
  const std::size_t own =
      elements.size() - std::min(elements.size(), draft.definition->elements.size());
  for (std::size_t i = own; i < elements.size(); ++i) {
    const ElementDefinition& mine = elements[i].definition;
    if (mine.kind != ElementKind::Child) continue;
    for (std::size_t j = 0; j < i; ++j) {
      const ElementDefinition& other = elements[j].definition;
      const bool twins = other.kind == ElementKind::Child && other.type == mine.type &&
                         other.required == mine.required && other.require == mine.require;
      if (!twins) continue;
      error(mine.place,
            "element '{}' is the same as element '{}'; several children of one type belong in a "
            "collection",
            mine.name, other.name);
      break;
    }
  }
}

// A required child is made together with its parent, so a type may not require itself that way.
void SchemaBuilder::find_required_child_cycles() {
  std::set<const ItemType*> settled;
  for (const auto& [id, start] : drafts_) {
    struct Step {
      const ItemType* type;
      std::size_t next = 0;
    };
    std::vector<Step> walk;
    std::set<const ItemType*> on_walk;
    if (!settled.contains(start.type.get())) walk.push_back({start.type.get()});
    while (!walk.empty()) {
      Step& step = walk.back();
      on_walk.insert(step.type);
      if (step.next == step.type->elements.size()) {
        settled.insert(step.type);
        on_walk.erase(step.type);
        walk.pop_back();
        continue;
      }
      const Element& element = step.type->elements[step.next++];
      const bool made = element.definition.kind == ElementKind::Child &&
                        element.definition.required && element.type != nullptr;
      if (!made || settled.contains(element.type)) continue;
      if (!on_walk.contains(element.type)) {
        walk.push_back({element.type});
        continue;
      }
      std::vector<std::string> cycle;
      for (const Step& member : walk) {
        if (!cycle.empty() || member.type == element.type) cycle.push_back(member.type->id);
      }
      error(element.definition.place,
            "required children make each other without end: {}; make one of them optional",
            arrows(cycle));
    }
  }
}

}  // namespace muster::model
