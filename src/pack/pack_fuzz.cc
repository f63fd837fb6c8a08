#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "document/map_reader.h"
#include "model/schema.h"
#include "pack/decode.h"
#include "pack/pack_folder.h"
#include "plan/ruleset.h"

namespace {

// Lines of this kind part the input into the files of a pack.
constexpr std::string_view kMark = "\n====\n";

std::string_view take_part(std::string_view& rest) {
  const std::size_t end = rest.find(kMark);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + kMark.size());
  return part;
}

}  // namespace

// Any texts make a pack or are refused with reasons: pack.yaml, then ruleset.yaml, then
// templates, then types.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  muster::pack::PackFolder folder{"fuzz"};
  folder.manifest = muster::pack::PackFile{"pack.yaml", std::string(take_part(rest))};
  folder.ruleset = muster::pack::PackFile{"ruleset.yaml", std::string(take_part(rest))};
  folder.templates.push_back({"templates/t.yaml", std::string(take_part(rest))});
  while (!rest.empty()) {
    folder.types.push_back({"types/t.yaml", std::string(take_part(rest))});
  }
  muster::document::Problems problems;
  const muster::pack::DecodedPack decoded = muster::pack::decode_pack(folder, problems);
  for (const auto& problem : std::move(problems).take()) {
    MUSTER_CHECK(!problem.message.empty() && !problem.place.file.empty(), "a bare problem");
  }
  const muster::model::BuiltSchema built = muster::model::build_schema({decoded.definition});
  MUSTER_CHECK((built.schema == nullptr) == !built.errors.empty(), "a schema beside errors");
  if (built.schema == nullptr) return 0;
  for (const auto& [id, type] : built.schema->item_types()) {
    for (const auto& [name, property] : type->properties) {
      MUSTER_CHECK(property.type != nullptr, "a property without a type");
    }
    for (const auto& element : type->elements) {
      MUSTER_CHECK(element.type != nullptr, "an element without a type");
    }
  }
  const auto ruleset = muster::plan::build_ruleset(decoded.groups, *built.schema);
  MUSTER_CHECK(!ruleset.ruleset || ruleset.ruleset->order.size() == decoded.groups.size(),
               "a group without a place in the order");
  const auto templates = muster::plan::build_templates(decoded.templates, *built.schema, {});
  MUSTER_CHECK(templates.templates.has_value() == templates.errors.empty(),
               "templates beside errors");
  return 0;
}
