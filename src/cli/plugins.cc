#include "cli/plugins.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/packs.h"
#include "cli/system.h"
#include "cli/text.h"
#include "document/reader.h"
#include "plugin/kit.h"
#include "plugin/kit_model.h"
#include "plugin/model_json.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

std::string_view word(plugin::KitVerdict verdict) {
  switch (verdict) {
    case plugin::KitVerdict::Passed:
      return "ok";
    case plugin::KitVerdict::Failed:
      return "FAILED";
    case plugin::KitVerdict::Skipped:
      return "skipped";
  }
  return "";
}

bool wants_document(const Context& context) {
  return context.options.format == Format::Json || context.options.format == Format::Yaml;
}

// The packs of the folder and what they need; problems are printed.
Outcome<pack::LoadedPacks> load_only(Context& context, const pack::PackOptions& options) {
  MUSTER_TRY_ASSIGN(const pack::LoadRequest request, pack::only_packs(options));
  pack::LoadedPacks loaded = pack::load_packs(request);
  if (loaded.good()) return loaded;
  for (const document::Problem& problem : loaded.problems) {
    context.console.warn(printable(to_text(problem)) + "\n");
  }
  Failure failure;
  failure.detail = fmt::format("the pack has {} problems", loaded.problems.size());
  failure.code = "invalid_pack";
  failure.hint = "see muster packs check";
  return fail(std::move(failure));
}

// The models in tests/ of the pack.
Outcome<std::vector<plugin::KitModelFile>> read_models(Context& context,
                                                       const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(fs::path(folder) / "tests", error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path extension = entry->path().extension();
    if (extension == ".yaml" || extension == ".yml") paths.push_back(entry->path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<plugin::KitModelFile> models;
  document::Problems problems;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    document::ReadDocument read = document::read_document(text, path);
    const bool good = read.good();
    problems.add(std::move(read.problems));
    if (!good) continue;
    models.push_back(
        {fs::path(path).filename(), plugin::read_declaration(read.document, problems)});
  }
  if (problems.empty()) return models;
  for (const document::Problem& problem : std::move(problems).take()) {
    context.console.warn(printable(to_text(problem)) + "\n");
  }
  Failure failure;
  failure.detail = "the models in tests/ have problems";
  failure.code = "invalid_pack";
  return fail(std::move(failure));
}

}  // namespace

Outcome<ExitCode> test_plugin(Context& context, const PluginTestOptions& options) {
  MUSTER_TRY_ASSIGN(const pack::LoadedPacks loaded, load_only(context, options.packs));
  plugin::KitRequest request;
  request.schema = loaded.schema;
  std::error_code error;
  for (const pack::LoadedPack& pack : loaded.packs) {
    if (fs::equivalent(pack.folder, options.packs.extra.front(), error)) request.pack = pack.name;
    if (pack.program.empty()) continue;
    request.programs.push_back({pack.name, pack.version, pack.program, pack.folder});
  }
  const bool has_plugin =
      std::any_of(request.programs.begin(), request.programs.end(),
                  [&](const plugin::Program& program) { return program.pack == request.pack; });
  if (!has_plugin) {
    Failure failure(
        Error{ErrorCode::NotFound, fmt::format("pack '{}' has no plugin", request.pack)});
    failure.hint = "its templates are checked by muster packs check";
    return fail(std::move(failure));
  }
  MUSTER_TRY_ASSIGN(request.models, read_models(context, options.packs.extra.front()));
  request.options.session.muster_version = kVersion;
  request.options.session.sdk = pack::python_sdk_folder().value_or("");
  request.options.session.limits.memory_bytes = std::uint64_t{options.memory_mib} << 20;
  request.options.session.log = [&context](log::Level, const std::string& pack,
                                           std::string_view text) {
    context.console.say(fmt::format("{}: {}\n", pack, printable(text)));
  };
  request.options.call_timeout = Duration::seconds(options.timeout_seconds);

  const bool document = wants_document(context);
  const auto results = plugin::run_kit(request, [&](const plugin::KitResult& result) {
    if (document) return;
    const std::string detail = result.detail.empty() ? "" : " (" + printable(result.detail) + ")";
    context.console.out(
        fmt::format("{:<8} {}{}\n", word(result.verdict), printable(result.name), detail));
  });
  const auto failed = std::count_if(results.begin(), results.end(), [](const auto& result) {
    return result.verdict == plugin::KitVerdict::Failed;
  });
  if (document) {
    Json list = Json::array();
    for (const plugin::KitResult& result : results) {
      list.push_back(
          {{"name", result.name}, {"result", word(result.verdict)}, {"detail", result.detail}});
    }
    print_document(context, {{"pack", request.pack}, {"failed", failed}, {"tests", list}});
  }
  context.console.say(fmt::format("{} tests, {} failed\n", results.size(), failed));
  return failed == 0 ? ExitCode::Ok : ExitCode::Error;
}

Outcome<ExitCode> print_plugin_types(Context& context, const pack::PackOptions& options) {
  MUSTER_TRY_ASSIGN(const pack::LoadedPacks loaded, load_only(context, options));
  context.console.out(dump_json(plugin::types_json(*loaded.schema), 1) + "\n");
  return ExitCode::Ok;
}

}  // namespace muster::cli
