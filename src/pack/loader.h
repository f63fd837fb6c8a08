#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/value.h"
#include "model/schema.h"
#include "plan/ruleset.h"
#include "plan/template.h"

namespace muster::pack {

// Which packs to load. A pack is there once: the first of a name in the order of these fields
// counts, but two of `packs` with one name are an error.
struct LoadRequest {
  std::vector<std::string> packs;  // folders, each a pack
  std::string core;                // the folder of the core pack, unless `packs` has it
  std::vector<std::string> pool;   // packs that are loaded only if a loaded one needs them
};

struct LoadedPack {
  std::string name;
  std::string version;
  std::string folder;
  std::string program;  // the whole path of the plugin; empty: there is none
  bool has_templates = false;
};

struct LoadedPacks {
  model::SchemaPtr schema;               // null if there is any problem
  std::optional<plan::Ruleset> ruleset;  // likewise
  plan::TaskTemplates templates;         // of all packs; none if there is any problem
  std::vector<LoadedPack> packs;         // core first, each after what it needs
  std::vector<document::Problem> problems;

  bool good() const { return problems.empty(); }
};

// Reads and checks packs, all together. Every problem of every file is told; only of a pack with a
// file that cannot be read at all, and of those that need it, what their types would be together is
// left for the next time. Blocks for as long as the files take.
LoadedPacks load_packs(const LoadRequest& request);

inline constexpr std::string_view kCorePack = "core";

}  // namespace muster::pack
