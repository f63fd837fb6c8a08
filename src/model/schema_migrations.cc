#include <optional>

#include "base/nearest.h"
#include "model/quoted.h"
#include "model/schema_builder.h"

namespace muster::model {
namespace {

// Later steps are followed for each step, so the work grows with the square of their number.
constexpr std::size_t kStepsMax = 1000;

// A name that a step leaves behind, on its way through the later steps.
struct Trace {
  std::string type;
  std::string member;  // a property or collection; empty: only the type is named
  bool removed = false;

  void pass(const MigrationStep& step) {
    if (const auto* renamed = std::get_if<RenameType>(&step.change)) {
      if (type == renamed->from) type = renamed->to;
    } else if (const auto* property = std::get_if<RenameProperty>(&step.change)) {
      if (type == property->type && member == property->from) member = property->to;
    } else if (const auto* gone = std::get_if<RemoveProperty>(&step.change)) {
      if (type == gone->type && member == gone->property) removed = true;
    } else if (const auto* again = std::get_if<AddProperty>(&step.change)) {
      if (type == again->type && member == again->property) removed = false;
    }
  }
};

Trace trace_of(const MigrationStep& step) {
  if (const auto* add = std::get_if<AddProperty>(&step.change)) return {add->type, add->property};
  if (const auto* gone = std::get_if<RemoveProperty>(&step.change)) {
    return {gone->type, gone->property, true};
  }
  if (const auto* renamed = std::get_if<RenameProperty>(&step.change)) {
    return {renamed->type, renamed->to};
  }
  if (const auto* type = std::get_if<RenameType>(&step.change)) return {type->to, {}};
  const auto& collection = std::get<AddCollection>(step.change);
  return {collection.type, collection.collection};
}

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
  Trace trace = trace_of(step);
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
  if (std::holds_alternative<AddCollection>(step.change)) {
    const Element* element = draft.type->find_element(trace.member);
    if (element == nullptr || !element->is_collection()) {
      error(step.place, "the migrations lead to collection {} of '{}', which has none of that name",
            quoted(trace.member), trace.type);
    }
    return;
  }
  const bool exists = draft.type->find_property(trace.member) != nullptr;
  if (trace.removed && exists) {
    error(step.place, "the migrations remove property {} of '{}', which still has it",
          quoted(trace.member), trace.type);
  } else if (!trace.removed && !exists) {
    error(step.place, "the migrations lead to property {} of '{}', which has none of that name",
          quoted(trace.member), trace.type);
  }
}

}  // namespace muster::model
