#include "model/migrate.h"

#include <fmt/format.h>

#include "model/complete.h"
#include "model/version.h"

namespace muster::model {
namespace {

void drop_value(ItemRecord::Values& values, const std::string& name) {
  std::erase_if(values, [&](const auto& each) { return each.first == name; });
}

void rename_value(ItemRecord::Values& values, const std::string& from, const std::string& to) {
  const std::string* found = find(values, from);
  if (!found) return;
  const std::string value = *found;
  drop_value(values, from);
  set_if_missing(values, to, value);
}

// The steps that follow `step` may rename what it names; what it is called in the schema is where
// they lead.
class Steps {
 public:
  Steps(ItemRecords& items, const Schema& schema, std::vector<const MigrationStep*> steps)
      : items_(items), schema_(schema), steps_(std::move(steps)) {}

  void run() {
    for (at_ = 0; at_ < steps_.size(); ++at_) std::visit(*this, steps_[at_]->change);
  }

  void operator()(const AddProperty& step) {
    std::optional<std::string> value = step.value;
    if (!value) value = default_of(step.type, step.property);
    if (!value) return;  // optional, and without a default
    for_items(step.type, [&](ItemRecord& item) {
      // What is inherited has it from its source, but what was applied is told in full.
      if (item.source && item.applied_is_own) {
        item.applied = item.own;
        item.applied_is_own = false;
      }
      if (!item.source) set_if_missing(item.own, step.property, *value);
      if (item.was_applied && !item.applied_is_own) {
        set_if_missing(item.applied, step.property, *value);
      }
    });
  }
  void operator()(const RemoveProperty& step) {
    for_items(step.type, [&](ItemRecord& item) {
      drop_value(item.own, step.property);
      drop_value(item.applied, step.property);
    });
  }
  void operator()(const RenameProperty& step) {
    for_items(step.type, [&](ItemRecord& item) {
      rename_value(item.own, step.from, step.to);
      rename_value(item.applied, step.from, step.to);
    });
  }
  void operator()(const RenameType& step) {
    for (auto& [path, item] : items_) {
      if (item.type == step.from) item.type = step.to;
    }
  }
  void operator()(const AddCollection& step) {
    std::vector<Path> owners;
    for_paths(step.type, [&](const Path& path, const ItemRecord& item) {
      if (item.item_class == ItemClass::Item) owners.push_back(path);
    });
    const std::string type = final_type(step.type);
    const ItemType* owner_type = schema_.find_item_type(type);
    const Element* element = owner_type ? owner_type->find_element(step.collection) : nullptr;
    if (!element) return;  // a later step took it away with its type
    for (const Path& owner : owners) {
      items_.emplace(owner.child(step.collection), new_collection(items_.at(owner), *element));
    }
  }
  void operator()(const RemoveElement& step) {
    std::vector<Path> owners;
    for_paths(step.type, [&](const Path& path, const ItemRecord& item) {
      if (item.item_class == ItemClass::Item) owners.push_back(path);
    });
    for (const Path& owner : owners) {
      const Path place = owner.child(step.element);
      const auto found = items_.find(place);
      if (found == items_.end()) continue;
      if ((found->second.item_class != ItemClass::Item) != step.is_collection) continue;
      auto end = found;
      while (end != items_.end() && end->first.is_at_or_below(place)) ++end;
      items_.erase(found, end);
    }
  }

 private:
  // What a type of this step is called once all steps are done.
  std::string final_type(std::string type) const {
    for (std::size_t i = at_ + 1; i < steps_.size(); ++i) {
      const auto* renamed = std::get_if<RenameType>(&steps_[i]->change);
      if (renamed && renamed->from == type) type = renamed->to;
    }
    return type;
  }

