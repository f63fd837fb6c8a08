#include <fmt/format.h>

#include "sitefile/placeholders.h"

namespace muster::sitefile {
namespace {

// What the types say of a place.
struct Slot {
  const model::ItemType* type = nullptr;  // null: unknown
  bool is_collection = false;
  bool may_be_subtype = false;  // an inherited item, whose source is not at hand
};

Slot declared(Slot slot, const model::Declaration& declaration, const model::Schema& schema) {
  if (slot.is_collection) return slot;
  if (declaration.type) {
    slot.type = schema.find_item_type(*declaration.type);
    slot.may_be_subtype = false;
  } else if (declaration.inherit) {
    slot.may_be_subtype = true;
  }
  return slot;
}

Slot below(const Slot& slot, std::string_view id) {
  if (!slot.type) return {};
  if (slot.is_collection) return {slot.type, false, false};
  const model::Element* element = slot.type->find_element(id);
  if (!element) return {};
  return {element->type, element->is_collection(), slot.may_be_subtype};
}

bool may_carry_placeholder(const Slot& slot, const std::string& name, const model::Schema& schema) {
  bool known = false;
  for (const auto& [id, type] : schema.item_types()) {
    if (type.get() != slot.type && !(slot.may_be_subtype && type->is_a(*slot.type))) continue;
    const model::Property* property = type->find_property(name);
    if (!property) continue;
    known = true;
    if (property->definition.site_specific) return true;
  }
  return !known;
}

}  // namespace

void check_site_specific(const std::vector<Placeholders::Found>& found, const model::Path& at,
                         const model::Declaration& declaration, const model::Schema& schema,
                         document::Problems& problems) {
  for (const Placeholders::Found& each : found) {
    Slot slot;
    if (at.is_root()) slot.type = &schema.root();
    const model::Declaration* here = &declaration;
    slot = declared(slot, *here, schema);
    const std::vector<std::string_view> segments = each.path.segments();
    for (std::size_t i = at.segments().size(); i < segments.size(); ++i) {
      const auto child = here->children.find(std::string(segments[i]));
      if (child == here->children.end()) break;
      here = &child->second;
      slot = declared(below(slot, segments[i]), *here, schema);
    }
    if (!slot.type || slot.is_collection) continue;
    if (may_carry_placeholder(slot, each.property, schema)) continue;
    problems.add(each.place,
                 fmt::format("'{}' of {} is not site-specific: it takes no placeholder, write the "
                             "value here",
                             each.property, slot.type->id));
  }
}

}  // namespace muster::sitefile
