#include <cstdint>
#include <string_view>

#include "base/nearest.h"
#include "base/overloaded.h"
#include "model/quoted.h"
#include "model/schema_builder.h"
#include "model/value_check.h"

namespace muster::model {
namespace {

// Later steps are followed for each step, so the work grows with the square of their number.
constexpr std::size_t kStepsMax = 1000;

// A name that a step leaves behind, on its way through the later steps.
struct Trace {
  enum class Of : std::uint8_t { Type, Property, Collection, Child };

  std::string type;
  std::string member = {};  // none: only the type is named
  Of of = Of::Type;
  bool removed = false;

  void pass(const MigrationStep& step) {
    if (const auto* renamed = std::get_if<RenameType>(&step.change)) {
      if (type == renamed->from) type = renamed->to;
    } else if (const auto* property = std::get_if<RenameProperty>(&step.change)) {
      if (is(Of::Property, property->type, property->from)) member = property->to;
    } else {
      const Trace other = trace_of(step);
      if (is(other.of, other.type, other.member)) removed = other.removed;
    }
  }

  bool is(Of other, std::string_view other_type, std::string_view name) const {
    return of == other && type == other_type && member == name;
  }

  static Trace trace_of(const MigrationStep& step) {
    return std::visit(
        Overloaded{
            [](const AddProperty& add) { return Trace{add.type, add.property, Of::Property}; },
            [](const RemoveProperty& gone) {
              return Trace{gone.type, gone.property, Of::Property, true};
            },
            [](const RenameProperty& renamed) {
              return Trace{renamed.type, renamed.to, Of::Property};
            },
            [](const RenameType& renamed) { return Trace{renamed.to}; },
            [](const AddCollection& add) {
              return Trace{add.type, add.collection, Of::Collection};
            },
            [](const RemoveElement& gone) {
              return Trace{gone.type, gone.element, gone.is_collection ? Of::Collection : Of::Child,
                           true};
            },
        },
        step.change);
  }

  std::string_view word() const {
    switch (of) {
      case Of::Type:
      case Of::Property:
        break;
      case Of::Collection:
        return "collection";
      case Of::Child:
        return "child";
    }
    return "property";
  }

  bool is_there(const ItemType& in) const {
    if (of == Of::Property) return in.find_property(member) != nullptr;
    const Element* element = in.find_element(member);
    return element != nullptr && element->is_collection() == (of == Of::Collection);
  }
};

}  // namespace

void SchemaBuilder::check_migrations() {
  for (const PackDefinition& pack : packs_) {
    check_migration_versions(pack);
    std::vector<const MigrationStep*> steps;
    for (const Migration& migration : pack.migrations) {
      for (const MigrationStep& step : migration.steps) steps.push_back(&step);
    }
    if (steps.size() > kStepsMax) {
      error(pack.place, "pack '{}' has {} migration steps; at most {} are allowed", pack.name,
            steps.size(), kStepsMax);
      continue;
    }
    for (std::size_t i = 0; i < steps.size(); ++i) check_step(pack, steps, i);
  }
}

void SchemaBuilder::check_migration_versions(const PackDefinition& pack) {
  const Migration* before = nullptr;
  for (const Migration& migration : pack.migrations) {
    if (const std::string problem = version_problem(migration.version); !problem.empty()) {
      error(migration.place, "the migration's version {}", problem);
      continue;
    }
    if (compare_versions(migration.version, pack.version) > 0) {
      error(migration.place, "a migration to {}, which is newer than the pack itself, {}",
            migration.version, pack.version);
    }
    if (before != nullptr && compare_versions(before->version, migration.version) >= 0) {
      error(migration.place, "a migration to {} after one to {}; the oldest comes first",
            migration.version, before->version);
    }
    before = &migration;
  }
}

void SchemaBuilder::check_step(const PackDefinition& pack,
                               const std::vector<const MigrationStep*>& steps, std::size_t at) {
  const MigrationStep& step = *steps[at];
  Trace trace = Trace::trace_of(step);
  for (std::size_t later = at + 1; later < steps.size(); ++later) trace.pass(*steps[later]);

  const auto found = drafts_.find(trace.type);
  if (found == drafts_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [id, draft] : drafts_) names.push_back(id);
    error(step.place, "the migrations lead to item type {}, which no pack defines{}",
          quoted(trace.type), did_you_mean(trace.type, names));
    return;
  }
  const Draft& draft = found->second;
  check_reach(pack, draft.pack->name, step.place, fmt::format("item type '{}'", trace.type));
  if (trace.member.empty() || draft.incomplete) return;
  const bool exists = trace.is_there(*draft.type);
  if (trace.removed && exists) {
    error(step.place, "the migrations remove {} {} of '{}', which still has it", trace.word(),
          quoted(trace.member), trace.type);
  } else if (!trace.removed && !exists) {
    error(step.place, "the migrations lead to {} {} of '{}', which has none of that name",
          trace.word(), quoted(trace.member), trace.type);
  } else if (const auto* add = std::get_if<AddProperty>(&step.change); add && exists) {
    check_added_value(step.place, *add, *draft.type->find_property(trace.member));
  }
}

void SchemaBuilder::check_added_value(const Place& place, const AddProperty& step,
                                      const Property& property) {
  const PropertyDefinition& definition = property.definition;
  if (!step.value) {
    if (!definition.required || definition.default_value) return;
    error(place, "property '{}' is required and has no default; the step needs a `value`",
          step.property);
    return;
  }
  if (property.type == nullptr) return;
  const std::string problem = value_problem(*property.type, *step.value,
                                            definition.secret ? ShowValue::No : ShowValue::Yes);
  if (!problem.empty()) {
    error(place, "the value for property '{}' is refused by its type: {}", step.property, problem);
  }
}

}  // namespace muster::model
