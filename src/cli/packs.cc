#include "cli/packs.h"

#include <algorithm>

#include "base/nearest.h"
#include "cli/action_views.h"
#include "cli/table.h"
#include "cli/text.h"
#include "model/json_schema.h"
#include "model/quoted.h"

namespace muster::cli {
namespace {

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Json problem_json(const document::Problem& problem) {
  return {{"file", problem.place.file},
          {"line", problem.place.line},
          {"column", problem.place.column},
          {"message", problem.message}};
}

std::vector<std::string> item_types_of(const model::Schema& schema, const std::string& pack) {
  std::vector<std::string> names;
  for (const auto& [id, type] : schema.item_types()) {
    if (type->pack == pack) names.push_back(id);
  }
  return names;
}

std::vector<std::string> property_types_of(const model::Schema& schema, const std::string& pack) {
  std::vector<std::string> names;
  for (const auto& [id, type] : schema.property_types()) {
    if (type->pack == pack) names.push_back(id);
  }
  return names;
}

std::vector<std::string> needs_of(const model::Pack& pack) {
  std::vector<std::string> needs;
  for (const model::PackNeed& need : pack.needs) {
    needs.push_back(need.version.empty() ? need.pack
                                         : fmt::format("{} >= {}", need.pack, need.version));
  }
  return needs;
}

std::vector<std::string> migrations_of(const model::Pack& pack) {
  std::vector<std::string> versions;
  for (const model::Migration& migration : pack.migrations) versions.push_back(migration.version);
  return versions;
}

Json pack_json(const pack::LoadedPack& loaded, const model::Schema& schema) {
  const model::Pack& pack = *schema.find_pack(loaded.name);
  Json needs = Json::object();
  for (const model::PackNeed& need : pack.needs) needs[need.pack] = need.version;
  return {{"name", pack.name},
          {"version", pack.version},
          {"description", pack.description},
          {"needs", std::move(needs)},
          {"folder", loaded.folder},
          {"plugin", loaded.program.empty() ? Json() : Json(loaded.program)},
          {"templates", loaded.has_templates},
          {"migrations", migrations_of(pack)},
          {"item_types", item_types_of(schema, pack.name)},
          {"property_types", property_types_of(schema, pack.name)}};
}

}  // namespace

Outcome<pack::LoadedPacks> load_all(Context& context, const pack::PackOptions& options) {
  MUSTER_TRY_ASSIGN(const pack::LoadRequest request, pack::all_packs(options));
  pack::LoadedPacks loaded = pack::load_packs(request);
  if (loaded.good()) return loaded;
  for (const document::Problem& problem : loaded.problems) {
    context.console.warn(printable(to_text(problem)) + "\n");
  }
  Failure failure;
  failure.detail = fmt::format("the packs have {}", counted(loaded.problems.size(), "problem"));
  failure.code = "invalid_pack";
  return fail(std::move(failure));
}

Outcome<ExitCode> check_packs(Context& context, const pack::PackOptions& options) {
  MUSTER_TRY_ASSIGN(const pack::LoadRequest request, pack::only_packs(options));
  const pack::LoadedPacks loaded = pack::load_packs(request);
  if (wants_document(context)) {
    Json problems = Json::array();
    for (const document::Problem& problem : loaded.problems) {
      problems.push_back(problem_json(problem));
    }
    print_document(context, {{"problems", std::move(problems)}});
  } else {
    for (const document::Problem& problem : loaded.problems) {
      context.console.out(printable(to_text(problem)) + "\n");
    }
  }
  if (loaded.good()) {
    context.console.say(
        fmt::format("{} checked, nothing is wrong\n", counted(options.extra.size(), "pack")));
    return ExitCode::Ok;
  }
  context.console.say(fmt::format("{} checked, {}\n", counted(options.extra.size(), "pack"),
                                  counted(loaded.problems.size(), "problem")));
  return ExitCode::Error;
}

Outcome<ExitCode> list_packs(Context& context, const pack::PackOptions& options) {
  MUSTER_TRY_ASSIGN(const pack::LoadedPacks loaded, load_all(context, options));
  if (wants_document(context)) {
    Json packs = Json::array();
    for (const pack::LoadedPack& pack : loaded.packs) {
      packs.push_back(pack_json(pack, *loaded.schema));
    }
    print_document(context, {{"packs", std::move(packs)}});
    return ExitCode::Ok;
  }
  Table table({{.title = "NAME"},
               {.title = "VERSION"},
               {.title = "TYPES"},
               {.title = "PLUGIN"},
               {.title = "DESCRIPTION", .shrinks = true, .width_min = 10},
               {.title = "NEEDS", .wide_only = true},
               {.title = "FOLDER", .wide_only = true}});
  for (const pack::LoadedPack& entry : loaded.packs) {
    if (context.options.format == Format::Name) {
      context.console.out(entry.name + "\n");
      continue;
    }
    const model::Pack& pack = *loaded.schema->find_pack(entry.name);
    table.add_row({{pack.name},
                   {pack.version},
                   {std::to_string(item_types_of(*loaded.schema, pack.name).size())},
                   {pack.has_plugin ? "yes" : "no"},
                   {pack.description},
                   {joined(needs_of(pack))},
                   {entry.folder}});
  }
  if (context.options.format != Format::Name) {
    context.console.out(table.render(table_options(context)));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> show_pack(Context& context, const pack::PackOptions& options,
                            const std::string& name) {
  MUSTER_TRY_ASSIGN(const pack::LoadedPacks loaded, load_all(context, options));
  const auto found = std::find_if(loaded.packs.begin(), loaded.packs.end(),
                                  [&](const pack::LoadedPack& pack) { return pack.name == name; });
  if (found == loaded.packs.end()) {
    std::vector<std::string_view> names;
    for (const auto& [known, pack] : loaded.schema->packs()) names.push_back(known);
    return fail(
        Failure(Error{ErrorCode::NotFound, fmt::format("there is no pack {}{}", model::quoted(name),
                                                       did_you_mean(name, names))}));
  }
  if (wants_document(context)) {
    print_document(context, pack_json(*found, *loaded.schema));
    return ExitCode::Ok;
  }
  if (context.options.format == Format::Name) {
    context.console.out(found->name + "\n");
    return ExitCode::Ok;
  }
  const model::Pack& pack = *loaded.schema->find_pack(name);
  context.console.out(
      detail_lines({{"name", pack.name},
                    {"version", pack.version},
                    {"description", pack.description},
                    {"needs", joined(needs_of(pack))},
                    {"folder", found->folder},
                    {"plugin", found->program},
                    {"templates", found->has_templates ? "yes" : ""},
                    {"migrations to", joined(migrations_of(pack))},
                    {"item types", joined(item_types_of(*loaded.schema, name))},
                    {"property types", joined(property_types_of(*loaded.schema, name))}}));
  return ExitCode::Ok;
}

std::vector<Candidate> pack_values(std::string_view type) {
  std::vector<Candidate> values;
  const Result<pack::LoadRequest> request = pack::all_packs({});
  if (!request) return values;
  const pack::LoadedPacks loaded = pack::load_packs(*request);
  if (!loaded.good()) return values;
  if (type == "PACK") {
    for (const auto& [name, pack] : loaded.schema->packs()) {
      values.push_back({name, pack.description});
    }
  } else {
    for (const auto& [id, item_type] : loaded.schema->item_types()) {
      values.push_back({id, item_type->description});
    }
  }
  return values;
}

Outcome<ExitCode> print_schema(Context& context, const pack::PackOptions& options) {
  MUSTER_TRY_ASSIGN(const pack::LoadedPacks loaded, load_all(context, options));
  const Json schema = model::json_schema_of(*loaded.schema);
  if (context.options.format == Format::Yaml) {
    print_document(context, schema);
  } else {
    context.console.out(dump_json(schema, 2) + "\n");
  }
  return ExitCode::Ok;
}

}  // namespace muster::cli
