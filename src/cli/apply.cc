#include "cli/apply.h"

#include <cstdio>
#include <fstream>

#include "cli/fields.h"
#include "cli/model_views.h"
#include "cli/text.h"
#include "model/declaration_json.h"
#include "sitefile/site.h"
#include "sitefile/writer.h"

namespace muster::cli {
namespace {

// `more` are of the model, about the same file.
Failure failure_of(const std::vector<document::Problem>& problems, const std::string& file,
                   std::vector<FieldProblem> more = {}) {
  const std::size_t count = problems.size() + more.size();
  Failure failure(
      Error{ErrorCode::InvalidRequest, fmt::format("{} cannot be used: {} thing{} wrong", file,
                                                   count, count == 1 ? " is" : "s are")});
  failure.code = "invalid_file";
  failure.exit = ExitCode::Usage;
  for (const document::Problem& problem : problems) {
    failure.fields.push_back({model::to_text(problem.place), "", problem.message});
  }
  for (FieldProblem& field : more) failure.fields.push_back(std::move(field));
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

Json body_of(const sitefile::Site& site, bool prune) {
  return {{"at", site.at.text()}, {"model", model::to_json(site.declaration)}, {"prune", prune}};
}

// What the model would say of the part of a bad file that can be understood, so that it need not be
// mended twice. Nothing where no controller answers: the file has to be mended in any case.
std::vector<FieldProblem> judge_rest(ApiClient& client, const sitefile::Site& site) {
  if (!site.is_partly_judgeable()) return {};
  // What is missing must not be taken for what should be removed.
  const Json body = body_of(site, false);
  Outcome<Json> answer =
      client.send({.path = "/v1/apply", .query = {{"dry_run", "true"}}, .body = &body});
  if (answer) return {};
  add_places(answer.error(), site.places);
  std::vector<FieldProblem> told;
  for (FieldProblem& field : answer.error().fields) {
    const auto path = model::Path::parse(field.path);
    if (!field.path.empty() && path && site.is_judgeable(*path)) told.push_back(std::move(field));
  }
  return told;
}

// All files as one edit: what the last of them declares must not prune what the first one does.
Outcome<Json> apply_together(Context& context, ApiClient& client, const ApplyOptions& options) {
  MUSTER_TRY_ASSIGN(sitefile::Values values, values_of(options));
  const std::string file = options.files.size() == 1
                               ? options.files.front()
                               : fmt::format("the {} files", options.files.size());
  auto at = model::Path::parse(options.at);
  if (!at) return usage("--at: {}", at.error().message);
  sitefile::Site site =
      sitefile::read_site(options.files, {.at = std::move(*at), .values = std::move(values)});
  if (!site.good()) {
    return fail(failure_of(site.problems, file, judge_rest(client, site)));
  }
  for (const std::string& name : site.unused_values) {
    context.console.warn(fmt::format("no placeholder is called '{}'\n", name));
  }
  Json body = body_of(site, options.prune);
  if (!options.edit.why.empty()) body["why"] = options.edit.why;
  Outcome<Json> answer =
      send_edit(context, client, {.path = "/v1/apply", .body = &body}, options.edit);
  if (!answer) add_places(answer.error(), site.places);
  return answer;
}

}  // namespace

Outcome<ExitCode> apply_files(Context& context, ApiClient& client, const ApplyOptions& options) {
  MUSTER_TRY_ASSIGN(const Json answer, apply_together(context, client, options));
  print_edit(context, answer);
  return json_bool(answer, "changed") && options.detailed_exitcode ? ExitCode::Changes
                                                                   : ExitCode::Ok;
}

Outcome<ExitCode> diff_files(Context& context, ApiClient& client, ApplyOptions options) {
  options.edit.dry_run = true;
  return apply_files(context, client, options);
}

namespace {

// The API answers with JSON that can be sent to /v1/apply as it is; a file has the model alone.
Outcome<std::string> json_file(const std::string& body) {
  MUSTER_TRY_ASSIGN(const Json answer, parse_json(body));
  std::vector<FieldError> errors;
  const model::Declaration declaration =
      model::declaration_from_json(json_at(answer, "model"), "/model", errors);
  if (!errors.empty()) {
    return fail(Error{ErrorCode::Internal,
                      fmt::format("the server's answer has no model that can be read: {}: {}",
                                  errors.front().pointer, errors.front().detail)});
  }
  return sitefile::write_json(declaration);
}

}  // namespace

Outcome<ExitCode> export_model(Context& context, ApiClient& client, const ExportOptions& options) {
  const Query query = {{"path", options.path}, {"format", options.format}};
  MUSTER_TRY_ASSIGN(const http::ClientResponse answer, client.fetch("/v1/export", query));
  std::string text = answer.body;
  if (options.format == "json") {
    MUSTER_TRY_ASSIGN(text, json_file(answer.body));
  }
  if (options.file.empty()) {
    context.console.out(text);
    return ExitCode::Ok;
  }
  // Beside it first, so that an export that fails does not spoil the last one.
  const std::string fresh = options.file + ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out || std::rename(fresh.c_str(), options.file.c_str()) != 0) {
    return fail(Error{ErrorCode::IoError, fmt::format("cannot write '{}'", options.file)});
  }
  context.console.say(fmt::format("written to {}\n", printable(options.file)));
  return ExitCode::Ok;
}

}  // namespace muster::cli
