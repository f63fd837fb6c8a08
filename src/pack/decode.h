#pragma once

#include <string>
#include <vector>

#include "document/map_reader.h"
#include "model/definition.h"
#include "pack/pack_folder.h"
#include "plan/ruleset.h"
#include "plan/template.h"

// From the texts of a pack to what they declare. No I/O; whether it can be used is decided by
// build_schema(), build_ruleset() and build_templates().

namespace muster::pack {

struct DecodedPack {
  model::PackDefinition definition;
  std::string program;  // of the plugin, as the pack names it; empty: there is none
  model::Place program_place;
  std::vector<plan::Group> groups;
  std::vector<plan::TaskTemplate> templates;
  bool readable = true;  // false: a file could not be read at all, so that more may be missing
};

// Reports everything in the pack's files that is not as docs/packs.md says.
DecodedPack decode_pack(const PackFolder& folder, document::Problems& problems);

// --- One kind of thing each; used by decode_pack(). ---

void decode_types(const document::Document& file, model::PackDefinition& pack,
                  document::Problems& problems);
// Checks of a value, each with its place.
void decode_value_checks(const document::Document& file, const document::List* list,
                         model::PropertyTypeDefinition& type, document::Problems& problems);
// Checks of the properties of one item, each with its place, and those across items.
void decode_item_checks(const document::Document& file, const document::List* list,
                        model::ItemTypeDefinition& type, document::Problems& problems);
std::vector<model::Migration> decode_migrations(const document::Document& file,
                                                const document::List* list,
                                                document::Problems& problems);
std::vector<plan::Group> decode_ruleset(const document::Document& file,
                                        document::Problems& problems);

// Templates of the pack called `pack`.
std::vector<plan::TaskTemplate> decode_templates(const document::Document& file,
                                                 const std::string& pack,
                                                 document::Problems& problems);

}  // namespace muster::pack
