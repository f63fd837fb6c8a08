#include <fmt/format.h>

#include <iterator>

#include "document/reader.h"
#include "model/quoted.h"
#include "pack/decode.h"

namespace muster::pack {
namespace {

using document::Document;
using document::MapReader;
using document::Problems;

constexpr std::size_t kDepthMax = 20;
constexpr std::size_t kNeedsMax = 100;

std::vector<model::PackNeed> decode_needs(const Document& file, const document::Map* map,
                                          Problems& problems) {
  std::vector<model::PackNeed> needs;
  if (map == nullptr) return needs;
  if (map->size() > kNeedsMax) {
    problems.add(file.place(map->front().mark),
                 fmt::format("a pack needs at most {} others", kNeedsMax));
    return needs;
  }
  for (const document::Entry& entry : *map) {
    model::PackNeed need{entry.key, {}, file.place(entry.mark)};
    const std::string what = fmt::format("the version of pack {}", model::quoted(entry.key));
    need.version = read_text(file, entry.value, what, problems).value_or("");
    needs.push_back(std::move(need));
  }
  return needs;
}

void decode_manifest(const Document& file, DecodedPack& decoded, Problems& problems) {
  model::PackDefinition& pack = decoded.definition;
  MapReader reader(file, file.root, "a pack", problems);
  pack.place = reader.place();
  pack.name = reader.required_text("name");
  pack.version = reader.required_text("version");
  pack.version_place = reader.place("version");
  pack.description = reader.text("description").value_or("");
  pack.needs = decode_needs(file, reader.map("needs"), problems);
  pack.migrations = decode_migrations(file, reader.list("migrations"), problems);
  if (const document::Value* plugin = reader.value("plugin")) {
    MapReader fields(file, *plugin, "a plugin", problems);
    decoded.program_place = fields.place("program");
    decoded.program = fields.required_text("program");
    pack.has_plugin = true;
    fields.finish();
  }
  reader.finish();
}

}  // namespace

DecodedPack decode_pack(const PackFolder& folder, Problems& problems) {
  DecodedPack decoded;
  decoded.definition.place = {folder.place_of("pack.yaml"), 1, 1};
  const auto read = [&](const PackFile& file) {
    document::ReadDocument found =
        document::read_document(file.text, folder.place_of(file.name), {.depth_max = kDepthMax});
    if (!found.good()) decoded.readable = false;
    problems.add(std::move(found.problems));
    return std::move(found.document);
  };
  // The tree of a text with problems is in doubt; what it would seem to lack is not told.
  const auto in_doubt = [&](std::size_t before) { return problems.size() != before; };

  if (folder.manifest) {
    const std::size_t before = problems.size();
    const Document file = read(*folder.manifest);
    if (!in_doubt(before)) decode_manifest(file, decoded, problems);
  } else {
    decoded.readable = false;
  }
  for (const PackFile& types : folder.types) {
    const std::size_t before = problems.size();
    const Document file = read(types);
    if (!in_doubt(before)) decode_types(file, decoded.definition, problems);
  }
  for (const PackFile& templates : folder.templates) {
    const std::size_t before = problems.size();
    const Document file = read(templates);
    if (in_doubt(before)) continue;
    std::vector<plan::TaskTemplate> decoded_here =
        decode_templates(file, decoded.definition.name, problems);
    std::move(decoded_here.begin(), decoded_here.end(), std::back_inserter(decoded.templates));
  }
  if (folder.ruleset) {
    const std::size_t before = problems.size();
    const Document file = read(*folder.ruleset);
    if (!in_doubt(before)) decoded.groups = decode_ruleset(file, problems);
  }
  return decoded;
}

}  // namespace muster::pack
