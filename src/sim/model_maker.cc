#include "sim/model_maker.h"

#include <fmt/format.h>

#include "base/check.h"

namespace muster::sim {
namespace {

// Few enough that edits meet each other.
constexpr std::uint64_t kFolders = 2;
constexpr std::uint64_t kIds = 5;

model::PackDefinition sim_pack() {
  model::PackDefinition pack;
  pack.name = "core";
  pack.version = "1.0";
  model::PropertyTypeDefinition any;
  any.id = "any";
  pack.property_types = {any};

  const auto collection = [](std::string name, model::ElementKind kind, std::string type) {
    model::ElementDefinition element;
    element.name = std::move(name);
    element.kind = kind;
    element.type = std::move(type);
    return element;
  };
  model::PropertyDefinition value;
  value.name = "value";
  value.type = "any";
  value.required = true;
  model::PropertyDefinition note;
  note.name = "note";
  note.type = "any";
  note.default_value = "none";
  model::ItemTypeDefinition thing;
  thing.id = "thing";
  thing.properties = {value, note};
  thing.elements = {collection("parts", model::ElementKind::Collection, "thing")};
  model::ItemTypeDefinition root;
  root.id = "root";
  root.elements = {collection("f1", model::ElementKind::Collection, "thing"),
                   collection("f2", model::ElementKind::Collection, "thing"),
                   collection("uses", model::ElementKind::RefCollection, "thing")};
  pack.item_types = {root, thing};
  return pack;
}

model::Path path_of(const std::string& text) {
  auto path = model::Path::parse(text);
  MUSTER_CHECK(path.has_value(), "{} is no path", text);
  return std::move(*path);
}

}  // namespace

model::SchemaPtr sim_schema() {
  const model::BuiltSchema built = model::build_schema({sim_pack()});
  MUSTER_CHECK(built.schema != nullptr, "the types of the simulated model: {}",
               built.errors.front().message);
  return built.schema;
}

model::Path ModelMaker::folder() {
  return path_of(fmt::format("/f{}", 1 + random_.below(kFolders)));
}
std::string ModelMaker::id() { return fmt::format("t{}", random_.below(kIds)); }

model::GivenProperties ModelMaker::values() {
  model::GivenProperties values{{"value", fmt::format("v{}", ++last_value_)}};
  if (random_.coin()) values.emplace("note", fmt::format("n{}", random_.below(3)));
  return values;
}

model::Operation ModelMaker::operation() {
  const model::Path item = folder().child(id());
  switch (random_.below(8)) {
    case 0:
    case 1:
    case 2:
      return model::CreateItem{item.parent(), std::string(item.id()), "thing", values()};
    case 3:
      return model::CreateItem{item.child("parts"), id(), "thing", values()};
    case 4:
      return model::InheritItem{path_of("/uses"), id(), item, {}};
    case 5:
      return model::RemoveItem{item};
    case 6:
      return model::UpdateItem{path_of("/uses").child(id()), values(), {}};
    default:
      return model::UpdateItem{item, values(), {}};
  }
}

model::Declaration ModelMaker::declaration() {
  model::Declaration wanted;
  for (std::uint64_t i = 0; i < 1 + random_.below(3); ++i) {
    model::Declaration& item = wanted.children[id()];
    item.type = "thing";
    item.properties = values();
  }
  return wanted;
}

core::EditModel ModelMaker::make_edit(const std::string& who) {
  core::EditModel edit;
  edit.who = who;
  const std::uint64_t dice = random_.below(100);
  if (dice < 15) {
    edit.change = core::RestoreRevision{1 + random_.below(newest_ + 1)};
  } else if (dice < 35) {
    edit.change =
        core::ApplyDeclaration{folder(), std::make_shared<const model::Declaration>(declaration()),
                               random_.coin() ? model::Prune::Undeclared : model::Prune::Nothing};
  } else {
    core::ModelOperations operations;
    for (std::uint64_t i = 0; i < 1 + random_.below(2); ++i) operations.push_back(operation());
    edit.change = std::move(operations);
  }
  if (random_.chance(100'000)) edit.if_match = fmt::format("model-{}", newest_);
  edit.dry_run = random_.chance(50'000);
  return edit;
}

}  // namespace muster::sim