  std::optional<std::string> default_of(const std::string& type_name,
                                        const std::string& name) const {
    std::string type = type_name;
    std::string property = name;
    for (std::size_t i = at_ + 1; i < steps_.size(); ++i) {
      if (const auto* renamed = std::get_if<RenameType>(&steps_[i]->change)) {
        if (renamed->from == type) type = renamed->to;
      } else if (const auto* moved = std::get_if<RenameProperty>(&steps_[i]->change)) {
        if (moved->type == type && moved->from == property) property = moved->to;
      }
    }
    const ItemType* found = schema_.find_item_type(type);
    const Property* declared = found ? found->find_property(property) : nullptr;
    return declared ? declared->definition.default_value : std::nullopt;
  }

  // Items of the type and of what extends it. Which type extends which is asked of the schema, by
  // the names that the types have there.
  template <typename Visit>
  void for_paths(const std::string& type, Visit visit) {
    const std::string wanted = final_type(type);
    std::map<std::string, bool> matches;
    for (auto& [path, item] : items_) {
      auto known = matches.find(item.type);
      if (known == matches.end()) {
        const ItemType* found = schema_.find_item_type(final_type(item.type));
        known =
            matches.emplace(item.type, item.type == type || (found && found->is_a(wanted))).first;
      }
      if (known->second) visit(path, item);
    }
  }
  template <typename Visit>
  void for_items(const std::string& type, Visit visit) {
    for_paths(type, [&](const Path&, ItemRecord& item) {
      if (item.item_class == ItemClass::Item) visit(item);
    });
  }

  ItemRecords& items_;
  const Schema& schema_;
  const std::vector<const MigrationStep*> steps_;
  std::size_t at_ = 0;
};

}  // namespace

PackVersions versions_of(const Schema& schema) {
  PackVersions versions;
  for (const auto& [name, pack] : schema.packs()) versions.emplace(name, pack.version);
  return versions;
}

std::vector<std::string> pack_changes(const PackVersions& from, const Schema& schema) {
  std::vector<std::string> changes;
  for (const auto& [name, pack] : schema.packs()) {
    const auto before = from.find(name);
    if (before == from.end()) {
      changes.push_back(fmt::format("{} {} is new", name, pack.version));
    } else if (before->second != pack.version) {
      changes.push_back(fmt::format("{} is {}, was {}", name, pack.version, before->second));
    }
  }
  for (const auto& [name, version] : from) {
    if (!schema.find_pack(name)) changes.push_back(fmt::format("{} {} is gone", name, version));
  }
  return changes;
}

std::vector<std::string> missing_packs(const PackVersions& from, const Schema& schema) {
  std::vector<std::string> problems;
  for (const auto& [name, version] : from) {
    if (schema.find_pack(name)) continue;
    problems.push_back(fmt::format(
        "pack '{}' {}, with which the model was made, is not loaded; give it with --pack", name,
        version));
  }
  return problems;
}

std::vector<std::string> version_problems(const PackVersions& from, const Schema& schema) {
  std::vector<std::string> problems;
  for (const auto& [name, version] : from) {
    const Pack* pack = schema.find_pack(name);
    if (!pack || compare_versions(pack->version, version) >= 0) continue;
    problems.push_back(
        fmt::format("pack '{}' is {} here, the model was made with {}; a model cannot be taken "
                    "back to an older pack",
                    name, pack->version, version));
  }
  return problems;
}

std::vector<std::string> migrate(ItemRecords& items, const PackVersions& from,
                                 const Schema& schema) {
  std::vector<std::string> done;
  for (const auto& [name, pack] : schema.packs()) {
    const auto before = from.find(name);
    if (before == from.end() || before->second == pack.version) continue;
    std::vector<const MigrationStep*> steps;
    for (const Migration& migration : pack.migrations) {
      if (compare_versions(migration.version, before->second) <= 0) continue;
      for (const MigrationStep& step : migration.steps) steps.push_back(&step);
    }
    done.push_back(fmt::format("{} {} to {}", name, before->second, pack.version));
    Steps(items, schema, std::move(steps)).run();
  }
  if (!done.empty()) complete(items, schema);
  return done;
}

}  // namespace muster::model
