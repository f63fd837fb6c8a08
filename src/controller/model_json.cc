#include "controller/model_json.h"

#include <algorithm>
#include <set>

#include "controller/action_json.h"

namespace muster::controller {
namespace {

constexpr std::size_t kNoticesMax = 20;

Json properties_json(const model::ItemType& type, const model::PropertiesPtr& properties) {
  Json json = Json::object();
  if (!properties) return json;
  for (const auto& [name, value] : *properties) {
    json[name] = type.is_secret(name) ? Json(kSecretShown) : Json(value);
  }
  return json;
}

Json overwritten_json(const model::Item& item) {
  Json names = Json::array();
  if (!item.source || !item.own) return names;
  for (const auto& [name, value] : *item.own) names.push_back(name);
  return names;
}

std::string_view kind_of(const store::ItemChange& change) {
  if (!change.before) return "added";
  if (!change.after) return "removed";
  const bool was = change.before->state == model::ItemState::ForRemoval;
  const bool is = change.after->state == model::ItemState::ForRemoval;
  if (is && !was) return "for_removal";
  if (was && !is) return "recovered";
  return "changed";
}

// Of a type that is gone nothing is known, so nothing of it is shown.
Json value_json(const model::Schema& schema, const std::string& type, const std::string& name,
                const std::string* value) {
  if (value == nullptr) return nullptr;
  const model::ItemType* known = schema.find_item_type(type);
  return known == nullptr || known->is_secret(name) ? Json(kSecretShown) : Json(*value);
}

Json change_json(const store::ItemChange& change, const model::Schema& schema) {
  const model::ItemRecord& shown = change.after ? *change.after : *change.before;
  Json properties = Json::object();
  std::set<std::string> names;
  for (const auto* side : {&change.before, &change.after}) {
    if (!*side) continue;
    for (const auto& [name, value] : (*side)->own) names.insert(name);
  }
  for (const std::string& name : names) {
    const std::string* before = change.before ? model::find(change.before->own, name) : nullptr;
    const std::string* after = change.after ? model::find(change.after->own, name) : nullptr;
    if (before && after && *before == *after) continue;
    properties[name] = {{"before", value_json(schema, shown.type, name, before)},
                        {"after", value_json(schema, shown.type, name, after)}};
  }
  const auto state = [](const std::optional<model::ItemRecord>& item) {
    return item ? Json(model::name(item->state)) : Json();
  };
  return {{"path", change.path.text()},
          {"change", kind_of(change)},
          {"type", shown.type},
          {"class", model::name(shown.item_class)},
          {"inherited_from", shown.source ? Json(shown.source->text()) : Json()},
          {"state_before", state(change.before)},
          {"state_after", state(change.after)},
          {"properties", std::move(properties)}};
}

}  // namespace

std::size_t count_items(const model::Node& node, std::size_t depth, std::size_t limit) {
  std::size_t count = 1;
  if (depth == 0) return count;
  for (const auto& child : node.children()) {
    if (count > limit) break;
    count += count_items(*child, depth - 1, limit - std::min(limit, count));
  }
  return count;
}

Json item_row_json(const model::Node& node) {
  const model::Item& item = node.item();
  return {{"path", node.path().text()},
          {"id", node.id()},
          {"type", item.type->id},
          {"class", model::name(item.item_class)},
          {"state", model::name(item.state)},
          {"applied_properties_determinable", item.determinable},
          {"inherited_from", item.source ? Json(item.source->text()) : Json()},
          {"properties", properties_json(*item.type, node.merged())}};
}

Json item_json(const model::Node& node, std::size_t depth) {
  const model::Item& item = node.item();
  Json json = item_row_json(node);
  json["properties_overwritten"] = overwritten_json(item);
  json["applied_properties"] =
      item.was_applied ? properties_json(*item.type, item.applied) : Json();
  Json children = Json::array();
  Json items = Json::array();
  for (const auto& child : node.children()) {
    children.push_back(child->id());
    if (depth > 0) items.push_back(item_json(*child, depth - 1));
  }
  json["children"] = std::move(children);
  if (depth > 0) json["items"] = std::move(items);
  return json;
}

Json revision_json(const store::RevisionHead& head) {
  return {{"number", head.number},   {"at", time_json(head.at)}, {"who", head.who},
          {"what", head.what},       {"why", head.why},          {"added", head.added},
          {"changed", head.changed}, {"removed", head.removed},  {"migration", head.migration}};
}

Json changes_json(const std::vector<store::ItemChange>& changes, const model::Schema& schema) {
  Json rows = Json::array();
  for (const store::ItemChange& change : changes) {
    if (rows.size() == kItemsPerAnswerMax) break;
    rows.push_back(change_json(change, schema));
  }
  return rows;
}

Json changes_json(const model::ChangeSet& changes, const model::Schema& schema) {
  std::vector<store::ItemChange> records;
  const std::size_t count = std::min(changes.size(), kItemsPerAnswerMax);
  records.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    store::ItemChange record{changes[i].path, {}, {}};
    if (changes[i].before) record.before = model::to_record(*changes[i].before);
    if (changes[i].after) record.after = model::to_record(*changes[i].after);
    records.push_back(std::move(record));
  }
  return changes_json(records, schema);
}

Json notices_json(const model::ChangeSet& changes) {
  Json notices = Json::array();
  std::size_t more = 0;
  const auto add = [&](std::string notice) {
    if (notices.size() < kNoticesMax) {
      notices.push_back(std::move(notice));
    } else {
      ++more;
    }
  };
  for (const auto& [path, before, after] : changes) {
    if (!after || after->is_collection()) continue;
    const model::ItemType& type = *after->type;
    if (type.deprecated && !before) {
      add(fmt::format("{}: item type '{}' is deprecated", path.text(), type.id));
    }
    if (!after->own) continue;
    for (const auto& [name, value] : *after->own) {
      const model::Property* property = type.find_property(name);
      if (!property || !property->definition.deprecated) continue;
      const std::string* was = before ? model::find(before->own, name) : nullptr;
      if (was && *was == value) continue;
      add(fmt::format("{}: property '{}' of item type '{}' is deprecated", path.text(), name,
                      type.id));
    }
  }
  if (more > 0) notices.push_back(fmt::format("and {} more like these", more));
  return notices;
}

}  // namespace muster::controller
