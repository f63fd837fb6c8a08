#include <fmt/format.h>

#include <array>

#include "pack/decode.h"
#include "pack/word.h"

namespace muster::pack {
namespace {

using document::Document;
using document::MapReader;
using document::Problems;

constexpr std::array<std::string_view, 7> kSteps = {
    "add_property",   "remove_property",   "rename_property", "rename_type",
    "add_collection", "remove_collection", "remove_child"};

std::optional<model::MigrationStep> decode_step(const Document& file, const document::Value& value,
                                                Problems& problems) {
  const std::optional<Word> word = read_word(file, value, "step of a migration", kSteps, problems);
  if (!word) return std::nullopt;
  static const document::Value kNothing;
  MapReader reader(file, word->argument == nullptr ? kNothing : *word->argument,
                   fmt::format("step '{}'", word->word), problems);
  if (word->argument == nullptr) {
    problems.add(word->place, fmt::format("step '{}' needs a mapping with it", word->word));
    return std::nullopt;
  }
  model::MigrationStep step{{}, word->place};
  if (word->word == "add_property") {
    step.change = model::AddProperty{reader.required_text("type"), reader.required_text("property"),
                                     reader.text("value")};
  } else if (word->word == "remove_property") {
    step.change =
        model::RemoveProperty{reader.required_text("type"), reader.required_text("property")};
  } else if (word->word == "rename_property") {
    step.change = model::RenameProperty{reader.required_text("type"), reader.required_text("from"),
                                        reader.required_text("to")};
  } else if (word->word == "rename_type") {
    step.change = model::RenameType{reader.required_text("from"), reader.required_text("to")};
  } else if (word->word == "add_collection") {
    step.change =
        model::AddCollection{reader.required_text("type"), reader.required_text("collection")};
  } else {
    const bool is_collection = word->word == "remove_collection";
    step.change = model::RemoveElement{reader.required_text("type"),
                                       reader.required_text(is_collection ? "collection" : "child"),
                                       is_collection};
  }
  reader.finish();
  return step;
}

}  // namespace

std::vector<model::Migration> decode_migrations(const Document& file, const document::List* list,
                                                Problems& problems) {
  std::vector<model::Migration> migrations;
  if (list == nullptr) return migrations;
  for (const document::Value& value : *list) {
    MapReader reader(file, value, "a migration", problems);
    model::Migration migration;
    migration.place = reader.place();
    migration.version = reader.required_text("version");
    if (const document::List* steps = reader.list("steps")) {
      for (const document::Value& step : *steps) {
        auto decoded = decode_step(file, step, problems);
        if (decoded) migration.steps.push_back(std::move(*decoded));
      }
    }
    reader.finish();
    migrations.push_back(std::move(migration));
  }
  return migrations;
}

}  // namespace muster::pack
