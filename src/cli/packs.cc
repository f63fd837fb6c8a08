#include "cli/packs.h"

#include <algorithm>

#include "cli/action_views.h"
#include "cli/catalog.h"
#include "cli/fields.h"
#include "cli/table.h"
#include "cli/text.h"
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

std::vector<std::string> needs_of(const Json& pack) {
  std::vector<std::string> needs;
  for (const Json& need : json_at(pack, "needs")) {
    const std::string version = json_text(need, "version");
    needs.push_back(version.empty() ? json_text(need, "pack")
                                    : fmt::format("{} >= {}", json_text(need, "pack"), version));
  }
  return needs;
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
  MUSTER_TRY_ASSIGN(const Catalog catalog, find_catalog(context, options));
  if (wants_document(context)) {
    print_document(context, {{"packs", catalog.packs}});
    return ExitCode::Ok;
  }
  Table table({{.title = "NAME"},
               {.title = "VERSION"},
               {.title = "TYPES"},
               {.title = "PLUGIN"},
               {.title = "DESCRIPTION", .shrinks = true, .width_min = 10},
               {.title = "NEEDS", .wide_only = true},
               {.title = "FOLDER", .wide_only = true, .if_any = true}});
  for (const Json& pack : catalog.packs) {
    if (context.options.format == Format::Name) {
      context.console.out(json_text(pack, "name") + "\n");
      continue;
    }
    table.add_row({{json_text(pack, "name")},
                   {json_text(pack, "version")},
                   {std::to_string(json_at(pack, "types").size())},
                   {json_bool(pack, "plugin") ? "yes" : "no"},
                   {json_text(pack, "description")},
                   {joined(needs_of(pack))},
                   {json_text(pack, "folder")}});
  }
  if (context.options.format != Format::Name) {
    context.console.out(table.render(table_options(context)));
  }
  return ExitCode::Ok;
}

Outcome<ExitCode> show_pack(Context& context, const pack::PackOptions& options,
                            const std::string& name) {
  MUSTER_TRY_ASSIGN(const Catalog catalog, find_catalog(context, options));
  const Json* const pack = find_pack(catalog, name);
  if (pack == nullptr) {
    return fail(Failure(
        Error{ErrorCode::NotFound, fmt::format("there is no pack {}{}", model::quoted(name),
                                               suggest(name, json_texts(catalog.packs, "name")))}));
  }
  if (wants_document(context)) {
    print_document(context, *pack);
    return ExitCode::Ok;
  }
  if (context.options.format == Format::Name) {
    context.console.out(name + "\n");
    return ExitCode::Ok;
  }
  const std::string program = json_text(*pack, "program");
  context.console.out(
      detail_lines({{"name", name},
                    {"version", json_text(*pack, "version")},
                    {"description", json_text(*pack, "description")},
                    {"needs", joined(needs_of(*pack))},
                    {"folder", json_text(*pack, "folder")},
                    {"plugin", program.empty() && json_bool(*pack, "plugin") ? "yes" : program},
                    {"templates", json_bool(*pack, "templates") ? "yes" : ""},
                    {"migrations to", joined(json_texts(json_at(*pack, "migrations")))},
                    {"item types", joined(json_texts(json_at(*pack, "types")))},
                    {"property types", joined(json_texts(json_at(*pack, "property_types")))}}));
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
  MUSTER_TRY_ASSIGN(const Json schema, find_model_schema(context, options));
  if (context.options.format == Format::Yaml) {
    print_document(context, schema);
  } else {
    context.console.out(dump_json(schema, 2) + "\n");
  }
  return ExitCode::Ok;
}

}  // namespace muster::cli
