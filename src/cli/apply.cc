#include "cli/apply.h"

#include <cstdio>
#include <fstream>

#include "cli/fields.h"
#include "cli/model_views.h"
#include "cli/text.h"
#include "model/declaration_json.h"
#include "sitefile/site.h"

namespace muster::cli {
namespace {

Failure failure_of(const std::vector<document::Problem>& problems, const std::string& file) {
  Failure failure(Error{ErrorCode::InvalidRequest,
                        fmt::format("{} cannot be used: {} thing{} wrong in it", file,
                                    problems.size(), problems.size() == 1 ? " is" : "s are")});
  failure.code = "invalid_file";
  failure.exit = ExitCode::Usage;
  for (const document::Problem& problem : problems) {
    failure.fields.push_back({model::to_text(problem.place), "", problem.message});
  }
  return failure;
}

Outcome<sitefile::Values> values_of(const ApplyOptions& options) {
  sitefile::Values values;
  if (!options.values_file.empty()) {
    document::Problems problems;
    values = sitefile::read_values(options.values_file, problems);
    if (!problems.empty()) {
      return fail(failure_of(std::move(problems).take(), options.values_file));
    }
  }
  for (const std::string& text : options.values) {
    auto setting = sitefile::parse_setting(text);
    if (!setting) return usage("--set: {}", setting.error().message);
    values.insert_or_assign(std::move(setting->first), std::move(setting->second));
  }
  return values;
}

// An error of the model with the line that declares what it is about.
void add_places(Failure& failure, const sitefile::Places& places) {
  for (FieldProblem& field : failure.fields) {
    if (field.path.empty()) continue;
    const auto path = model::Path::parse(field.path);
    if (!path) continue;
    const model::Place place = places.find(*path, field.property);
    if (place.line == 0) continue;
    field.detail = fmt::format("{}: {}", model::to_text(place), field.detail);
  }
}

Outcome<Json> apply_file(Context& context, ApiClient& client, const ApplyOptions& options,
                         const std::string& file, const sitefile::Values& values) {
  auto at = model::Path::parse(options.at);
  if (!at) return usage("--at: {}", at.error().message);
  sitefile::Site site =
      sitefile::read_site(file, {.at = std::move(*at), .values = values, .schema = nullptr});
  if (!site.good()) return fail(failure_of(site.problems, file));
  for (const std::string& name : site.unused_values) {
    context.console.warn(fmt::format("{}: no placeholder is called '{}'\n", file, name));
  }
  Json body = {{"at", site.at.text()},
               {"model", model::to_json(site.declaration)},
               {"prune", options.prune}};
  if (!options.edit.why.empty()) body["why"] = options.edit.why;
  Outcome<Json> answer =
      send_edit(context, client, {.path = "/v1/apply", .body = &body}, options.edit);
  if (!answer) add_places(answer.error(), site.places);
  return answer;
}

}  // namespace

Outcome<ExitCode> apply_files(Context& context, ApiClient& client, const ApplyOptions& options) {
  MUSTER_TRY_ASSIGN(const sitefile::Values values, values_of(options));
  bool changes = false;
  for (const std::string& file : options.files) {
    MUSTER_TRY_ASSIGN(const Json answer, apply_file(context, client, options, file, values));
    print_edit(context, answer);
    changes = changes || json_bool(answer, "changed");
  }
  return changes && options.detailed_exitcode ? ExitCode::Changes : ExitCode::Ok;
}

Outcome<ExitCode> diff_files(Context& context, ApiClient& client, ApplyOptions options) {
  options.edit.dry_run = true;
  return apply_files(context, client, options);
}

Outcome<ExitCode> export_model(Context& context, ApiClient& client, const ExportOptions& options) {
  const Query query = {{"path", options.path}, {"format", options.format}};
  MUSTER_TRY_ASSIGN(const http::ClientResponse answer, client.fetch("/v1/export", query));
  if (options.file.empty()) {
    context.console.out(answer.body);
    return ExitCode::Ok;
  }
  // Beside it first, so that an export that fails does not spoil the last one.
  const std::string fresh = options.file + ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out << answer.body;
  out.close();
  if (!out || std::rename(fresh.c_str(), options.file.c_str()) != 0) {
    return fail(Error{ErrorCode::IoError, fmt::format("cannot write '{}'", options.file)});
  }
  context.console.say(fmt::format("written to {}\n", printable(options.file)));
  return ExitCode::Ok;
}

}  // namespace muster::cli
